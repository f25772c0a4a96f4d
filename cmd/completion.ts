/** `nops completion bash|zsh|fish` prints a script; the script asks `nops complete -- WORDS`. Loaded for these two only. */
import type { Complete, RootCommand } from "@bomb.sh/tab";
import type { Command } from "commander";
import type { ApiClient } from "./api-client.ts";
import { type ClientFlags, clientFor } from "./client-options.ts";
import type { CommandIo } from "./io.ts";

/** Nobody waits longer for a list after a TAB, ms. */
const patienceMs = 1_500;

/** Adds both commands. `words` is the command line after `nops`. */
export async function addCompletion(program: Command, words: readonly string[], io: CommandIo): Promise<void> {
  const [{ default: adapt }, { script }] = await Promise.all([import("@bomb.sh/tab/commander"), import("@bomb.sh/tab")]);
  const root = adapt(program, { completionCommandName: "completion" });
  program.commands
    .find((candidate) => candidate.name() === "completion")
    ?.description("print the completion script of bash, zsh or fish")
    .action((shell: string) => io.out(sourceable(printed(() => script(shell, "nops", "nops")))));
  if (words[0] === "complete") await addNames(root, words.slice(words.indexOf("--") + 1), io);
}

/** What the library says on the console. */
function printed(work: () => void): string {
  const { log } = console;
  const lines: string[] = [];
  console.log = (line: string): void => void lines.push(line);
  try {
    work();
  } finally {
    console.log = log;
  }
  return `${lines.join("\n")}\n`;
}

const wordsByRef = '    _get_comp_words_by_ref -n "=:" cur prev words cword\n';
const wordsPlain = `    cur=\${COMP_WORDS[COMP_CWORD]}\n    words=("\${COMP_WORDS[@]:0:COMP_CWORD+1}")\n`;

/**
 * A profile may be read twice, and another program may have a script of the same library: nothing in it is read-only for ever. Without
 * the package bash-completion bash's own words do.
 */
function sourceable(text: string): string {
  return text
    .replaceAll(/^readonly (?=ShellComp)/gm, "")
    .replace(
      wordsByRef,
      `    if declare -F _get_comp_words_by_ref >/dev/null; then\n    ${wordsByRef}    else\n${wordsPlain}    fi\n`,
    );
}

interface Names {
  readonly job: readonly string[];
  readonly deployment: readonly string[];
  readonly repository: readonly string[];
}

/** States of the deployments that a command takes; any for others. */
const takes: Readonly<Record<string, string>> = {
  approve: "pending_approval",
  reject: "pending_approval",
  retry: "failed",
  promote: "applying",
  fail: "applying",
};

/** bash expands what it is offered, and names come from repositories: only those that mean nothing to a shell are offered. */
const harmless = /^[\w./:@+-]+$/;

/** Puts the names that the server knows behind the command that is being written. Without a server there are none. */
async function addNames(root: RootCommand, words: readonly string[], io: CommandIo): Promise<void> {
  const command = root.commands.get(words.slice(0, 2).join(" ")) ?? root.commands.get(words[0] ?? "");
  if (command === undefined) return;
  const wanted = (["job", "deployment", "repository"] as const).filter(
    (name) => command.arguments.has(name) || command.options.has(name),
  );
  if (wanted.length === 0) return;
  const names = await namesOf(wanted, command.value, words, io).catch(() => undefined);
  for (const name of names === undefined ? [] : wanted) {
    const offer = (complete: Complete): void => {
      for (const value of names?.[name] ?? []) if (harmless.test(value)) complete(value, "");
    };
    for (const place of [command.arguments.get(name), command.options.get(name)]) if (place !== undefined) place.handler = offer;
  }
}

async function namesOf(wanted: readonly string[], command: string, words: readonly string[], io: CommandIo): Promise<Names> {
  const flags = flagsOf(words);
  const interrupted = AbortSignal.any([io.interrupted, AbortSignal.timeout(patienceMs)]);
  const client = clientFor(flags, { ...io, interrupted });
  const home = flags.namespace ?? (io.environment["NOPS_NAMESPACE"] || "default");
  const jobs = wanted.includes("repository") ? [] : await jobNames(client, home);
  return {
    job: jobs,
    deployment: wanted.includes("deployment") ? [...(await deploymentNames(client, takes[command])), ...jobs] : [],
    repository: wanted.includes("repository") ? (await client.status()).repositories.map(({ name }) => name) : [],
  };
}

async function jobNames(client: ApiClient, home: string): Promise<readonly string[]> {
  const { jobs } = await client.jobs();
  return jobs.map(({ namespace, job }) => (namespace === home ? job : `${namespace}/${job}`));
}

async function deploymentNames(client: ApiClient, state: string | undefined): Promise<readonly string[]> {
  return (await client.deployments({ state, limit: 50 })).deployments.map(({ id }) => id);
}

/** The flags that say whom to ask, as far as they are written out. */
function flagsOf(words: readonly string[]): ClientFlags {
  const after = (...flags: readonly string[]): string | undefined => {
    const at = words.findIndex((word) => flags.includes(word));
    return at < 0 ? undefined : words[at + 1];
  };
  const given = { addr: after("--addr"), tokenFile: after("--token-file"), namespace: after("-n", "--namespace") };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}
