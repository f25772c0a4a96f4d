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
  if (reply.leader === false) {
    headers["x-nomad-knownleader"] = "false";
    headers["x-nomad-lastcontact"] = "0";
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

/** 307 to another address; only reads are told in a body. */
export function redirection(method: string, location: string): Reply {
  if (method !== "GET" && method !== "HEAD") return { status: 307, location };
  const shown = location.replaceAll("&", "&amp;").replaceAll('"', "&#34;").replaceAll("'", "&#39;");
  const text = method === "HEAD" ? "" : `<a href="${shown}">Temporary Redirect</a>.\n\n`;
  return { status: 307, text, type: "text/html; charset=utf-8", location };
}

/** The shortest path that says the same: without empty parts and dots. The last slash stays. */
export function cleanPath(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  const whole = `/${parts.join("/")}`;
  return path.endsWith("/") && whole !== "/" ? `${whole}/` : whole;
}

/** Errors are plain text; the body is the message. An unknown path has no body at all. */
export function refusalOf(error: Refusal): ApiResponse {
  const headers: Record<string, string> = { vary: "Accept-Encoding" };
  if (error.index !== undefined) headers["x-nomad-index"] = String(error.index);
  if (error.read) {
    headers["x-nomad-knownleader"] = "true";
    headers["x-nomad-lastcontact"] = "0";
  }
  if (error.message !== "") headers["content-type"] = "text/plain; charset=utf-8";
  return { status: error.status, headers, body: error.message };
}
