import { nanos } from "../state/facts.ts";
import type { TaskEvent, TaskState } from "../state/types.ts";

/** Nomad keeps the last ten events of a task. */
const kept = 10;

/** A task's event, with the text that the command line and the UI show. `now` in milliseconds. */
export function taskEvent(
  type: string,
  display: string,
  now: number,
  details: Readonly<Record<string, string>> = {},
  more?: Readonly<Record<string, unknown>>,
): TaskEvent {
  const event: TaskEvent = {
    Type: type,
    Time: nanos(now),
    DisplayMessage: display,
    Message: "",
    Details: details,
    DiskLimit: 0,
    DownloadError: "",
    DriverError: "",
    DriverMessage: "",
    ExitCode: 0,
    FailedSibling: "",
    FailsTask: false,
    GenericSource: "",
    KillError: "",
    KillReason: "",
    KillTimeout: 0,
    RestartReason: "",
    SetupError: "",
    Signal: 0,
    StartDelay: 0,
    TaskSignal: "",
    TaskSignalReason: "",
    ValidationError: "",
    VaultError: "",
  };
  return more === undefined ? event : { ...event, ...more };
}

export function withEvents(state: TaskState, ...events: readonly TaskEvent[]): TaskState {
  return { ...state, Events: [...state.Events, ...events].slice(-kept) };
}

export const newTaskState: TaskState = {
  State: "pending",
  Failed: false,
  Restarts: 0,
  LastRestart: null,
  StartedAt: null,
  FinishedAt: null,
  Paused: "",
  Events: [],
};
