/**
 * Builds that are broken on purpose, one rule each: the proof that the checks can fail. Nothing of this is in the product; each
 * stands between the operator and its ports, or in the database that a history begins with.
 */
import Database from "better-sqlite3";
import type { NomadPort, StorePort } from "../../controllers/ports.ts";
import type { Deployment, HookRun } from "../../model/deployment.ts";
import { NomadError } from "../../model/errors.ts";
import type { JobFacts } from "../../model/facts.ts";
import { jobKey, splitJobKey } from "../../model/job-key.ts";
import type { Invariant } from "./violation.ts";
import type { Breakage, World } from "./world.ts";

export interface BrokenBuild extends Breakage {
  readonly name: string;
  /** The rules of which one must be found broken. */
  readonly breaks: readonly Invariant[];
  /** A seed from which it is found soon. */
  readonly seed: number;
}

function withStore(change: (store: StorePort, world: World) => Partial<StorePort>): NonNullable<Breakage["ports"]> {
  return (deps, world) => ({ ...deps, store: { ...deps.store, ...change(deps.store, world) } });
}

function withNomad(change: (nomad: NomadPort, world: World) => Partial<NomadPort>): NonNullable<Breakage["ports"]> {
  return (deps, world) => ({ ...deps, nomad: { ...deps.nomad, ...change(deps.nomad, world) } });
}

function withFacts(change: (facts: JobFacts) => JobFacts): NonNullable<Breakage["ports"]> {
  return withStore((store) => ({ jobFacts: async (key) => change(await store.jobFacts(key)) }));
}

function withSql(sql: string): NonNullable<Breakage["database"]> {
  return (contents) => {
    const database = new Database(Buffer.from(contents));
    database.exec(sql);
    const changed = database.serialize();
    database.close();
    return changed;
  };
}

const never = new Promise<never>(() => undefined);

const ofDetection: readonly BrokenBuild[] = [
  {
    name: "makes a second deployment beside a waiting one",
    breaks: ["I1"],
    seed: 1,
    database: withSql("DROP INDEX deployments_one_active"),
    ports: withFacts((facts) => ({ ...facts, active: undefined })),
  },
  {
    name: "lowers the index that was seen at detection",
    breaks: ["I3"],
    seed: 1,
    ports: withStore((store) => ({
      create: (input) => store.create({ ...input, baseIndex: Math.max(0, input.baseIndex - 1) }),
    })),
  },
  {
    name: "starts without asking anybody",
    breaks: ["I5"],
    seed: 1,
    ports: withStore((store) => ({
      create: (input) => store.create({ ...input, state: input.state === "failed" ? "failed" : "detected" }),
      move: (id, version, move) =>
        store.move(id, version, move.trigger === "need_approval" ? { ...move, trigger: "start" } : move),
    })),
  },
  {
    name: "counts one approval for two",
    breaks: ["I5"],
    seed: 3,
    ports: withStore((store) => ({ approve: (input) => store.approve({ ...input, required: 1 }) })),
  },
  {
    name: "approves whatever waits by now",
    breaks: ["I4", "I5"],
    seed: 1,
    operator: (operator, world) => ({
      ...operator,
      approve: (id, hash, comment, actor) => {
        const seen = world.shadow.row(id);
        const now = seen === undefined ? undefined : world.shadow.active(jobKey(seen.namespace, seen.jobId));
        return operator.approve(now?.id ?? id, now?.specHash ?? hash, comment, actor);
      },
    }),
  },
  {
    name: "ignores pauses",
    breaks: ["I8"],
    seed: 3,
    database: withSql(
      "CREATE TRIGGER forget_one AFTER INSERT ON job_pauses BEGIN UPDATE job_pauses SET resumed_by = 'x', resumed_at = NEW.paused_at WHERE id = NEW.id; END; CREATE TRIGGER forget_all AFTER INSERT ON nops_pauses BEGIN UPDATE nops_pauses SET resumed_by = 'x', resumed_at = NEW.paused_at WHERE id = NEW.id; END",
    ),
  },
  {
    name: "ignores what blocks",
    breaks: ["I9"],
    seed: 1,
    ports: withFacts((facts) => ({
      ...facts,
      latest:
        facts.latest === undefined
          ? undefined
          : { ...facts.latest, retriedAt: facts.latest.retriedAt ?? "2030-01-01T00:00:00.000Z" },
    })),
  },
];

const ofTheStore: readonly BrokenBuild[] = [
  {
    name: "lets a failed deployment go on",
    breaks: ["I6"],
    seed: 1,
    database: withSql(
      "DROP TRIGGER deployments_end_is_final; CREATE TRIGGER undo AFTER UPDATE OF state ON deployments WHEN NEW.state = 'failed' AND OLD.state = 'applying' BEGIN UPDATE deployments SET state = 'applying' WHERE id = NEW.id; END",
    ),
  },
  {
    name: "writes a state without its event",
    breaks: ["I7"],
    seed: 1,
    database: withSql(
      "DROP TRIGGER events_only_retention_deletes; CREATE TRIGGER lose AFTER INSERT ON events WHEN NEW.to_state = 'applying' AND NEW.from_state <> 'applying' BEGIN DELETE FROM events WHERE id = NEW.id; END",
    ),
  },
  {
    name: "supersedes a running deployment",
    breaks: ["I15"],
    seed: 1,
    database: withSql(
      "CREATE TRIGGER end AFTER INSERT ON events WHEN NEW.to_state = 'applying' AND NEW.from_state <> 'applying' BEGIN INSERT INTO events (ts, kind, namespace, job_id, deployment_id, from_state, to_state, actor, message, prev_hash, hash) VALUES (NEW.ts, 'state', NEW.namespace, NEW.job_id, NEW.deployment_id, 'applying', 'superseded', 'nops', '', NEW.hash, 'x'); END",
    ),
  },
  {
    name: "says that an approval is stored and loses it",
    breaks: ["I14"],
    seed: 3,
    ports: withStore((store) => ({
      approve: async (input) => ({ deployment: (await store.deployment(input.id)) as Deployment, approvals: 1 }),
    })),
  },
  {
    name: "comes back with an older database",
    breaks: ["I16"],
    seed: 3,
    reopen: (_contents, world) => world.firstContents,
  },
];

/** The run is sent without a word in the store; only its outcome is written. */
function withoutIntent(store: StorePort): Partial<StorePort> {
  const runs = new Map<string, HookRun>();
  const remember = (run: HookRun): HookRun => {
    runs.set(run.id, run);
    return run;
  };
  return {
    hookRuns: async (id) => (await store.hookRuns(id)).map(remember),
    ensureHookRun: async (id, hook) => remember(await store.ensureHookRun(id, hook)),
    updateHookRun: async (id, from, change) => {
      const run = runs.get(id);
      if (run === undefined || from !== "dispatching" || change.state !== "running") return store.updateHookRun(id, from, change);
      return { ...run, state: "running" };
    },
  };
}

const ofHooks: readonly BrokenBuild[] = [
  {
    name: "dispatches again when the answer was lost",
    breaks: ["I2"],
    seed: 21,
    ports: withNomad((nomad, world) => ({
      dispatch: async (parent, token, meta) => {
        try {
          return await nomad.dispatch(parent, token, meta);
        } catch (error) {
          if (!(error instanceof NomadError) || world.nomad.findDispatched(parent, token) === undefined) throw error;
          return nomad.dispatch(parent, `${token}:again`, meta);
        }
      },
    })),
  },
  {
    name: "dispatches before the intention is stored",
    breaks: ["O7"],
    seed: 1,
    ports: withStore(withoutIntent),
  },
  {
    name: "never looks at the allocations of a hook",
    breaks: ["I13"],
    seed: 3,
    ports: withNomad((nomad) => ({
      listAllocations: (key) => (splitJobKey(key).jobId.includes("/dispatch-") ? never : nomad.listAllocations(key)),
    })),
  },
  {
    name: "undoes a deployment whose post-hook failed",
    breaks: ["I10"],
    seed: 1,
    ports: (deps) => ({
      ...deps,
      store: {
        ...deps.store,
        move: async (id, version, move) => {
          const moved = await deps.store.move(id, version, move);
          if (moved.hasPostHooks && moved.state === "failed" && moved.appliedIndex !== undefined)
            await deps.nomad.stopJob(jobKey(moved.namespace, moved.jobId));
          return moved;
        },
      },
    }),
  },
];

const ofApply: readonly BrokenBuild[] = [
  {
    name: "registers over whatever is live",
    breaks: ["I3"],
    seed: 30,
    ports: withNomad((nomad) => ({
      register: async (spec, _index, submission) => {
        const live = await nomad.readJob(jobKey("default", spec.ID));
        return nomad.register(spec, live?.JobModifyIndex ?? 0, submission);
      },
    })),
  },
  {
    name: "registers something of its own beside what was approved",
    breaks: ["I4", "O1"],
    seed: 1,
    ports: withNomad((nomad) => {
      const marked = <T extends { readonly Meta?: unknown }>(spec: T): T => ({
        ...spec,
        Meta: { ...(spec.Meta ?? {}), nops_commit: "1" },
      });
      return {
        plan: (spec) => nomad.plan(spec.Type === "service" ? marked(spec) : spec),
        register: (spec, index, submission) => nomad.register(spec.Type === "service" ? marked(spec) : spec, index, submission),
      };
    }),
  },
  {
    name: "registers by a plan that an earlier process made",
    breaks: ["O1", "I11"],
    seed: 6,
    ports: withNomad((nomad, world) => ({
      plan: async (spec) => {
        const text = `${JSON.stringify(spec)} ${world.nomad.readJob(jobKey("default", spec.ID))?.JobModifyIndex ?? 0}`;
        const known = world.plans.get(text) ?? (await nomad.plan(spec));
        world.plans.set(text, known);
        return known;
      },
    })),
  },
  {
    name: "believes that it registered",
    breaks: ["I11"],
    seed: 1,
    ports: withNomad((nomad) => {
      const done = new Set<string>();
      return {
        register: async (spec, _index, submission) => {
          if (submission.format === "json") return nomad.register(spec, _index, submission);
          done.add(JSON.stringify(spec));
          return { evalId: "", warnings: "" };
        },
        plan: async (spec) => {
          const plan = await nomad.plan(spec);
          return done.has(JSON.stringify(spec)) && plan.jobModifyIndex > 0
            ? { ...plan, diff: { Type: "None", ID: spec.ID } }
            : plan;
        },
      };
    }),
  },
  {
    name: "lets the clock of a step begin anew with each process",
    breaks: ["I12"],
    seed: 17,
    ports: (deps) => {
      const begun = new Date(deps.clock.now()).toISOString();
      return {
        ...deps,
        store: {
          ...deps.store,
          deployment: async (id) => {
            const row = await deps.store.deployment(id);
            return row === undefined || row.enteredAt > begun ? row : { ...row, enteredAt: begun };
          },
        },
      };
    },
  },
  {
    name: "gives up before the time is over",
    breaks: ["I12"],
    seed: 21,
    ports: (deps) => ({ ...deps, settings: { ...deps.settings, applyTimeoutMs: deps.settings.applyTimeoutMs / 4 } }),
  },
  {
    name: "leaves on record what a later plan at the same index no longer shows",
    breaks: ["D5"],
    seed: 2,
    ports: withStore((store, world) => ({
      saveVerdict: async (key, verdict) => {
        const active = world.shadow.active(key);
        if (active?.state === "applying" && active.baseIndex === verdict.jobModifyIndex) return;
        await store.saveVerdict(key, verdict);
      },
    })),
  },
  {
    name: "promotes without noting the wish",
    breaks: ["O7"],
    seed: 1,
    ports: withStore(() => ({ recordPromotionRequest: async () => undefined })),
  },
  {
    name: "fails in a way that nobody foresaw",
    breaks: ["X"],
    seed: 1,
    ports: withStore((store) => ({
      jobFacts: async (key) => {
        const facts = await store.jobFacts(key);
        if (facts.latest?.state === "failed") throw new TypeError("cannot read properties of undefined");
        return facts;
      },
    })),
  },
];

/** All of them: for every rule at least one. */
export const brokenBuilds: readonly BrokenBuild[] = [...ofDetection, ...ofTheStore, ...ofHooks, ...ofApply];
