import type { DeclaredHook, DesiredJob, DesiredState, FrozenJob } from "../model/desired.ts";
import { specHash } from "../model/hash.ts";
import { type JobKey, jobKey, splitJobKey } from "../model/job-key.ts";
import type { Policy } from "../model/policy.ts";
import { cyclePath, findCycles } from "../plan/dependencies.ts";
import { isTemplateJob } from "../plan/health.ts";
import { effectivePolicy } from "../plan/policy.ts";
import { type FileEntry, keysOf, type ParsedFile, pathOf, type RepositoryContent } from "./file-entry.ts";

interface Claim {
  readonly repository: RepositoryContent;
  readonly entry: FileEntry;
}

/**
 * What git says about every job key, over all repositories. In memory: it is a function of the snapshots (operator §29).
 *
 * I1. A key that two files claim is frozen, whoever came first. I2. A key is `absent` with certainty only while every
 * repository has been read and no broken file of its own could mean it.
 */
export class DesiredIndex {
  private readonly repositories = new Map<string, RepositoryContent | undefined>();
  private states = new Map<JobKey, DesiredState>();
  private dependentsOf = new Map<JobKey, JobKey[]>();
  private dependsOn = new Map<JobKey, readonly JobKey[]>();
  private cycles = new Map<JobKey, ReadonlySet<JobKey>>();
  private readonly floor: (namespace: string) => Policy | undefined;

  /** `repositories`: all that are configured; `floor`: the policy no job of a namespace may fall below. */
  constructor(repositories: readonly string[], floor: (namespace: string) => Policy | undefined) {
    for (const name of repositories) this.repositories.set(name, undefined);
    this.floor = floor;
  }

  /** Puts a repository's new content in place of the old, whole. Returns the keys about which git now says something else. */
  replace(content: RepositoryContent): JobKey[] {
    this.repositories.set(content.name, content);
    const before = this.states;
    this.states = this.resolveAll();
    this.resolveDependencies();
    const keys = new Set([...before.keys(), ...this.states.keys()]);
    return [...keys].filter((key) => signature(before.get(key)) !== signature(this.states.get(key)));
  }

  content(repository: string): RepositoryContent | undefined {
    return this.repositories.get(repository);
  }

  /** `owner`: the repository that last deployed the job, when that is known. */
  state(key: JobKey, owner?: string): DesiredState {
    return this.states.get(key) ?? { kind: "absent", certain: this.absenceIsCertain(owner) };
  }

  job(key: JobKey): DesiredJob | undefined {
    const state = this.states.get(key);
    return state?.kind === "managed" ? state.job : undefined;
  }

  /** All keys that git declares, managed or not. */
  keys(): JobKey[] {
    return [...this.states.keys()];
  }

  managed(): DesiredJob[] {
    return [...this.states.values()].flatMap((state) => (state.kind === "managed" ? [state.job] : []));
  }

  /** Jobs that depend on this one. */
  dependents(key: JobKey): readonly JobKey[] {
    return this.dependentsOf.get(key) ?? [];
  }

  cycle(key: JobKey): readonly JobKey[] | undefined {
    const members = this.cycles.get(key);
    return members === undefined ? undefined : cyclePath(this.dependsOn, members, key);
  }

  /** Whether a broken file of the repository could mean any job. */
  isSuspended(repository: string): boolean {
    const content = this.repositories.get(repository);
    return content === undefined || content.entries.some((entry) => entry.kind === "unusable" && !entry.keysKnown);
  }

  private absenceIsCertain(owner: string | undefined): boolean {
    const names = [...this.repositories.keys()];
    if (names.some((name) => this.repositories.get(name) === undefined)) return false;
    return owner !== undefined && this.repositories.has(owner)
      ? !this.isSuspended(owner)
      : !names.some((name) => this.isSuspended(name));
  }

  private resolveAll(): Map<JobKey, DesiredState> {
    const claims = new Map<JobKey, Claim[]>();
    for (const repository of this.repositories.values()) {
      for (const entry of repository?.entries ?? []) {
        for (const key of keysOf(entry)) {
          const list = claims.get(key);
          if (list === undefined) claims.set(key, [{ repository: repository as RepositoryContent, entry }]);
          else list.push({ repository: repository as RepositoryContent, entry });
        }
      }
    }
    const states = new Map<JobKey, DesiredState>();
    for (const [key, list] of claims) states.set(key, this.resolve(key, list, claims));
    return states;
  }

  private resolve(key: JobKey, claims: readonly Claim[], all: ReadonlyMap<JobKey, readonly Claim[]>): DesiredState {
    const [claim] = claims;
    if (claim === undefined) return { kind: "absent", certain: false };
    const { repository, entry } = claim;
    const files = claims.map((each) => pathOf(each.entry));
    const freeze = (reason: FrozenJob["reason"], message: string): DesiredState => ({
      kind: "frozen",
      frozen: { key, repository: repository.name, files, reason, message },
    });
    if (claims.length > 1) {
      const places = claims.map((each) => `${each.repository.name}:${pathOf(each.entry)}`).toSorted();
      return freeze("duplicate_job", `the job is declared by ${places.join(" and ")}; keep one of them`);
    }
    if (entry.kind === "unusable") return freeze(entry.reason, entry.message);
    if (!entry.settings.managed) return { kind: "unmanaged" };
    const hooks = this.declaredHooks(key, entry, repository.name, all);
    if (typeof hooks === "string") return freeze("file_broken", hooks);
    return { kind: "managed", job: this.toJob(key, entry, repository, hooks) };
  }

  private toJob(key: JobKey, entry: ParsedFile, repository: RepositoryContent, hooks: readonly DeclaredHook[]): DesiredJob {
    const policy = effectivePolicy(entry.settings, this.floor(splitJobKey(key).namespace));
    return {
      key,
      repository: repository.name,
      file: entry.file.path,
      commit: repository.commit,
      source: entry.file,
      spec: entry.spec,
      settings: entry.settings,
      policy,
      hooks,
      targetHash: entry.targetHash,
      specHash: specHashOf(entry, hooks),
    };
  }

  /** The hooks in order, or why they cannot be judged now: a broken file is no reason to call a hook missing. */
  private declaredHooks(
    key: JobKey,
    entry: ParsedFile,
    repository: string,
    all: ReadonlyMap<JobKey, readonly Claim[]>,
  ): readonly DeclaredHook[] | string {
    const { namespace } = splitJobKey(key);
    const hooks: DeclaredHook[] = [];
    for (const [phase, ids] of [
      ["pre", entry.settings.preHooks],
      ["post", entry.settings.postHooks],
    ] as const) {
      for (const [position, hookId] of ids.entries()) {
        const claims = all.get(jobKey(namespace, hookId)) ?? [];
        const own = claims.filter((claim) => claim.repository.name === repository);
        const candidates = own.length > 0 ? own : claims;
        const broken = candidates.find((claim) => claim.entry.kind === "unusable");
        if (broken !== undefined) return `its ${phase}-hook ${hookId} cannot be judged: ${pathOf(broken.entry)} cannot be used`;
        hooks.push({ phase, position, hookId, ...judgeHook(candidates.map((claim) => claim.entry as ParsedFile)) });
      }
    }
    return hooks;
  }

  private resolveDependencies(): void {
    const graph = new Map<JobKey, JobKey[]>();
    this.dependentsOf = new Map();
    for (const job of this.managed()) {
      if (job.settings.dependsOn.length === 0) continue;
      const on = job.settings.dependsOn.map((id) => jobKey(splitJobKey(job.key).namespace, id));
      graph.set(job.key, on);
      for (const key of on) this.dependentsOf.set(key, [...(this.dependentsOf.get(key) ?? []), job.key]);
    }
    this.dependsOn = graph;
    this.cycles = findCycles(graph);
  }
}

/** By the spec, which never changes, and by its hooks: every commit asks for all of them. */
const specHashes = new WeakMap<object, Map<string, string>>();

function specHashOf(entry: ParsedFile, hooks: readonly DeclaredHook[]): string {
  const hashed = hooks.map((hook) => ({
    phase: hook.phase,
    hookId: hook.hookId,
    hash: hook.usable ? hook.hash : hook.problem,
  }));
  const name = JSON.stringify(hashed);
  const known = specHashes.get(entry.spec) ?? new Map<string, string>();
  const hash = known.get(name) ?? specHash({ version: 1, target: entry.spec, hooks: hashed });
  known.set(name, hash);
  specHashes.set(entry.spec, known);
  return hash;
}

type HookJudgement =
  | { readonly usable: true; readonly spec: ParsedFile["spec"]; readonly hash: string; readonly timeoutMs: number }
  | { readonly usable: false; readonly problem: "missing" | "invalid"; readonly detail: string };

/** Whether what git has under a hook's ID can be run as one (operator §13.1). */
function judgeHook(entries: readonly ParsedFile[]): HookJudgement {
  const [entry] = entries;
  const invalid = (detail: string): HookJudgement => ({ usable: false, problem: "invalid", detail });
  if (entry === undefined)
    return { usable: false, problem: "missing", detail: "git has no job of that ID in the job's namespace" };
  if (entries.length > 1) return invalid(`two files declare it: ${entries.map((each) => each.file.path).join(" and ")}`);
  if (entry.settings.role !== "hook") return invalid(`${entry.file.path} lacks nops_role = "hook"`);
  const wrong = entry.settings.issues.find((issue) => issue.severity === "error");
  if (wrong !== undefined) return invalid(`${entry.file.path}: ${wrong.key}: ${wrong.message}`);
  if (entry.spec.Type !== "batch")
    return invalid(`${entry.file.path} is of type ${String(entry.spec.Type ?? "service")}, a hook must be of type batch`);
  if (!isTemplateJob(entry.spec) || (entry.spec.ParameterizedJob ?? null) === null)
    return invalid(`${entry.file.path} has no parameterized block`);
  return { usable: true, spec: entry.spec, hash: entry.targetHash, timeoutMs: entry.settings.hookTimeoutMs };
}

/** Equal signatures mean that git says the same about a key; the commit alone changes nothing (operator §8.5). */
function signature(state: DesiredState | undefined): string {
  if (state === undefined) return "";
  switch (state.kind) {
    case "managed":
      return `managed ${state.job.specHash} ${state.job.policy} ${state.job.repository}`;
    case "frozen":
      return `frozen ${state.frozen.reason} ${state.frozen.message}`;
    default:
      return state.kind;
  }
}
