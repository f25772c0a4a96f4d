import { beforeEach, describe, expect, it, vi } from "vitest";

vi.stubGlobal("sessionStorage", { getItem: () => null, setItem: () => undefined });

const { loginPath, noticeText, peopleLogIn, methods } = await import("./session.ts");

beforeEach(() => {
  methods.value = [];
});

describe("the login page", () => {
  it.each([
    ["?notice=session_ended", "Your session has ended."],
    ["?notice=logged_out&next=/jobs", "You are logged out."],
    ["", undefined],
    ["?notice=Call+0900-EVIL+to+unlock", undefined],
    ["?error=Your+account+is+locked", undefined],
    ["?notice=constructor", undefined],
    ["?notice=<b>x</b>", undefined],
  ])("with %j says %j and nothing that a link could make it say (S17)", (query, expected) => {
    expect(noticeText(query)).toBe(expected);
  });

  it.each([
    ["/", undefined, "/login"],
    ["/jobs/apps/web", undefined, "/login?next=%2Fjobs%2Fapps%2Fweb"],
    ["/events", "session_ended", "/login?next=%2Fevents&notice=session_ended"],
  ])("comes back to %j", (from, notice, expected) => {
    expect(loginPath(from, notice)).toBe(expected);
  });

  it("is there for people only where there is more than tokens", () => {
    expect(peopleLogIn()).toBe(false);
    methods.value = ["token"];
    expect(peopleLogIn()).toBe(false);
    methods.value = ["token", "local"];
    expect(peopleLogIn()).toBe(true);
  });
});
