import { describe, expect, it } from "vitest";
import { answerError, type ExchangeFailure, failureError, kindOfAnswer } from "./errors.ts";

const read = { what: "read job default/web", effect: "read" } as const;
const write = { what: "register job web", effect: "write" } as const;

describe("kind of an answer", () => {
  it.each([
    [500, "Enforcing job modify index 0: job already exists", "conflict", "conflict"],
    [500, "rpc error: rpc error: Enforcing job modify index 4: job does not exist", "conflict", "conflict"],
    [409, '{"Path":"x"}', "conflict", "conflict"],
    [403, "Permission denied", "not_permitted", "not_permitted"],
    [401, "Unauthorized", "not_permitted", "not_permitted"],
    [500, "ACL token expired", "not_permitted", "not_permitted"],
    [500, "rpc error: Permission denied", "not_permitted", "not_permitted"],
    [403, "Job registration, dispatch, and scale are disabled by the scheduler configuration", "refused", "refused"],
    [404, "job not found", "not_found", "not_found"],
    [500, "deployment not found", "not_found", "not_found"],
    [500, "parameterized job not found", "not_found", "not_found"],
    [500, 'rpc error: job "web" not found', "not_found", "not_found"],
    [429, "Your IP is issuing too many concurrent connections", "overloaded", "overloaded"],
    [500, "No cluster leader", "overloaded", "overloaded"],
    [500, "Not ready to serve consistent reads", "overloaded", "overloaded"],
    [500, "No path to region", "overloaded", "overloaded"],
    [500, "rpc error: failed to get conn: dial tcp 127.0.0.1:4647: connect: connection refused", "overloaded", "overloaded"],
    [500, "rpc error: EOF", "overloaded", "unknown_outcome"],
    [500, "rpc error: leadership lost while committing log", "overloaded", "unknown_outcome"],
    [500, "leadership transfer in progress", "overloaded", "unknown_outcome"],
    [500, "rpc error: read tcp 10.0.0.1:1->10.0.0.2:4647: i/o timeout", "overloaded", "unknown_outcome"],
    [500, "timed out enqueuing operation", "overloaded", "unknown_outcome"],
    [502, "bad gateway", "overloaded", "unknown_outcome"],
    [503, "", "overloaded", "unknown_outcome"],
    [504, "", "overloaded", "unknown_outcome"],
    [500, "1 error occurred:\n\t* Task group web validation failed: timeout must be positive", "refused", "refused"],
    [500, "rpc error: 1 error occurred:\n\t* check timeout is missing", "refused", "refused"],
    [500, 'rpc error: Specified job "daily-timeout" is stopped', "refused", "refused"],
    [500, 'cannot update job from type "service" to "batch"', "refused", "refused"],
    [500, 'job "x" is in nonexistent namespace "y"', "refused", "refused"],
    [400, "Failed to parse job: input.hcl:1", "refused", "refused"],
    [405, "Invalid method", "refused", "refused"],
    [413, "", "refused", "refused"],
    [501, "Nomad Enterprise only endpoint", "refused", "refused"],
    [307, "", "refused", "refused"],
    [520, "", "refused", "unknown_outcome"],
  ])("%i %s", (status, text, ofRead, ofWrite) => {
    expect([kindOfAnswer(status, text, "read"), kindOfAnswer(status, text, "write")]).toEqual([ofRead, ofWrite]);
  });
});

describe("error of an answer", () => {
  it("holds the call in words and Nomad's own text, trimmed and bounded", () => {
    const error = answerError(write, { status: 500, text: `  ${"x".repeat(5_000)}\n`, retryAfterMs: undefined });
    expect(error.message).toBe(`cannot register job web: ${"x".repeat(4_000)}… (5000 characters)`);
    expect(error).toMatchObject({ kind: "refused", status: 500, code: "nomad_refused" });
  });

  it("names only the origin of a redirect", () => {
    const location = "https://user:pw@evil.example/steal?token=canary";
    const error = answerError(read, { status: 302, text: "", retryAfterMs: undefined, location });
    expect(error.message).toBe("cannot read job default/web: redirected to https://evil.example; redirects are never followed");
  });

  it("carries how long Nomad asked to wait", () => {
    expect(answerError(read, { status: 429, text: "", retryAfterMs: 1_500 })).toMatchObject({
      kind: "overloaded",
      retryAfterMs: 1_500,
    });
  });
});

describe("error of a call without a whole answer", () => {
  const there = "http://nomad.example:4646";
  const failure = (over: Partial<ExchangeFailure>): ExchangeFailure => ({
    reason: "network",
    sent: true,
    code: undefined,
    status: undefined,
    ...over,
  });

  it.each([
    ["nothing left", failure({ sent: false, code: "ECONNREFUSED" }), "not_sent", "not_sent"],
    ["no connection in time", failure({ sent: false, reason: "deadline" }), "not_sent", "not_sent"],
    ["the connection broke", failure({ code: "ECONNRESET" }), "overloaded", "unknown_outcome"],
    ["no answer in time", failure({ reason: "deadline" }), "overloaded", "unknown_outcome"],
    ["a success that cannot be read", failure({ reason: "unreadable", status: 200 }), "overloaded", "unknown_outcome"],
    ["too much of an answer", failure({ reason: "too_large", status: 200 }), "refused", "unknown_outcome"],
  ])("%s", (_, broken, ofRead, ofWrite) => {
    expect([failureError(read, broken, there).kind, failureError(write, broken, there).kind]).toEqual([ofRead, ofWrite]);
  });

  it("names the address", () => {
    expect(failureError(read, failure({ sent: false, code: "ECONNREFUSED" }), there).message).toBe(
      "cannot read job default/web: no connection to Nomad at http://nomad.example:4646 (ECONNREFUSED)",
    );
    expect(failureError(read, failure({ reason: "deadline" }), there).message).toContain(there);
  });

  it("says when the outcome is unknown", () => {
    expect(failureError(write, failure({ code: "ECONNRESET" }), there).message).toBe(
      "cannot register job web: the connection to Nomad at http://nomad.example:4646 broke before the whole answer came (ECONNRESET); whether it took effect is unknown",
    );
  });
});
