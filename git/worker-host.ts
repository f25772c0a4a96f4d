import type { JobFile } from "../model/desired.ts";
import { GitError, toWire } from "./git-error.ts";
import { createRepositoryReader, type RepositoryRead, type RepositoryReader, type RepositorySpec } from "./repository-reader.ts";
import { type FromWorker, packFile, type ToWorker } from "./worker-protocol.ts";

/** The side that reads: in a thread of its own, or in the asker's (tests). */
export interface WorkerHost {
  receive(message: ToWorker): void;
}

const filesPerMessage = 500;

interface Repository {
  readonly reader: RepositoryReader;
  /** Reads of one repository go one after the other: they share its cache. */
  queue: Promise<void>;
  generation: number;
  sent: ReadonlyMap<string, JobFile>;
}

/** Serves reads of these repositories; answers go to `post`. Different repositories are read side by side. */
export function createWorkerHost(specs: readonly RepositorySpec[], post: (message: FromWorker) => void): WorkerHost {
  const repositories = new Map<string, Repository>();
  const aborts = new Map<number, AbortController>();

  function open(name: string): Repository {
    const known = repositories.get(name);
    if (known !== undefined) return known;
    const spec = specs.find((candidate) => candidate.name === name);
    if (spec === undefined) throw new GitError("configuration", `no repository is called "${name}"`);
    const made = { reader: createRepositoryReader(spec), queue: Promise.resolve(), generation: 0, sent: new Map() };
    repositories.set(name, made);
    return made;
  }

  async function serve(message: ToWorker & { type: "read" }, repository: Repository, signal: AbortSignal): Promise<void> {
    const { id } = message;
    try {
      if (signal.aborted) throw new GitError("aborted", "the read was given up before it began");
      const read = await repository.reader.read(message.known, signal);
      if (!read.changed) post({ type: "done", id, outcome: read });
      else send(id, repository, read, message.base === repository.generation, post);
    } catch (error) {
      post({ type: "failed", id, error: toWire(error) });
    } finally {
      aborts.delete(id);
    }
  }

  return {
    receive(message) {
      if (message.type === "abort") {
        aborts.get(message.id)?.abort();
        return;
      }
      const abort = new AbortController();
      aborts.set(message.id, abort);
      try {
        const repository = open(message.repository);
        repository.queue = repository.queue.then(() => serve(message, repository, abort.signal));
      } catch (error) {
        aborts.delete(message.id);
        post({ type: "failed", id: message.id, error: toWire(error) });
      }
    },
  };
}

/** Sends what differs from the files that the other side still has, in parts, then the rest of the answer. */
function send(
  id: number,
  repository: Repository,
  read: RepositoryRead & { changed: true },
  isBaseKnown: boolean,
  post: (message: FromWorker) => void,
): void {
  const { files, ...rest } = read;
  const before = isBaseKnown ? repository.sent : new Map<string, JobFile>();
  const now = new Map(files.map((file) => [file.path, file]));
  const changed = files.filter((file) => before.get(file.path) !== file);
  for (let at = 0; at < changed.length; at += filesPerMessage) {
    post({ type: "files", id, files: changed.slice(at, at + filesPerMessage).map(packFile) });
  }
  const removed = [...before.keys()].filter((path) => !now.has(path));
  repository.generation++;
  repository.sent = now;
  post({ type: "done", id, outcome: { ...rest, generation: repository.generation, complete: !isBaseKnown, removed } });
}
