import type { Fault, FaultKind } from "../faults.ts";
import { Refusal } from "../refusal.ts";
import { allow, bodyOf, field, number, text } from "./input.ts";
import type { Call, Reply } from "./message.ts";
import type { Service } from "./service.ts";

const kinds: readonly FaultKind[] = ["drop_before", "drop_after", "truncate", "status", "status_after", "delay"];

/**
 * `/v1/simulator/…`, only with `control`: faults can be listed, added, removed and cleared; nodes lost and brought back; garbage
 * collected.
 */
export function control(service: Service, call: Call, [path = ""]: readonly string[]): Reply {
  if (!service.control) throw new Refusal(404, "");
  const { faults } = service;
  if (path === "faults") {
    allow(call, "GET", "PUT", "POST", "DELETE");
    if (call.request.method === "DELETE") faults.clear();
    if (call.request.method === "PUT" || call.request.method === "POST")
      return { json: { id: faults.add(faultOf(bodyOf(call.request))) } };
    return { json: { faults: faults.list(), phantom_dispatch: faults.phantomDispatch, skip_events: faults.skipEvents } };
  }
  const one = /^faults\/(\d+)$/.exec(path);
  if (one !== null) {
    allow(call, "DELETE");
    faults.remove(Number(one[1]));
    return { json: {} };
  }
  if (path === "chances") {
    allow(call, "PUT", "POST");
    const body = bodyOf(call.request);
    faults.phantomDispatch = number(body, "phantom_dispatch");
    faults.skipEvents = number(body, "skip_events");
    return { json: {} };
  }
  const node = /^node\/([^/]+)\/(lose|return)$/.exec(path);
  if (node !== null) {
    allow(call, "PUT", "POST");
    service.setNodeSilent(node[1] ?? "", node[2] === "lose");
    return { json: {} };
  }
  throw new Refusal(404, "");
}

function faultOf(body: Readonly<Record<string, unknown>>): Fault {
  const kind = kinds.find((name) => name === text(body, "kind"));
  if (kind === undefined) throw new Refusal(400, `kind must be one of ${kinds.join(", ")}`);
  const maybe = (name: string) => {
    const value = field(body, name);
    return typeof value === "number" ? value : undefined;
  };
  const word = (name: string) => (text(body, name) === "" ? undefined : text(body, name));
  return {
    kind,
    method: word("method"),
    path: word("path"),
    probability: maybe("probability"),
    skip: maybe("skip"),
    times: maybe("times"),
    status: maybe("status"),
    text: word("text"),
    delayMs: maybe("delay_ms"),
  };
}
