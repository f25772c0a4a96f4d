import type { Frame, Subscription, Topics } from "../events/broker.ts";
import { Refusal } from "../refusal.ts";
import { allow } from "./input.ts";
import type { ApiRequest, Call, Reply } from "./message.ts";
import type { Service } from "./service.ts";

/** Where the lines of a stream go. */
export interface LineSink {
  /** Takes a line; false when the receiver is slow. */
  write(line: string): boolean;
  /** The server ends the stream. */
  end(): void;
}

const heartbeatMs = 30_000;

const jobTopics = ["Job", "Allocation", "Evaluation", "Deployment", "Service", "HostVolume", "CSIVolume"];

/** Topics and start of a request. Throws Refusal (400), the only refusal that is seen; all others are 200 and the end (nomad-api §8). */
export function streamQuery(request: ApiRequest): { topics: Topics; index: number } {
  const { query } = request;
  const text = query.get("index") ?? "";
  if (text !== "" && !/^[+-]?\d+$/.test(text)) {
    throw new Refusal(400, `Unable to parse index: strconv.Atoi: parsing "${text}": invalid syntax`);
  }
  const topics = new Map<string, string[]>();
  for (const topic of query.getAll("topic")) {
    const parts = topic.split(":");
    if (parts.length > 2) {
      throw new Refusal(400, `Invalid topic query: error parsing topics: Invalid key value pair for topic, topic: ${topic}`);
    }
    const [name = "", key = "*"] = parts;
    topics.set(name, [...(topics.get(name) ?? []), key === "" ? "*" : key]);
  }
  if (topics.size === 0) topics.set("*", ["*"]);
  return { topics, index: text === "" ? 0 : Number(text) };
}

/** Whether the sender may hear all these topics (nomad-api §8). */
export function mayListen(service: Service, call: Call, topics: Topics): boolean {
  const { access, namespace } = call;
  const scopes = namespace === "*" ? [...service.state.namespaces.rows.keys()] : [namespace];
  return [...topics.keys()].every((topic) => {
    if (jobTopics.includes(topic)) return scopes.every((one) => access.ns(one, "read-job"));
    if (topic === "Node") return access.node("read");
    if (topic === "Operator") return access.operator("read");
    if (topic === "Variable") return scopes.every((one) => access.variable(one, "*", "list"));
    return access.management;
  });
}

/** Sends events to a sink until it is cancelled or the server ends it. Without rights it ends before the first line. */
export function openStream(service: Service, call: Call, sink: LineSink): Subscription {
  const { topics, index } = streamQuery(call.request);
  const nothing: Subscription = { resume: () => {}, cancel: () => {} };
  if (!mayListen(service, call, topics)) {
    sink.end();
    return nothing;
  }
  sink.write("{}\n");
  let timer = service.clock.setTimer(heartbeatMs, beat);
  function beat(): void {
    sink.write("{}\n");
    timer = service.clock.setTimer(heartbeatMs, beat);
  }
  const subscription = service.broker.subscribe(
    {
      topics,
      namespace: call.namespace,
      send: (frame: Frame) => sink.write(`${JSON.stringify(frame)}\n`),
      closed: () => {
        timer.cancel();
        sink.end();
      },
    },
    index,
  );
  return {
    resume: () => subscription.resume(),
    cancel: () => {
      timer.cancel();
      subscription.cancel();
    },
  };
}

/** What a stream would send at once, for callers that have no socket to keep open. */
export function bufferedEvents(service: Service, call: Call): Reply {
  allow(call, "GET");
  const lines: string[] = [];
  const sink: LineSink = {
    write: (line) => {
      lines.push(line);
      return true;
    },
    end: () => {},
  };
  openStream(service, call, sink).cancel();
  return { text: lines.join(""), type: "application/json" };
}
