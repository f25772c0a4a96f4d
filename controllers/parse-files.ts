import type { Clock } from "../model/clock.ts";
import type { JobFile, JobSettings } from "../model/desired.ts";
import { formatDuration } from "../model/duration.ts";
import { messageOf, NomadError, NopsError } from "../model/errors.ts";
import { targetHash, withoutServerFields } from "../model/hash.ts";
import { type JobKey, jobKey } from "../model/job-key.ts";
import type { JobSpec } from "../model/nomad.ts";
import { parseSettings, type SettingsDefaults } from "../model/settings.ts";
import type { FileEntry, UnusableFile } from "./file-entry.ts";
import type { NomadPort } from "./ports.ts";

/** What Nomad made of a content, kept as long as any repository has it. */
type Parsed = { readonly spec: JobSpec; readonly deterministic: boolean } | { readonly refused: string };

export interface ParseRules {
  readonly defaults: SettingsDefaults;
  /** Namespaces that jobs of this repository may be in; `any` where no configuration narrows them. */
  readonly namespaces: readonly string[] | "any";
  /** Namespace in which Nomad is asked to parse (nomad-api §1). */
  readonly parseNamespace: string;
  /** Keys that a file last declared; `undefined` when it never could be read. */
  readonly lastKeys: (path: string) => readonly JobKey[] | undefined;
}

export interface ParseOutcome {
  readonly entries: readonly FileEntry[];
  /** Files that Nomad could not be asked about: they are tried again. */
  readonly postponed: number;
  readonly firstError: Error | undefined;
}

/** How long a pass waits for the parse of one file, ms. */
const patienceMs = 5_000;

/** Functions of Nomad's HCL2 whose result differs from call to call (nomad-api §1, design D4). */
const chance = /\b(?:uuidv4|bcrypt|timestamp|uuid)\s*\(/;

/**
 * Parses job files through Nomad, each content once: a cache by content hash serves every later commit (design D5), refusals
 * included, since the same text is refused for the same reason. Bounded concurrency; one slow or failing file holds up no other (S50).
 */
export class FileParser {
  private readonly cache = new Map<string, Parsed>();
  private readonly nomad: Pick<NomadPort, "parse">;
  private readonly concurrency: number;
  private readonly clock: Clock | undefined;
  private readonly inFlight = new Map<string, Promise<Parsed>>();
  /** Entries of files that are the same as in the commit before, so that a commit costs what it changes: the same objects. */
  private readonly entries = new WeakMap<JobFile, { readonly parsed: Parsed; readonly entry: FileEntry }>();

  /** Without a clock every answer is waited for, however long it takes: for one-shot commands. */
  constructor(nomad: Pick<NomadPort, "parse">, concurrency: number, clock?: Clock) {
    this.nomad = nomad;
    this.clock = clock;
    this.concurrency = concurrency;
  }

  async parseAll(files: readonly JobFile[], rules: ParseRules): Promise<ParseOutcome> {
    const entries = new Array<FileEntry>(files.length);
    const errors: Error[] = [];
    let next = 0;
    const work = async (): Promise<void> => {
      for (let at = next++; at < files.length; at = next++) {
        const file = files[at];
        if (file === undefined) return;
        try {
          entries[at] = this.entryOf(file, await this.parse(file, rules), rules);
        } catch (error) {
          errors.push(error instanceof Error ? error : new Error(messageOf(error)));
          entries[at] = unusable(
            file,
            rules,
            "nomad_error",
            `Nomad could not parse it now, it is tried again: ${messageOf(error)}`,
          );
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(this.concurrency, files.length) }, work));
    return { entries, postponed: errors.length, firstError: errors[0] };
  }

  /** Drops what no repository holds any more. */
  keepOnly(contentHashes: ReadonlySet<string>): void {
    for (const hash of this.cache.keys()) if (!contentHashes.has(hash)) this.cache.delete(hash);
  }

  private async parse(file: JobFile, rules: ParseRules): Promise<Parsed> {
    const known = this.cache.get(file.contentHash);
    if (known !== undefined) return known;
    return this.withPatience(this.inFlight.get(file.contentHash) ?? this.begin(file, rules));
  }

  /** Asks once for a content, however many passes want it, and keeps the answer also when nobody waits for it any more. */
  private begin(file: JobFile, rules: ParseRules): Promise<Parsed> {
    const asked = this.ask(file, rules)
      .then((parsed) => {
        this.cache.set(file.contentHash, parsed);
        return parsed;
      })
      .finally(() => this.inFlight.delete(file.contentHash));
    this.inFlight.set(file.contentHash, asked);
    asked.catch(() => undefined);
    return asked;
  }

  /** One slow parse holds up no other file (S50): its answer serves the next pass. */
  private withPatience(asked: Promise<Parsed>): Promise<Parsed> {
    const { clock } = this;
    if (clock === undefined) return asked;
    return new Promise((resolve, reject) => {
      const timer = clock.setTimer(patienceMs, () => {
        reject(new NopsError(`no answer within ${formatDuration(patienceMs)}`, { code: "parse_slow" }));
      });
      asked.then(resolve, reject).finally(() => timer.cancel());
    });
  }

  private async ask(file: JobFile, rules: ParseRules): Promise<Parsed> {
    const source = { format: file.format, source: file.source, variables: file.variables };
    try {
      const spec = await this.nomad.parse(source, rules.parseNamespace);
      const again =
        file.format === "hcl2" && chance.test(file.source) ? await this.nomad.parse(source, rules.parseNamespace) : spec;
      return { spec, deterministic: again === spec || targetHash(again) === targetHash(spec) };
    } catch (error) {
      if (error instanceof NomadError && error.kind === "refused") return { refused: error.message };
      throw error;
    }
  }

  /** A file object belongs to one repository, and so to one set of rules; only the last known keys change. */
  private entryOf(file: JobFile, parsed: Parsed, rules: ParseRules): FileEntry {
    const known = this.entries.get(file);
    if (known?.parsed === parsed) return known.entry;
    const entry = this.toEntry(file, parsed, rules);
    if (entry.kind === "parsed") this.entries.set(file, { parsed, entry });
    return entry;
  }

  private toEntry(file: JobFile, parsed: Parsed, rules: ParseRules): FileEntry {
    if ("refused" in parsed) return unusable(file, rules, "file_broken", parsed.refused);
    const spec = declared(parsed.spec);
    const key = jobKey(spec.Namespace ?? "default", spec.ID);
    const settings = parseSettings(parsed.spec.Meta, rules.defaults);
    const refuse = (reason: UnusableFile["reason"], message: string): FileEntry => ({
      kind: "unusable",
      path: file.path,
      keys: [key],
      keysKnown: true,
      reason,
      message,
    });
    if (rules.namespaces !== "any" && !rules.namespaces.includes(spec.Namespace ?? "default")) {
      return refuse(
        "namespace_not_allowed",
        `namespace ${spec.Namespace} is not among those allowed here: ${rules.namespaces.join(", ")}`,
      );
    }
    if (!parsed.deterministic) {
      return refuse("not_deterministic", "the file parses differently each time (uuidv4 or bcrypt), so it can never be in sync");
    }
    const problem = specProblem(spec, settings);
    if (problem !== undefined) return refuse("file_broken", problem);
    return { kind: "parsed", file, key, spec, settings, targetHash: targetHash(spec) };
  }
}

const declaredSpecs = new WeakMap<JobSpec, JobSpec>();

/** What a file declares: its job without the server's fields, in the namespace it names. The same object for the same parse, for its hashes. */
function declared(parsed: JobSpec): JobSpec {
  const known = declaredSpecs.get(parsed);
  if (known !== undefined) return known;
  const namespace = parsed.Namespace ?? "";
  const spec: JobSpec = { ...withoutServerFields(parsed), Namespace: namespace === "" ? "default" : namespace };
  declaredSpecs.set(parsed, spec);
  return spec;
}

/** What makes a parsed job impossible to deploy, whatever Nomad says. */
function specProblem(spec: JobSpec, _settings: JobSettings): string | undefined {
  if (typeof spec.ID !== "string" || spec.ID === "") return "the job has no ID";
  if (/[\0 ]/.test(spec.ID)) return "the job's ID contains a space";
  return undefined;
}

function unusable(file: JobFile, rules: ParseRules, reason: UnusableFile["reason"], message: string): UnusableFile {
  return unusablePath(file.path, rules.lastKeys(file.path), reason, message);
}

/** An entry for a file that cannot be used; it freezes the keys that it last declared (design D11). */
export function unusablePath(
  path: string,
  lastKeys: readonly JobKey[] | undefined,
  reason: UnusableFile["reason"],
  message: string,
): UnusableFile {
  return { kind: "unusable", path, keys: lastKeys ?? [], keysKnown: lastKeys !== undefined, reason, message };
}
