import { afterAll, describe, expect, it } from "vitest";
import { createSimulator } from "./server.ts";

const simulator = createSimulator();
const filter = (expression: string) => encodeURIComponent(expression);

/** What a real server (2.0.6) answers to the same. */
const answered: readonly (readonly [string, string, unknown, number, string])[] = [
  ["GET", "/v1/jobs?per_page=99999999999", undefined, 400, "Expect a number for `per_page` query string parameter"],
  ["GET", "/v1/vars?wait=5", undefined, 400, "Invalid wait timefailed to parse parameters"],
  ["GET", "/v1/evaluations?region=mars", undefined, 500, "No path to region"],
  [
    "GET",
    "/v1/evaluations?prefix=abc",
    undefined,
    500,
    "eval lookup failed: index error: Input (without hyphens) must be even length",
  ],
  ["GET", "/v1/deployments?prefix=zz", undefined, 500, "index error: Invalid UUID: encoding/hex: invalid byte: U+007A 'z'"],
  [
    "GET",
    `/v1/evaluations?job=web&filter=${filter("Type != x")}`,
    undefined,
    400,
    "Filter expression cannot be used with other filter parameters",
  ],
  [
    "GET",
    `/v1/nodes?filter=${filter("StatusUpdatedAt matches `x`")}`,
    undefined,
    400,
    "failed to read result page: value of type int64 is not convertible to []byte",
  ],
  [
    "GET",
    `/v1/node/pools?filter=${filter("NodeIdentityTTL not contains raw_exec")}`,
    undefined,
    400,
    'failed to read result page: error getting match value in expression: strconv.ParseInt: parsing "raw_exec": invalid syntax',
  ],
  ["GET", "/v1/job/web/submission", undefined, 400, "Unable to parse job submission version parameter"],
  ["GET", "/v1/node/pool/default/jobs?prefix=a", undefined, 400, "prefix argument not allowed"],
  ["GET", "/v1/acl/role", undefined, 405, "Invalid method"],
  ["PUT", "/v1/deployment/fail/nothing", undefined, 500, "deployment lookup failed: index error: UUID must be 36 characters"],
  ["PUT", "/v1/deployment/unblock/nothing", {}, 400, "DeploymentID must be specified"],
  ["DELETE", "/v1/evaluations", { EvalIDs: ["x"] }, 500, "eval broker is enabled; eval broker must be paused to delete evals"],
  ["PUT", "/v1/namespace", { Name: "new", Quota: "q" }, 500, 'namespace "new" using non-existent quota "q"'],
  ["DELETE", "/v1/node/pool/all", undefined, 500, 'deleting node pool "all" is not allowed'],
  ["PUT", "/v1/node/pools", { Name: "p", SchedulerConfiguration: {} }, 500, 'Feature "Node Pools Governance" is unlicensed'],
  [
    "PUT",
    "/v1/var/a?lock-acquire",
    { Lock: { LockDelay: "-1s" } },
    400,
    "RPC Error:: 400,1 error occurred:\n\t* Lock delay and TTL must be positive\n\n",
  ],
];

describe("refusals", () => {
  afterAll(() => simulator.close());

  it.each(answered)("%s %s %j: %i", async (method, path, body, status, text) => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await simulator.request({ method, path, ...sent });
    expect([answer.status, answer.body]).toEqual([status, text]);
  });
});
