import type { ApiResponse } from "../http/message.ts";
import type { PlainRequest, Simulator } from "../server.ts";
import { at, decode, drop, fill, holds, normalize, sortBy, type Vars, withoutEmpty } from "./view.ts";

export interface Step {
  readonly id: string;
  readonly kind?: string;
  readonly method?: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly until?: Readonly<Record<string, unknown>>;
  readonly untilStatus?: number;
  readonly where?: Readonly<Record<string, unknown>>;
  readonly sort?: readonly string[];
  readonly pick?: readonly string[];
  readonly drop?: readonly string[];
  readonly capture?: Readonly<Record<string, string>>;
  readonly exact?: boolean;
  readonly anyIndex?: boolean;
  readonly timeoutMs?: number;
  readonly recorded?: unknown;
}

export interface Scenario {
  readonly name: string;
  readonly needs?: string;
  readonly vars?: Vars;
  readonly steps: readonly Step[];
}

export interface Played {
  readonly id: string;
  readonly recorded: unknown;
  readonly got: unknown;
}

/** Milliseconds of the virtual clock between two looks. */
const glance = 25;

/** Plays a recorded scenario on a simulator with a virtual clock, which goes on only while a step waits. */
export async function play(simulator: Simulator, scenario: Scenario): Promise<Played[]> {
  const vars: Vars = { ...scenario.vars };
  const played: Played[] = [];
  for (const step of scenario.steps) {
    // Between two requests of a client a real server finds time to process evaluations.
    simulator.advance(glance);
    const got = step.kind === "stream" ? await listen(simulator, step, vars) : await ask(simulator, step, vars);
    if (step.recorded !== undefined) played.push({ id: step.id, recorded: step.recorded, got });
  }
  return played;
}

function requestOf(step: Step, vars: Vars): PlainRequest {
  const body = fill(step.body, vars);
  return {
    method: step.method ?? "GET",
    path: fill(step.path, vars),
    headers: fill(step.headers ?? {}, vars),
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  };
}

/** Sends a request and lets time pass until it is answered: blocking queries wait on the same clock. */
async function answered(simulator: Simulator, request: PlainRequest): Promise<ApiResponse> {
  let response: ApiResponse | undefined;
  const pending = simulator.request(request).then((one) => {
    response = one;
  });
  for (let i = 0; response === undefined && i < 20_000; i++) {
    await settle();
    if (response === undefined) simulator.advance(glance);
  }
  await pending;
  if (response === undefined) throw new Error(`no answer to ${request.method} ${request.path}`);
  return response;
}

/** Lets promises that are ready go on. Parsing loads its grammar from a file, so that one turn of the loop is not enough. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function ask(simulator: Simulator, step: Step, vars: Vars): Promise<unknown> {
  const request = requestOf(step, vars);
  let response = await answered(simulator, request);
  const end = simulator.clock.now() + (step.timeoutMs ?? 30_000);
  while (step.until !== undefined && !reached(step, response, vars) && simulator.clock.now() < end) {
    simulator.advance(glance);
    response = await answered(simulator, request);
  }
  const seen = view(step, response, vars);
  const body = decode(response.body);
  for (const [name, path] of Object.entries(step.capture ?? {})) {
    const sorted = step.sort !== undefined && Array.isArray(body) ? sortBy(body, step.sort) : body;
    const value = path === "header:index" ? Number(response.headers["x-nomad-index"]) : at(sorted, path);
    if (value !== undefined) vars[name] = value;
  }
  return seen;
}

function reached(step: Step, response: ApiResponse, vars: Vars): boolean {
  const body = decode(response.body);
  const where = step.where;
  const target = where !== undefined && Array.isArray(body) ? body.filter((one) => holds(one, fill(where, vars))) : body;
  return response.status === (step.untilStatus ?? 200) && holds(target, fill(step.until ?? {}, vars));
}

function picked(value: unknown, paths: readonly string[]): unknown {
  return Object.fromEntries(paths.map((path) => [path, at(value, path)]));
}

/** What of an answer is compared. */
function view(step: Step, response: ApiResponse, vars: Vars): unknown {
  let value = decode(response.body);
  const { where, sort, pick } = step;
  if (where !== undefined && Array.isArray(value)) value = value.filter((one) => holds(one, fill(where, vars)));
  if (sort !== undefined && Array.isArray(value)) value = sortBy(value, sort);
  if (pick !== undefined) {
    if (Array.isArray(value)) value = value.map((one) => picked(one, pick));
    else if (typeof value !== "string") value = picked(value, pick);
  }
  if (step.drop !== undefined) value = drop(value, new Set(step.drop));
  value = normalize(value, vars);
  const index = response.headers["x-nomad-index"];
  return {
    status: response.status,
    type: (response.headers["content-type"] ?? "").split(";")[0],
    body: step.exact === true ? value : withoutEmpty(value),
    ...(index === undefined || step.anyIndex === true ? {} : { index: normalize(Number(index), vars, "Index") }),
  };
}

/** Listens to the event stream for as long as the step says. */
async function listen(simulator: Simulator, step: Step, vars: Vars): Promise<unknown> {
  const events: unknown[] = [];
  const { method: _, body: __, ...request } = requestOf(step, vars);
  const stream = simulator.stream(request, (line) => {
    const frame = decode(line) as { Events?: readonly unknown[] };
    events.push(...(frame.Events ?? []));
  });
  for (let waited = 0; waited < (step.timeoutMs ?? 10_000); waited += 100) {
    simulator.advance(100);
    await settle();
  }
  stream.close();
  const wanted = events.filter((event) => step.where === undefined || holds(event, step.where));
  const seen = wanted.map((event) => normalize(picked(event, step.pick ?? []), vars));
  const changes = seen.filter((event, i) => i === 0 || JSON.stringify(event) !== JSON.stringify(seen[i - 1]));
  return { status: 200, body: withoutEmpty(changes) };
}
