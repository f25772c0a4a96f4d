import { describe, expect, it } from "vitest";
import { createLog } from "./log.ts";

function capture(format: "json" | "text", level: "debug" | "info" = "info") {
  const lines: string[] = [];
  const log = createLog({
    level,
    format,
    write: (line) => lines.push(line),
    redact: (text) => text.replaceAll("s3cret", "<redacted>"),
  });
  return { lines, log };
}

describe("log", () => {
  it("writes one JSON object a line with message, level, time and fields", () => {
    const { lines, log } = capture("json");
    log.child({ job: "web" }).warn("hook is late", { phase: "pre" });
    const entry = JSON.parse(lines[0] ?? "") as Record<string, unknown>;
    expect(entry).toMatchObject({ level: "warn", msg: "hook is late", job: "web", phase: "pre" });
    expect(entry["time"]).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
    expect(lines[0]?.endsWith("\n")).toBe(true);
  });

  it("passes every line through the redactor, error causes included (S03)", () => {
    for (const format of ["json", "text"] as const) {
      const { lines, log } = capture(format);
      log.error("failed", { error: new Error("token s3cret", { cause: new Error("s3cret") }), url: "https://u:s3cret@h" });
      expect(lines.join("")).not.toContain("s3cret");
    }
  });

  it("drops levels below the configured one", () => {
    const { lines, log } = capture("json");
    log.debug("details");
    expect(lines).toEqual([]);
  });

  it("writes no property of an error but message, code, cause and stack", () => {
    const { lines, log } = capture("json");
    log.error("failed", {
      error: Object.assign(new Error("refused"), { code: "ECONN", options: { headers: { authorization: "Bearer x" } } }),
    });
    expect(lines[0]).toContain("ECONN");
    expect(lines[0]).not.toContain("Bearer");
  });

  it("writes readable text when asked to", () => {
    const { lines, log } = capture("text");
    log.info("listening", { address: "http://127.0.0.1:8080" });
    expect(lines[0]).toMatch(/^\S+ INFO listening address=http:\/\/127\.0\.0\.1:8080\n$/);
  });
});
