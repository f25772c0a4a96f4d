import { SECOND } from "./defaults.ts";
import { goDuration, goQuote, goQuoteList } from "./go-text.ts";
import { listErrors } from "./messages.ts";
import { flag, num, type Rec, str } from "./values.ts";

/** Restart policy of a group. */
export function restartProblems(policy: Rec): string[] {
  const problems: string[] = [];
  const [mode, attempts, interval, delay] = [
    str(policy, "Mode"),
    num(policy, "Attempts"),
    num(policy, "Interval"),
    num(policy, "Delay"),
  ];
  if (mode !== "delay" && mode !== "fail") problems.push(`Unsupported restart mode: ${goQuote(mode)}`);
  if (attempts === 0 && mode !== "fail") problems.push(`Restart policy ${goQuote(mode)} with ${attempts} attempts is ambiguous`);
  if (interval < 5 * SECOND) problems.push(`Interval can not be less than 5s (got ${goDuration(interval)})`);
  if (attempts * delay > interval) {
    problems.push(
      `Nomad can't restart the TaskGroup ${attempts} times in an interval of ${goDuration(interval)} with a delay of ${goDuration(delay)}`,
    );
  }
  return problems;
}

const DELAY_FUNCTIONS = ["constant", "exponential", "fibonacci"];
const MIN_DELAY = 5 * SECOND;
const MIN_INTERVAL = 15 * SECOND;

/** Reschedule policy of a group. */
export function rescheduleProblems(policy: Rec): string[] {
  const [attempts, interval, delay, maxDelay] = [
    num(policy, "Attempts"),
    num(policy, "Interval"),
    num(policy, "Delay"),
    num(policy, "MaxDelay"),
  ];
  const unlimited = flag(policy, "Unlimited");
  if (attempts <= 0 && !unlimited) return [];
  const problems: string[] = [];
  if (attempts > 0) {
    if (interval <= 0) problems.push("Interval must be a non zero value if Attempts > 0");
    if (unlimited) {
      problems.push(
        `Reschedule Policy with Attempts = ${attempts}, Interval = ${goDuration(interval)}, and Unlimited = true is ambiguous`,
        "If Attempts >0, Unlimited cannot also be set to true",
      );
    }
  }
  const delays = delayProblems(str(policy, "DelayFunction"), delay, maxDelay);
  problems.push(...delays);
  if (unlimited) return problems;
  if (interval < MIN_INTERVAL) problems.push(`Interval cannot be less than 15s (got ${goDuration(interval)})`);
  if (delays.length === 0) problems.push(...viabilityProblems(policy));
  return problems;
}

function delayProblems(shape: string, delay: number, maxDelay: number): string[] {
  const problems: string[] = [];
  if (delay < MIN_DELAY) problems.push(`Delay cannot be less than 5s (got ${goDuration(delay)})`);
  if (!DELAY_FUNCTIONS.includes(shape)) {
    problems.push(`Invalid delay function ${goQuote(shape)}, must be one of ${goQuoteList(DELAY_FUNCTIONS)}`);
  }
  if (shape === "constant") return problems;
  if (maxDelay < MIN_DELAY) problems.push(`Max Delay cannot be less than 5s (got ${goDuration(delay)})`);
  if (maxDelay < delay) problems.push(`Max Delay cannot be less than Delay ${goDuration(delay)} (got ${goDuration(maxDelay)})`);
  return problems;
}

interface Viability {
  readonly attempts: number;
  readonly interval: number;
}

/** Undefined when the attempts fit into the interval. */
function viable(policy: Rec): Viability | undefined {
  const [attempts, interval] = [num(policy, "Attempts"), num(policy, "Interval")];
  const [delay, maxDelay] = [num(policy, "Delay"), num(policy, "MaxDelay")];
  switch (str(policy, "DelayFunction")) {
    case "constant": {
      const needed = wrapped(BigInt(attempts) * BigInt(delay));
      return interval < needed ? { attempts: Math.floor(interval / delay), interval: needed } : undefined;
    }
    case "exponential":
      return exponential(attempts, interval, delay, maxDelay);
    default:
      return fibonacci(attempts, interval, delay, maxDelay);
  }
}

/** As numbers of the server wrap around where they grow too large. */
function wrapped(value: bigint): number {
  return Number(BigInt.asIntN(64, value));
}

/** 2^i, which from 2^63 on counts as the lowest number there is. */
function power(i: number): bigint {
  return i < 63 ? 1n << BigInt(i) : -(1n << 63n);
}

function exponential(attempts: number, interval: number, delay: number, maxDelay: number): Viability | undefined {
  let [possible, needed] = [0, 0];
  for (let i = 0; i < attempts; i++) {
    const next = i < 20 ? 2 ** i * delay : wrapped(power(i) * BigInt(delay));
    needed = next > maxDelay ? needed + maxDelay : next;
    if (needed < interval) possible++;
  }
  return possible < attempts ? { attempts: possible, interval: needed } : undefined;
}

function fibonacci(attempts: number, interval: number, delay: number, maxDelay: number): Viability | undefined {
  const [most, slots] = [BigInt(maxDelay), [BigInt(delay), BigInt(delay)]];
  let capped = false;
  for (let i = 2; i < attempts; i++) {
    const [last = 0n, before = 0n] = [slots[i - 1], slots[i - 2]];
    let next = BigInt.asIntN(64, last + (capped ? most : before));
    if (!capped && next > most) [next, capped] = [most, true];
    slots.push(next);
  }
  const needed = Number(slots.at(-1));
  if (interval >= needed) return undefined;
  return {
    attempts: Math.max(
      0,
      slots.findIndex((slot) => slot > interval),
    ),
    interval: needed,
  };
}

function viabilityProblems(policy: Rec): string[] {
  const found = viable(policy);
  if (found === undefined) return [];
  const shape = str(policy, "DelayFunction");
  const [interval, delay] = [goDuration(num(policy, "Interval")), goDuration(num(policy, "Delay"))];
  const base = `Nomad can only make ${found.attempts} attempts in ${interval} with initial delay ${delay}`;
  const rounded = goDuration(Math.round(found.interval / SECOND) * SECOND);
  return [
    shape === "constant"
      ? `${base} and delay function ${goQuote(shape)}`
      : `${base}, delay function ${goQuote(shape)}, and delay ceiling ${goDuration(num(policy, "MaxDelay"))}`,
    `Set the interval to at least ${rounded} to accommodate ${num(policy, "Attempts")} attempts`,
  ];
}

const HEALTH_CHECKS = new Set(["checks", "task_states", "manual"]);

/** Update strategy of a group. */
export function updateProblems(update: Rec): string[] {
  const problems: string[] = [];
  const [parallel, canary] = [num(update, "MaxParallel"), num(update, "Canary")];
  const [healthy, deadline, progress] = [
    num(update, "MinHealthyTime"),
    num(update, "HealthyDeadline"),
    num(update, "ProgressDeadline"),
  ];
  const say = (bad: boolean, text: string) => {
    if (bad) problems.push(text);
  };
  say(!HEALTH_CHECKS.has(str(update, "HealthCheck")), `Invalid health check given: ${goQuote(str(update, "HealthCheck"))}`);
  say(parallel < 0, `Max parallel can not be less than zero: ${parallel} < 0`);
  say(canary < 0, `Canary count can not be less than zero: ${canary} < 0`);
  say(canary === 0 && flag(update, "AutoPromote"), "Auto Promote requires a Canary count greater than zero");
  say(healthy < 0, `Minimum healthy time may not be less than zero: ${goDuration(healthy)}`);
  say(deadline <= 0, `Healthy deadline must be greater than zero: ${goDuration(deadline)}`);
  say(progress < 0, `Progress deadline must be zero or greater: ${goDuration(progress)}`);
  say(
    healthy >= deadline,
    `Minimum healthy time must be less than healthy deadline: ${goDuration(healthy)} > ${goDuration(deadline)}`,
  );
  say(
    progress !== 0 && deadline >= progress,
    `Healthy deadline must be less than progress deadline: ${goDuration(deadline)} > ${goDuration(progress)}`,
  );
  say(num(update, "Stagger") <= 0, `Stagger must be greater than zero: ${goDuration(num(update, "Stagger"))}`);
  return problems;
}

/** Migrate strategy of a group. */
export function migrateProblems(migrate: Rec): string[] {
  const problems: string[] = [];
  const [parallel, check] = [num(migrate, "MaxParallel"), str(migrate, "HealthCheck")];
  const [healthy, deadline] = [num(migrate, "MinHealthyTime"), num(migrate, "HealthyDeadline")];
  if (parallel < 0) problems.push(`MaxParallel must be >= 0 but found ${parallel}`);
  if (check === "" && parallel > 0) problems.push("Missing HealthCheck");
  if (check !== "" && check !== "checks" && check !== "task_states") problems.push(`Invalid HealthCheck: ${goQuote(check)}`);
  if (healthy < 0) problems.push(`MinHealthyTime is ${goDuration(healthy)} and must be >= 0`);
  if (deadline < 0) problems.push(`HealthyDeadline is ${goDuration(deadline)} and must be >= 0`);
  if (healthy > deadline) problems.push("MinHealthyTime must be less than HealthyDeadline");
  return problems;
}

const RECONCILE = new Set(["", "best_score", "longest_running", "keep_original", "keep_replacement"]);

/** Disconnect strategy of a group. */
export function disconnectProblems(disconnect: Rec, jobType: string): string[] {
  const problems: string[] = [];
  const stop = disconnect["StopOnClientAfter"];
  if (typeof stop === "number") {
    if (stop < 0) problems.push("stop_after cannot be a negative duration");
    if (jobType !== "service" && jobType !== "batch") {
      problems.push("stop_after can only be used with service or batch job types");
    }
  }
  if (num(disconnect, "LostAfter") < 0) problems.push("lost_after cannot be a negative duration");
  if (typeof stop === "number" && num(disconnect, "LostAfter") !== 0) {
    problems.push("Disconnect cannot be configured with both lost_after and stop_after");
  }
  if (!RECONCILE.has(str(disconnect, "Reconcile"))) problems.push(`reconcile option is invalid: ${str(disconnect, "Reconcile")}`);
  return problems;
}

/** Several problems as one, none as none. */
export function nested(problems: readonly string[]): string[] {
  return problems.length === 0 ? [] : [listErrors(problems)];
}

/** The same under a heading. */
export function headed(heading: string, problems: readonly string[]): string[] {
  return problems.length === 0 ? [] : [`${heading}: ${listErrors(problems)}`];
}
