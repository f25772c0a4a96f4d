/**
 * How long `nops deploy run` takes when none of 500 steps changed, against the time of starting the program
 * (`nops --version`), in turns of the same run. The bound is twice; more is a failure.
 */
import { fileURLToPath } from "node:url";
import { type WorkspaceFolder, workspaceFolder } from "../../testkit/workspace-process.ts";

const steps = 500;
const rounds = 15;
const bound = 2;

export interface WorkspaceFigure {
  /** Median milliseconds of `nops --version`. */
  readonly startMs: number;
  /** Median milliseconds of a run with nothing to do. */
  readonly unchangedMs: number;
  readonly ratio: number;
  readonly bound: number;
}

/** Measures with the built program in `dist/`. */
export async function benchWorkspace(): Promise<WorkspaceFigure> {
  const folder = workspaceFolder({ "nops.workspace.yml": "project: bench\n", "workspace/deploy.yml": pipeline() });
  try {
    const first = await folder.run(["deploy", "run", "-y"]);
    if (first.code !== 0) throw new Error(`the first run failed: ${first.stderr}`);
    const start: number[] = [];
    const unchanged: number[] = [];
    for (let round = 0; round < rounds; round++) {
      start.push(await time(folder, ["--version"], "."));
      unchanged.push(await time(folder, ["deploy", "run", "-y"], "up-to-date"));
    }
    const [startMs, unchangedMs] = [median(start), median(unchanged)];
    return { startMs, unchangedMs, ratio: unchangedMs / startMs, bound };
  } finally {
    folder.remove();
  }
}

function pipeline(): string {
  const lines = Array.from(
    { length: steps },
    (_, index) => `      - {name: step-${index}, type: builtin, cmd: message, with: {level: info, text: "${index}"}}\n`,
  );
  return `phases:\n  - name: all\n    steps:\n${lines.join("")}`;
}

async function time(folder: WorkspaceFolder, args: readonly string[], expected: string): Promise<number> {
  const began = performance.now();
  const { code, stdout, stderr } = await folder.run(args);
  const took = performance.now() - began;
  if (code !== 0 || !stdout.includes(expected)) throw new Error(`nops ${args.join(" ")}: ${code} ${stdout}${stderr}`);
  return took;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const figure = await benchWorkspace();
  console.log(
    `workspace: ${steps} unchanged steps in ${figure.unchangedMs.toFixed(0)} ms, start of the program ${figure.startMs.toFixed(0)} ms, ratio ${figure.ratio.toFixed(2)} (bound ${figure.bound})`,
  );
  if (figure.ratio >= bound) process.exitCode = 1;
}
