/** A workspace in a temporary folder with a host whose every edge can be looked at: for the tests of `workspace/`. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { systemClock } from "../cmd/system-clock.ts";
import type { Clock } from "../model/clock.ts";
import type { FileLock } from "../model/lock.ts";
import { type DeployOptions, type DeployOutcome, deployRun } from "../workspace/app/deploy-run.ts";
import type { Host } from "../workspace/app/host.ts";
import { openSession, type Session } from "../workspace/app/session.ts";
import { createJournalStore, type WriteFile } from "../workspace/journal/journal.ts";
import type { Journal } from "../workspace/journal/types.ts";
import type { HttpProbe, Prompt, WorkspaceNomad } from "../workspace/ports.ts";
import type { RunEvent, StepOutcome } from "../workspace/run/events.ts";
import { createProcessRunner } from "../workspace/run/process.ts";
import { tempFolder } from "./temp-folder.ts";

export interface WorkspaceOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly nomad?: WorkspaceNomad;
  readonly clock?: Clock;
  readonly http?: HttpProbe;
  /** Answers for questions in order; makes the run interactive. */
  readonly answers?: readonly string[];
  readonly assumeYes?: boolean;
  readonly signal?: AbortSignal;
  /** How the journal is written; default: without waiting for the disk. */
  readonly write?: WriteFile;
  /** Default: one that is always free, since a real one starts a process. */
  readonly lock?: FileLock;
  readonly onEvent?: (event: RunEvent) => void;
}

export interface TestWorkspace {
  readonly root: string;
  readonly events: RunEvent[];
  /** Questions that were asked. */
  readonly questions: string[];
  write(files: Readonly<Record<string, string>>): void;
  read(file: string): string;
  session(options?: WorkspaceOptions): Session;
  deploy(options?: Partial<DeployOptions> & WorkspaceOptions): Promise<DeployOutcome>;
  journal(): Journal;
  /** Outcomes of the last run by address, untracked steps left out. */
  outcomes(): Readonly<Record<string, StepOutcome>>;
  notices(): readonly string[];
  output(): readonly string[];
}

/** Makes a workspace from files, gone when the test ends; `nops.workspace.yml` is added when they do not hold one. */
export function testWorkspace(files: Readonly<Record<string, string>>, defaults: WorkspaceOptions = {}): TestWorkspace {
  const root = tempFolder();
  const events: RunEvent[] = [];
  const questions: string[] = [];
  const write = (more: Readonly<Record<string, string>>): void => {
    for (const [file, text] of Object.entries(more)) {
      mkdirSync(dirname(join(root, file)), { recursive: true });
      writeFileSync(join(root, file), text);
    }
  };
  write({ "nops.workspace.yml": "project: shop\n", ...files });
  const session = (own: WorkspaceOptions = {}): Session => {
    const options = { ...defaults, ...own };
    const store = createJournalStore(join(root, ".nops/deploy/state.yml"), options.write ?? writeFast);
    return openSession(createHost(root, options, events, questions), store);
  };
  return {
    root,
    events,
    questions,
    write,
    session,
    read: (file) => readFileSync(join(root, file), "utf8"),
    async deploy(options = {}) {
      events.length = 0;
      const { service, force, resume } = options;
      return deployRun(session(options), {
        ...(service === undefined ? {} : { service }),
        force: force ?? false,
        resume: resume ?? false,
        skipPreflight: options.skipPreflight ?? false,
        verbose: options.verbose ?? false,
      });
    },
    journal: () => createJournalStore(join(root, ".nops/deploy/state.yml")).load(),
    outcomes: () =>
      Object.fromEntries(events.flatMap((event) => (event.event === "step_finished" ? [[event.address, event.outcome]] : []))),
    notices: () => events.flatMap((event) => (event.event === "notice" ? [event.message] : [])),
    output: () => events.flatMap((event) => (event.event === "step_output" ? [event.line] : [])),
  };
}

const freeLock: FileLock = {
  acquire: (path) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, "");
    return { held: true, lock: { release() {} }, stalePid: undefined };
  },
  holder: () => undefined,
};

const writeFast: WriteFile = (path, text) => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
};

function createHost(root: string, options: WorkspaceOptions, events: RunEvent[], questions: string[]): Host {
  const clock = options.clock ?? systemClock;
  const assumeYes = options.assumeYes ?? options.answers === undefined;
  return {
    root,
    version: "test",
    env: { PATH: process.env.PATH, HOME: "/nowhere", ...options.env },
    facts: { uid: 1000, name: "test" },
    parallelism: 2,
    clock,
    lock: options.lock ?? freeLock,
    nomad: async () => {
      if (options.nomad === undefined) throw new Error("this test has no Nomad");
      return options.nomad;
    },
    jobFiles: {
      async prepare({ root: from, file, vars }) {
        const source = readFileSync(join(from, file), "utf8");
        const variables = Object.entries(vars)
          .map(([name, value]) => `${name} = ${JSON.stringify(value)}\n`)
          .join("");
        return { format: "hcl2", source, variables, submission: { source, format: "hcl2", variables } };
      },
    },
    http: options.http ?? { get: async () => ({ status: 200, body: "" }) },
    processes: createProcessRunner(clock),
    self: { file: process.execPath, args: ["nops.js"] },
    prompt: scripted(options.answers, questions, assumeYes),
    assumeYes,
    signal: options.signal ?? new AbortController().signal,
    sink: (event) => {
      events.push(event);
      options.onEvent?.(event);
    },
  };
}

function scripted(answers: readonly string[] | undefined, questions: string[], assumeYes: boolean): Prompt {
  const left = [...(answers ?? [])];
  return {
    interactive: answers !== undefined && !assumeYes,
    async confirm(message) {
      questions.push(message);
      return left.shift() === "yes";
    },
    async select(message, choices) {
      questions.push(message);
      const label = left.shift();
      return choices.find((choice) => choice.label === label)?.value;
    },
  };
}
