import { permissionDenied, Refusal } from "../refusal.ts";
import { allow } from "./input.ts";
import type { Call, Reply } from "./message.ts";
import { checkId } from "./page.ts";
import type { Service } from "./service.ts";

/** Bytes of one frame. */
const frameSize = 65_536;

/** `GET /v1/client/fs/logs/:alloc`: the text a simulated task printed, plain or in frames (nomad-api §17). */
export function logs(service: Service, call: Call, [id = ""]: readonly string[]): Reply {
  allow(call, "GET");
  const { query } = call.request;
  const [task, type] = [query.get("task") ?? "", query.get("type") ?? ""];
  if (id === "") throw new Refusal(400, "must provide a valid alloc id");
  if (task === "") throw new Refusal(400, "must provide task name");
  if (type !== "stdout" && type !== "stderr") throw new Refusal(400, "must provide log type (stdout/stderr)");
  const origin = query.get("origin") ?? "start";
  if (origin !== "start" && origin !== "end") throw new Refusal(400, "origin must be start or end");
  const offset = Number(query.get("offset") ?? "0");
  if (!Number.isInteger(offset))
    throw new Refusal(400, `error parsing offset: strconv.ParseInt: parsing "${query.get("offset")}": invalid syntax`);
  checkId(id, "alloc lookup failed");
  const alloc = service.state.allocs.get(id);
  if (alloc === undefined) throw new Refusal(404, `Unknown allocation "${id}"`);
  if (!call.access.ns(alloc.Namespace, "read-logs", "read-fs")) throw permissionDenied();
  const state = alloc.TaskStates?.[task];
  if (state === undefined) throw new Refusal(400, `unknown task name "${task}"`);
  if (state.StartedAt === null) throw new Refusal(404, `task "${task}" not started yet. No logs available`);
  const bytes = Buffer.from(service.clients.logs.read(id, task)?.[type] ?? "");
  const start = origin === "end" ? Math.max(0, bytes.length - offset) : Math.min(offset, bytes.length);
  const part = bytes.subarray(start);
  if (["true", "1", "t"].includes(query.get("plain") ?? "")) return { text: part.toString("utf8"), type: "text/plain" };
  const frames: string[] = [];
  for (let at = 0; at < part.length; at += frameSize) {
    const slice = part.subarray(at, at + frameSize);
    frames.push(
      JSON.stringify({ Data: slice.toString("base64"), File: `alloc/logs/${task}.${type}.0`, Offset: start + at + slice.length }),
    );
  }
  return { text: frames.join(""), type: "application/json" };
}
