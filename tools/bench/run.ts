/** `npm run bench`: every figure as one JSON document; speeds are ratios against the bare limit of the same run. */
import { benchCommitToRegister } from "./commit-to-register.ts";
import { benchNoChangeCycle } from "./no-change-cycle.ts";
import { benchSimulator } from "./simulator.ts";
import { benchWorkspace } from "./workspace.ts";

const figures = {
  no_change_cycle: [await benchNoChangeCycle(1_000), await benchNoChangeCycle(10_000)],
  commit_to_register: await benchCommitToRegister(),
  simulator: await benchSimulator(),
  workspace_unchanged: await benchWorkspace(),
};
console.log(JSON.stringify(figures, null, 2));
