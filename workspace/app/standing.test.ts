import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type TestWorkspace, testWorkspace, type WorkspaceOptions } from "../../testkit/workspace.ts";
import { failure, pipeline, shellStep, twoServices, withServices } from "../../testkit/workspace-steps.ts";
import { deployStanding, standingLine } from "./standing.ts";

const heldBy = (pid: number | undefined): Pick<WorkspaceOptions, "lock"> => ({
  lock: { acquire: () => ({ held: true, lock: { release() {} }, stalePid: undefined }), holder: () => pid },
});

const standing = (workspace: TestWorkspace, pid?: number) => deployStanding(workspace.session(heldBy(pid)));

const gate = "      - {name: gate, type: shell, cmd: 'test -e open'}\n";
const gated = {
  "workspace/deploy.yml": withServices(pipeline("verify", shellStep("smoke"))),
  "workspace/services/a/deploy.yml": pipeline("go", shellStep("a1"), gate, shellStep("a3")),
  "workspace/services/b/deploy.yml": pipeline("go", shellStep("b1")),
};

describe("deployStanding", () => {
  it("is never, complete, outdated and complete again", async () => {
    const workspace = testWorkspace(twoServices);
    expect(standing(workspace)).toMatchObject({ status: "never", run: "nops deploy run" });
    await workspace.deploy();
    const complete = standing(workspace);
    expect(complete).toMatchObject({ status: "complete", failed_steps: [], next_step: null, run: null });
    expect(standingLine(complete)).toBe(`deploy: complete ${workspace.journal().project.deployed_at}`);
    workspace.write({ "workspace/services/b/service.yml": "type: tool\n" });
    expect(standing(workspace)).toMatchObject({ status: "outdated", run: "nops deploy run" });
    await workspace.deploy();
    expect(standing(workspace).status).toBe("complete");
  });

  it("names every step that failed, and the command that goes on", async () => {
    const workspace = testWorkspace(gated);
    await failure(workspace.deploy());
    const failed = standing(workspace);
    expect(failed).toMatchObject({ status: "failed", failed_steps: ["a/go/gate"], service: null });
    expect(standingLine(failed)).toBe(`! deploy: failed ${failed.finished_at} in a/go/gate / Run: nops deploy run --resume`);
  });

  it("tells of the last run alone", async () => {
    const checked = "      - {name: checked, type: shell, cmd: 'true', check: {type: shell, cmd: 'test -e open'}}\n";
    const workspace = testWorkspace({
      "workspace/deploy.yml": withServices(pipeline("verify", "      - {name: never, type: shell, cmd: 'false'}\n")),
      "workspace/services/a/deploy.yml": pipeline("go", checked),
      open: "",
    });
    await failure(workspace.deploy());
    expect(standing(workspace).failed_steps).toEqual(["verify/never"]);
    rmSync(join(workspace.root, "open"));
    await failure(workspace.deploy({ resume: true }));
    expect(standing(workspace).failed_steps).toEqual(["a/go/checked"]);
  });

  it("does not count a failure that was let pass", async () => {
    const step = "      - {name: gate, type: shell, cmd: 'false', continue_on_error: true}\n";
    const workspace = testWorkspace({ "workspace/deploy.yml": pipeline("p", step) });
    await workspace.deploy();
    expect(standing(workspace)).toMatchObject({ status: "complete", failed_steps: [] });
  });

  it("of a run of one service says which", async () => {
    const workspace = testWorkspace(gated);
    workspace.write({ open: "" });
    await workspace.deploy();
    workspace.write({
      "workspace/services/a/deploy.yml": pipeline("go", shellStep("a1"), "      - {name: b, type: shell, cmd: 'false'}\n"),
    });
    await failure(workspace.deploy({ service: "a" }));
    expect(standing(workspace)).toMatchObject({
      status: "failed",
      service: "a",
      failed_steps: ["a/go/b"],
      run: "nops deploy run --service a --resume",
    });
  });

  it("while it runs names process and step, also in a second run; without the process it was interrupted there", async () => {
    const seen: string[] = [];
    const workspace: TestWorkspace = testWorkspace(twoServices, {
      onEvent: (event) => {
        if (event.event !== "step_started") return;
        const running = standing(workspace, 4711);
        const interrupted = standing(workspace);
        expect(running).toMatchObject({ status: "running", pid: 4711, next_step: event.address, run: null });
        expect(interrupted).toMatchObject({ status: "interrupted", next_step: event.address, run: "nops deploy run --resume" });
        seen.push(standingLine(running).replace(/\S+Z/, "T"), standingLine(interrupted).replace(/\S+Z/, "T"));
      },
    });
    await workspace.deploy();
    expect(seen).toHaveLength(8);
    expect(seen.slice(2, 4)).toEqual([
      "deploy: running since T (pid 4711), at a/go/a2",
      "! deploy: interrupted; it began T and came to a/go/a2 / Run: nops deploy run --resume",
    ]);
    seen.length = 0;
    workspace.write({ "workspace/services/b/deploy.yml": pipeline("go", shellStep("b2")) });
    await workspace.deploy();
    expect(seen).toContain("deploy: running since T (pid 4711), at b/go/b2");
  });
});
