import type { Clock, Random, Timer } from "../../model/clock.ts";
import type { ClientUpdate } from "../state/alloc-writes.ts";
import type { Node } from "../state/cluster-types.ts";
import { groupOf, rfc3339 } from "../state/facts.ts";
import type { Allocation, Task, TaskGroup, TaskState } from "../state/types.ts";
import { type Behaviour, type BehaviourHook, behaviourOf, goDurationText } from "./behaviour.ts";
import { newTaskState, taskEvent, withEvents } from "./events.ts";
import { type HealthParameters, HealthTracker, type Liveness } from "./health.ts";
import type { TaskLogs } from "./logs.ts";
import { RestartTracker } from "./restarts.ts";
import { taskEnv } from "./task-env.ts";

export interface RunnerTools {
  readonly clock: Clock;
  readonly random: Random;
  readonly logs: TaskLogs;
  readonly hook: BehaviourHook | undefined;
  readonly node: (id: string) => Node | undefined;
  /** Called whenever there is something new to tell the server. */
  readonly changed: (runner: AllocRunner) => void;
}

/** Milliseconds that a client needs to set up and start a task. */
const startup = 5;

interface Runtime {
  readonly task: Task;
  readonly tracker: RestartTracker;
  state: TaskState;
  behaviour: Behaviour | undefined;
  timer: Timer | undefined;
  started: boolean;
  killing: boolean;
}

/** Lives one allocation through, as a client does: hooks in order, restarts, kills, health. Nothing real is run. */
export class AllocRunner {
  readonly #tools: RunnerTools;
  #alloc: Allocation;
  readonly #group: TaskGroup | undefined;
  readonly #tasks = new Map<string, Runtime>();
  #health: HealthTracker | undefined;
  #verdict: ClientUpdate["health"];
  #stopping = false;
  #destroyed = false;

  constructor(tools: RunnerTools, alloc: Allocation) {
    this.#tools = tools;
    this.#alloc = alloc;
    this.#group = groupOf(alloc.Job, alloc.TaskGroup);
  }

  get id(): string {
    return this.#alloc.ID;
  }

  get nodeId(): string {
    return this.#alloc.NodeID;
  }

  get over(): boolean {
    return this.#destroyed || [...this.#tasks.values()].every((one) => one.state.State === "dead");
  }

  start(): void {
    const { clock, random } = this.#tools;
    const now = clock.now();
    for (const task of this.#group?.Tasks ?? []) {
      const runs = this.#runsOn(task);
      const policy = task.RestartPolicy ?? this.#group?.RestartPolicy ?? { Attempts: 0, Interval: 0, Delay: 0, Mode: "fail" };
      const state = withEvents(
        newTaskState,
        taskEvent("Received", "Task received by client", now),
        taskEvent(
          "Task Setup",
          "Building Task Directory",
          now,
          { message: "Building Task Directory" },
          { Message: "Building Task Directory" },
        ),
      );
      const tracker = new RestartTracker(policy, runs, now, () => random.next());
      this.#tasks.set(task.Name, {
        task,
        tracker,
        state,
        behaviour: undefined,
        timer: undefined,
        started: false,
        killing: false,
      });
    }
    this.#watchHealth();
    this.#advance();
  }

  /** Whether exit code 0 is no end: main tasks and sidecars of services and system jobs. */
  #runsOn(task: Task): boolean {
    const { Type } = this.#alloc.Job;
    return (Type === "service" || Type === "system") && !(task.Lifecycle && !task.Lifecycle.Sidecar);
  }

  /** The server changed the allocation: a new version in place, or the word to stop. */
  update(alloc: Allocation): void {
    const moved = alloc.DeploymentID !== this.#alloc.DeploymentID;
    this.#alloc = alloc;
    if (alloc.DesiredStatus !== "run") this.stop();
    else if (moved) {
      this.#verdict = undefined;
      this.#watchHealth();
      this.#lookAtHealth();
    }
  }

  /** Ends all tasks, poststop ones after the others. */
  stop(): void {
    if (this.#stopping) return;
    this.#stopping = true;
    this.#health?.stop();
    const delay = this.#alloc.DesiredTransition.NoShutdownDelay ? 0 : (this.#group?.ShutdownDelay ?? 0) / 1e6;
    this.#tools.clock.setTimer(delay, () => {
      for (const one of this.#tasks.values()) if (one.task.Lifecycle?.Hook !== "poststop") this.#kill(one);
      this.#advance();
    });
  }

  /** The allocation is gone: nothing more happens or is told. */
  destroy(): void {
    this.#destroyed = true;
    this.#health?.stop();
    for (const one of this.#tasks.values()) one.timer?.cancel();
  }

  /** What the client would report now. */
  report(): ClientUpdate {
    const states = [...this.#tasks.values()];
    const failed = states.some((one) => one.state.State === "dead" && one.state.Failed);
    const running = states.some((one) => one.state.State === "running");
    const pending = states.some((one) => one.state.State === "pending");
    const [status, description] = failed
      ? ["failed", "Failed tasks"]
      : running
        ? ["running", "Tasks are running"]
        : pending
          ? ["pending", "No tasks have started"]
          : ["complete", "All tasks have completed"];
    return {
      id: this.#alloc.ID,
      clientStatus: status,
      clientDescription: description,
      taskStates: Object.fromEntries(states.map((one) => [one.task.Name, one.state])),
      health: this.#verdict,
    };
  }

  #of(...hooks: readonly string[]): Runtime[] {
    return [...this.#tasks.values()].filter((one) => hooks.includes(one.task.Lifecycle?.Hook ?? "main"));
  }

  /** Starts what may start now and ends what must end; called after every change. */
  #advance(): void {
    if (this.#destroyed) return;
    const dead = (one: Runtime) => one.state.State === "dead";
    const all = [...this.#tasks.values()];
    const main = this.#of("main");
    const failed = all.find((one) => dead(one) && one.state.Failed && one.task.Lifecycle?.Hook !== "poststop");
    const leader = main.find((one) => one.task.Leader && dead(one));
    const mainOver = main.every(dead);
    if (failed !== undefined || leader !== undefined || mainOver) this.#endOthers(failed, leader);
    if (!this.#stopping && failed === undefined) this.#startDue(main);
    const rest = all.filter((one) => one.task.Lifecycle?.Hook !== "poststop");
    if (rest.every(dead)) for (const one of this.#of("poststop")) this.#begin(one);
    this.#lookAtHealth();
    this.#tools.changed(this);
  }

  #startDue(main: readonly Runtime[]): void {
    const prestart = this.#of("prestart");
    for (const one of prestart) this.#begin(one);
    const ready = prestart.every((one) =>
      one.task.Lifecycle?.Sidecar ? one.state.State === "running" || one.started : one.state.State === "dead",
    );
    if (!ready) return;
    for (const one of main) this.#begin(one);
    if (main.every((one) => one.state.StartedAt !== null)) for (const one of this.#of("poststart")) this.#begin(one);
  }

  #endOthers(failed: Runtime | undefined, leader: Runtime | undefined): void {
    const now = this.#tools.clock.now();
    for (const one of this.#tasks.values()) {
      if (one.state.State === "dead" || one.killing || one.task.Lifecycle?.Hook === "poststop") continue;
      const why = failed
        ? taskEvent("Sibling Task Failed", `Task's sibling "${failed.task.Name}" failed`, now, {
            failed_sibling: failed.task.Name,
          })
        : leader
          ? taskEvent("Leader Task Dead", "Leader Task in Group dead", now)
          : taskEvent("Main Tasks Dead", "Main tasks in the group died", now);
      one.state = withEvents(one.state, why);
      this.#kill(one);
    }
  }

  #begin(one: Runtime): void {
    if (one.started || one.killing || one.timer !== undefined || one.state.State !== "pending") return;
    one.timer = this.#tools.clock.setTimer(startup, () => this.#run(one));
  }

  #run(one: Runtime): void {
    const { clock, hook, logs, node } = this.#tools;
    const group = this.#group;
    if (this.#destroyed || one.killing || group === undefined) return;
    const now = clock.now();
    const env = taskEnv(this.#alloc, group, one.task, node(this.#alloc.NodeID));
    const behaviour = behaviourOf({ job: this.#alloc.Job, group, task: one.task, restarts: one.state.Restarts, env }, hook);
    one.behaviour = behaviour;
    one.started = true;
    one.timer = undefined;
    if (behaviour.startError !== undefined) {
      one.state = withEvents(
        one.state,
        taskEvent(
          "Driver Failure",
          behaviour.startError,
          now,
          { driver_error: behaviour.startError },
          { DriverError: behaviour.startError },
        ),
      );
      this.#after(one, false, now);
      return;
    }
    one.state = withEvents(
      { ...one.state, State: "running", StartedAt: rfc3339(now) },
      taskEvent("Started", "Task started by client", now),
    );
    logs.append(this.#alloc.ID, one.task.Name, behaviour.stdout, behaviour.stderr);
    if (behaviour.endsAfterMs !== undefined) {
      one.timer = clock.setTimer(Math.max(1, behaviour.endsAfterMs), () => {
        one.timer = undefined;
        const at = clock.now();
        one.state = withEvents(one.state, terminated(behaviour.exitCode, at));
        this.#after(one, behaviour.exitCode === 0, at);
      });
    }
    this.#advance();
  }

  /** A task ended by itself: again, or for good. */
  #after(one: Runtime, success: boolean, now: number): void {
    const decision = one.tracker.exited(success, now);
    if (decision.restart) {
      const wait = `Task restarting in ${goDurationText(decision.delay)}`;
      const text = decision.reason === "Restart within policy" ? wait : `${decision.reason} - ${wait}`;
      const details = { restart_reason: decision.reason, start_delay: String(decision.delay * 1e6) };
      one.state = withEvents(
        { ...one.state, State: "pending", Restarts: one.state.Restarts + 1, LastRestart: rfc3339(now) },
        taskEvent("Restarting", text, now, details, { RestartReason: decision.reason, StartDelay: decision.delay * 1e6 }),
      );
      one.timer = this.#tools.clock.setTimer(decision.delay, () => this.#run(one));
    } else if (decision.done) {
      one.state = { ...one.state, State: "dead", FinishedAt: rfc3339(now) };
    } else {
      const details = { restart_reason: decision.reason, fails_task: "true" };
      const event = taskEvent("Not Restarting", decision.reason, now, details, {
        FailsTask: true,
        RestartReason: decision.reason,
      });
      one.state = withEvents({ ...one.state, State: "dead", Failed: true, FinishedAt: rfc3339(now) }, event);
    }
    this.#advance();
  }

  #kill(one: Runtime): void {
    if (one.killing || one.state.State === "dead") return;
    one.killing = true;
    one.timer?.cancel();
    one.timer = undefined;
    const { clock } = this.#tools;
    const ran = one.state.State === "running";
    if (!ran) {
      one.state = { ...one.state, State: "dead", FinishedAt: rfc3339(clock.now()) };
      return;
    }
    const timeout = (one.task.KillTimeout ?? 5e9) / 1e6;
    const text = `Sent interrupt. Waiting ${goDurationText(timeout)} before force killing`;
    one.state = withEvents(
      one.state,
      taskEvent("Killing", text, clock.now(), { kill_timeout: goDurationText(timeout) }, { KillTimeout: timeout * 1e6 }),
    );
    const wait = Math.min(one.behaviour?.stopsAfterMs ?? 1, timeout) + (one.task.ShutdownDelay ?? 0) / 1e6;
    one.timer = clock.setTimer(wait, () => {
      const now = clock.now();
      const forced = (one.behaviour?.stopsAfterMs ?? 0) > timeout;
      one.state = withEvents(
        { ...one.state, State: "dead", FinishedAt: rfc3339(now) },
        terminated(forced ? 137 : 130, now, forced ? 9 : 2),
        taskEvent("Killed", "Task successfully killed", now),
      );
      this.#advance();
    });
  }

  #watchHealth(): void {
    this.#health?.stop();
    this.#health = undefined;
    const parameters = this.#healthParameters();
    if (parameters === undefined || this.#alloc.DeploymentStatus?.Healthy != null) return;
    this.#health = new HealthTracker(this.#tools.clock, parameters, (healthy, message) => {
      const now = this.#tools.clock.now();
      this.#verdict = { healthy, timestamp: rfc3339(now) };
      if (!healthy) {
        for (const one of this.#tasks.values()) {
          one.state = withEvents(one.state, taskEvent("Alloc Unhealthy", message, now, { message }, { Message: message }));
        }
      }
      this.#tools.changed(this);
    });
  }

  /** A deployment's allocation is judged by `update`, any other of a service by `migrate`. */
  #healthParameters(): HealthParameters | undefined {
    const { Type } = this.#alloc.Job;
    const update = groupOf(this.#alloc.Job, this.#alloc.TaskGroup)?.Update;
    if (Type !== "service" && Type !== "system") return undefined;
    if (this.#alloc.DeploymentID !== "") {
      if (!update || update.MaxParallel === 0 || update.HealthCheck === "manual") return undefined;
      return { minHealthyMs: update.MinHealthyTime / 1e6, deadlineMs: update.HealthyDeadline / 1e6 };
    }
    const migrate = this.#group?.Migrate;
    if (Type !== "service" || !migrate) return undefined;
    return { minHealthyMs: migrate.MinHealthyTime / 1e6, deadlineMs: migrate.HealthyDeadline / 1e6 };
  }

  #lookAtHealth(): void {
    if (this.#health === undefined || this.#stopping) return;
    this.#health.look(this.#liveness());
  }

  #liveness(): Liveness {
    let since = 0;
    for (const one of this.#tasks.values()) {
      const hook = one.task.Lifecycle?.Hook ?? "main";
      const finished = one.state.State === "dead";
      if (hook === "poststop" || (hook === "poststart" && finished && !one.state.Failed)) continue;
      if (one.state.Failed || (finished && hook !== "prestart")) return { kind: "failed" };
      if (one.state.State === "pending") return { kind: "waiting" };
      since = Math.max(since, Date.parse(one.state.StartedAt ?? "") || 0);
    }
    return since === 0 ? { kind: "waiting" } : { kind: "running", since };
  }
}

function terminated(code: number, now: number, signal = 0) {
  const text = signal === 0 ? `Exit Code: ${code}` : `Exit Code: ${code}, Signal: ${signal}`;
  const details = { exit_code: String(code), signal: String(signal), oom_killed: "false" };
  return taskEvent("Terminated", text, now, details, { ExitCode: code, Signal: signal });
}
