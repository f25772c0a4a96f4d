import { type JobKey, jobKey } from "../model/job-key.ts";

/** Topics that tell about jobs (nomad-api §8). */
export const WATCHED_TOPICS = ["Job", "Allocation", "Evaluation", "Deployment"] as const;
export type WatchedTopic = (typeof WATCHED_TOPICS)[number];

/** Something about a job changed. */
export interface JobSignal {
  readonly kind: "job";
  readonly key: JobKey;
  readonly index: number;
  readonly topic: WatchedTopic;
  /** Topic Job only: the job's index as the event tells it, 0 when it was purged. */
  readonly jobModifyIndex?: number;
  /** Set for a child of a periodic or parameterized job, when the event tells. */
  readonly parentId?: string;
}

/** One line of the stream. */
export type Frame =
  | { readonly kind: "heartbeat" }
  | { readonly kind: "events"; readonly index: number; readonly signals: readonly JobSignal[] };

interface RawEvent {
  readonly Topic?: string;
  readonly Key?: string;
  readonly Namespace?: string;
  readonly Index?: number;
  readonly FilterKeys?: readonly string[] | null;
  readonly Payload?: Readonly<Record<string, RawPayload | undefined>> & { readonly Deleted?: boolean };
}

interface RawPayload {
  readonly ID?: string;
  readonly JobID?: string;
  readonly Namespace?: string;
  readonly JobModifyIndex?: number;
  readonly ParentID?: string;
}

/**
 * Reads one line. Judged by topic, never by type, which names the raft message and not the thing (nomad-api §8).
 * Several events of one topic about one job become one signal, the last. Other topics are passed over.
 * @throws SyntaxError or TypeError for a line that is no frame.
 */
export function parseFrame(text: string): Frame {
  const frame = JSON.parse(text) as { readonly Index?: number; readonly Events?: readonly RawEvent[] | null } | null;
  if (frame === null || typeof frame !== "object" || Array.isArray(frame)) throw new TypeError("no event frame");
  const { Index, Events } = frame;
  if (typeof Index !== "number") return { kind: "heartbeat" };
  const signals = new Map<string, JobSignal>();
  for (const event of Events ?? []) {
    const signal = signalOf(event, Index);
    if (signal !== undefined) signals.set(`${signal.topic} ${signal.key}`, signal);
  }
  return { kind: "events", index: Index, signals: [...signals.values()] };
}

function signalOf(event: RawEvent, frameIndex: number): JobSignal | undefined {
  const topic = WATCHED_TOPICS.find((name) => name === event.Topic);
  if (topic === undefined) return undefined;
  const payload = event.Payload?.[topic];
  const namespace = event.Namespace || payload?.Namespace;
  const jobId = topic === "Job" ? event.Key : (payload?.JobID ?? event.FilterKeys?.[0]);
  if (!namespace || !jobId) return undefined;
  const base = { kind: "job", key: jobKey(namespace, jobId), index: event.Index ?? frameIndex, topic } as const;
  if (topic !== "Job") return base;
  const index = event.Payload?.Deleted === true ? 0 : payload?.JobModifyIndex;
  return {
    ...base,
    ...(index === undefined ? {} : { jobModifyIndex: index }),
    ...(payload?.ParentID ? { parentId: payload.ParentID } : {}),
  };
}
