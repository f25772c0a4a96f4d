import type { Clock } from "../model/clock.ts";
import type { FactsPort, HooksPort, MovePort, NomadPort } from "./ports.ts";
import type { Wakes } from "./wakes.ts";

/** What running hooks needs of the world. */
export interface HooksDeps {
  readonly nomad: Pick<
    NomadPort,
    "plan" | "register" | "readJob" | "listAllocations" | "dispatch" | "findDispatched" | "stopJob" | "readLogTail"
  >;
  readonly store: Pick<FactsPort, "deployment" | "deploymentSpec" | "frozenHooks" | "hookRuns"> & MovePort & HooksPort;
  readonly clock: Clock;
  readonly wakes: Wakes;
  /** A deployment that used hook revisions came to an end in this namespace. */
  readonly onPhaseEnd: (namespace: string) => void;
}
