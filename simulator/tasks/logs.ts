interface Streams {
  stdout: string;
  stderr: string;
}

/** Most text kept of one stream, in characters; older text goes first, as log rotation does. */
const limit = 1_000_000;

/** What simulated tasks printed, in memory. */
export class TaskLogs {
  readonly #logs = new Map<string, Map<string, Streams>>();

  append(allocId: string, task: string, stdout: string, stderr: string): void {
    let tasks = this.#logs.get(allocId);
    if (tasks === undefined) {
      tasks = new Map();
      this.#logs.set(allocId, tasks);
    }
    const old = tasks.get(task) ?? { stdout: "", stderr: "" };
    tasks.set(task, { stdout: (old.stdout + stdout).slice(-limit), stderr: (old.stderr + stderr).slice(-limit) });
  }

  /** Undefined when the task never started. */
  read(allocId: string, task: string): Streams | undefined {
    return this.#logs.get(allocId)?.get(task);
  }

  forget(allocId: string): void {
    this.#logs.delete(allocId);
  }
}
