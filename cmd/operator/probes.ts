/** Liveness, readiness and metrics (reliability §5). */
import type { Probes } from "../../api/ports.ts";
import type { Operator } from "../../controllers/operator.ts";
import type { Clock, Timer } from "../../model/clock.ts";
import { messageWithHint } from "../../model/errors.ts";
import type { Store } from "../../store/open.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import { version } from "../version.ts";
import type { NomadContact } from "./nomad-contact.ts";
import type { SecretFile } from "./secret-file.ts";

const probeEveryMs = 10_000;
/** The database must have taken a write within this time. */
const freshMs = 30_000;

export interface ProbeParts {
  readonly store: Store;
  readonly operator: Operator;
  readonly contact: NomadContact;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly metricsToken: SecretFile | undefined;
  readonly isStopping: () => boolean;
}

/** Writes to the database on a timer, so that a probe costs a request nothing and a broken disk is found by itself. */
export function createProbes(parts: ProbeParts): Probes & { readonly broken: Promise<Error>; stop(): void } {
  const { store, operator, contact, clock } = parts;
  let lastWriteAt = clock.now();
  let timer: Timer | undefined;
  let stopped = false;
  let reportBroken: (error: Error) => void = () => undefined;
  const broken = new Promise<Error>((resolve) => {
    reportBroken = resolve;
  });
  const probe = async (): Promise<void> => {
    try {
      await store.probe();
      lastWriteAt = clock.now();
    } catch (error) {
      const health = await store.health().catch(() => undefined);
      if (health?.broken !== undefined) reportBroken(error as Error);
    }
    if (!stopped) timer = clock.setTimer(probeEveryMs, () => void probe());
  };
  timer = clock.setTimer(probeEveryMs, () => void probe());
  return {
    broken,
    stop: () => {
      stopped = true;
      timer?.cancel();
    },
    version,
    healthy: () => Promise.resolve(clock.now() - lastWriteAt <= freshMs + probeEveryMs),
    ready: async () => {
      const reasons = parts.isStopping() ? { process: "nops is stopping" } : await reasonsOf(operator, contact);
      return { ready: Object.keys(reasons).length === 0, reasons };
    },
    metrics: () => parts.metrics.render(),
    metricsToken: () => parts.metricsToken?.read(),
  };
}

/** What is missing before nops does its work, by name (design D36). */
async function reasonsOf(operator: Operator, contact: NomadContact): Promise<Record<string, string>> {
  const { error } = contact;
  const nomad = error === undefined ? {} : { nomad: error };
  try {
    return { ...nomad, ...(await operator.status()).notReady };
  } catch (failure) {
    // All that the status reads is the database.
    return { ...nomad, database: messageWithHint(failure) };
  }
}
