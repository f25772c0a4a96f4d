import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { testWorkspace } from "../../testkit/workspace.ts";
import { fakeNomad } from "../../testkit/workspace-nomad.ts";
import { pipeline, ran, shellStep, twoServices } from "../../testkit/workspace-steps.ts";
import { createSnapshot, removeSnapshot, restoreSnapshot, rollbackSnapshot } from "./snapshot.ts";
import { currentSnapshot, listSnapshots } from "./snapshot-store.ts";
import { restoredBanner } from "./status.ts";

const stateFile = ".nops/deploy/state.yml";
const backup = ".nops/snapshots/.pre-restore-backup";

describe("snapshots", () => {
  it("case 106: restore brings the journal back byte for byte and keeps the machine's own keys", async () => {
    const workspace = testWorkspace({
      ...twoServices,
      "workspace/local.yml": "vars: {port: 1, color: red}\n",
      "workspace/snapshot.yml": "local_yml: {preserve_keys: [vars.port]}\n",
    });
    await workspace.deploy();
    const stateA = workspace.read(stateFile);
    await createSnapshot(workspace.session(), "a");
    workspace.write({ "workspace/local.yml": "vars: {port: 2, color: blue}\n" });
    await workspace.deploy();
    const stateB = workspace.read(stateFile);
    expect(stateB).not.toBe(stateA);
    await restoreSnapshot(workspace.session(), "a");
    expect(workspace.read(stateFile)).toBe(stateA);
    expect(workspace.read(`${backup}/state.yml`)).toBe(stateB);
    expect(workspace.session().workspace.vars).toEqual({ port: 2, color: "red" });
    await rollbackSnapshot(workspace.session());
    expect(workspace.read(stateFile)).toBe(stateB);
    expect(workspace.session().workspace.vars).toEqual({ port: 2, color: "blue" });
    await expect(rollbackSnapshot(workspace.session())).rejects.toMatchObject({ code: "nothing_to_roll_back" });
  });
  it("case 107: a restored journal that mentions a removed service is no obstacle", async () => {
    const workspace = testWorkspace({ ...twoServices, "workspace/services/old/deploy.yml": pipeline("p", shellStep("old")) });
    await workspace.deploy();
    await createSnapshot(workspace.session(), "a");
    const renamed = testWorkspace(twoServices);
    renamed.write({ [stateFile]: workspace.read(stateFile) });
    await renamed.deploy();
    expect(ran(renamed)).toEqual(["smoke"]);
    expect(renamed.journal().services.old).toBeUndefined();
  });
  it("say that the journal was restored until the next full deploy", async () => {
    const workspace = testWorkspace(twoServices);
    await workspace.deploy();
    await createSnapshot(workspace.session(), "a");
    await restoreSnapshot(workspace.session(), "a");
    expect(currentSnapshot(workspace.root)?.name).toBe("a");
    expect(restoredBanner(workspace.session(), workspace.journal())).toEqual(["! journal restored from a"]);
    await workspace.deploy({ force: true });
    expect(restoredBanner(workspace.session(), workspace.journal())).toEqual([]);
  });
  it("hold the job specs for information, list, and go", async () => {
    const nomad = fakeNomad();
    const workspace = testWorkspace({ "workspace/services/a/job.nomad.hcl": JSON.stringify({ ID: "a" }) }, { nomad });
    await workspace.deploy();
    const manifest = await createSnapshot(workspace.session(), "one");
    expect(Object.keys(manifest.files).sort()).toEqual(["nomad/jobs/default_a.json", "state.yml"]);
    expect(listSnapshots(workspace.root).map(({ name }) => name)).toEqual(["one"]);
    await expect(createSnapshot(workspace.session(), "one")).rejects.toMatchObject({ code: "snapshot_exists" });
    await removeSnapshot(workspace.session(), "one");
    expect(listSnapshots(workspace.root)).toEqual([]);
    expect(readdirSync(join(workspace.root, ".nops/snapshots"))).toEqual(["snapshot.lock"]);
  });
  it("are not restored when damaged, and the journal stays", async () => {
    const workspace = testWorkspace(twoServices);
    await workspace.deploy();
    await createSnapshot(workspace.session(), "a");
    writeFileSync(join(workspace.root, ".nops/snapshots/a/state.yml"), "changed");
    const before = workspace.read(stateFile);
    await expect(restoreSnapshot(workspace.session(), "a")).rejects.toThrow("damaged: state.yml");
    expect(workspace.read(stateFile)).toBe(before);
    expect(existsSync(join(workspace.root, backup))).toBe(false);
  });
  it("honour the policies on other services and another configuration", async () => {
    const workspace = testWorkspace(twoServices);
    await workspace.deploy();
    await createSnapshot(workspace.session(), "a");
    workspace.write({
      "workspace/services/new/service.yml": "type: tool\n",
      "workspace/snapshot.yml": "services_mismatch: block\n",
    });
    await expect(restoreSnapshot(workspace.session(), "a")).rejects.toMatchObject({ code: "services_mismatch" });
    workspace.write({
      "workspace/snapshot.yml": "services_mismatch: ignore\nrequire_matching_config: true\n",
      "workspace/local.yml": "vars: {x: 1}\n",
    });
    await expect(restoreSnapshot(workspace.session(), "a")).rejects.toMatchObject({ code: "config_mismatch" });
  });
  it("run the project's own restore workflow", async () => {
    const workspace = testWorkspace({
      ...twoServices,
      "workspace/snapshot.yml": `restore:\n  ${pipeline("p", shellStep("restored")).replaceAll("\n", "\n  ")}`,
    });
    await workspace.deploy();
    await createSnapshot(workspace.session(), "a");
    ran(workspace);
    await restoreSnapshot(workspace.session(), "a");
    expect(ran(workspace)).toEqual(["restored"]);
  });
  it.each(["../x", "", "current", "a/b", ".hidden"])("refuse the name %j", async (name) => {
    await expect(createSnapshot(testWorkspace({}).session(), name)).rejects.toMatchObject({ code: "bad_snapshot_name" });
  });
});
