import type { Refusal } from "../refusal.ts";
import type { ApiResponse, Reply } from "./message.ts";

/** Makes the answer of a route: content type, index, leader (nomad-api §7.1, §11). */
export function answerOf(reply: Reply, pretty: boolean): ApiResponse {
  const headers: Record<string, string> = { vary: "Accept-Encoding" };
  if (reply.index !== undefined) headers["x-nomad-index"] = String(reply.index);
  if (reply.read) {
    headers["x-nomad-knownleader"] = "true";
    headers["x-nomad-lastcontact"] = "0";
    if (reply.nextToken) headers["x-nomad-nexttoken"] = reply.nextToken;
  }
  if (reply.location !== undefined) headers["location"] = reply.location;
  if (reply.text !== undefined) {
    headers["content-type"] = reply.type ?? "text/plain; charset=utf-8";
    return { status: reply.status ?? 200, headers, body: reply.text };
  }
  if (reply.json === undefined) return { status: reply.status ?? 200, headers, body: "" };
  headers["content-type"] = reply.type ?? "application/json";
  const body = pretty ? `${JSON.stringify(reply.json, null, 4)}\n` : JSON.stringify(reply.json);
  return { status: reply.status ?? 200, headers, body };
}

/** Errors are plain text; the body is the message. An unknown path has no body at all. */
export function refusalOf(error: Refusal): ApiResponse {
  const headers: Record<string, string> = { vary: "Accept-Encoding" };
  if (error.index !== undefined) headers["x-nomad-index"] = String(error.index);
  if (error.message !== "") headers["content-type"] = "text/plain; charset=utf-8";
  return { status: error.status, headers, body: error.message };
}
