/** What of an answer must be the same on both servers. */
import { normalValue } from "../normal.ts";
import type { RawAnswer, Request } from "./ask.ts";
import type { Book } from "./book.ts";

export interface View {
  readonly status: number;
  readonly type: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

const uuid = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** Headers that say something; those with numbers that no two servers share are told apart by whether they are 0. */
const exact = ["x-nomad-knownleader", "location"];
const numeric = ["x-nomad-index", "x-nomad-lastcontact"];

/** `request` is what this server was asked. */
export function viewOf(answer: RawAnswer, request: Request, book: Book): View {
  const type = answer.headers["content-type"] ?? "";
  const named = masked(answer.body).replace(uuid, (id) => book.nameOf(id));
  return { status: answer.status, type, headers: headersOf(answer, request), body: bodyOf(named, request) };
}

/** What belongs to one server or to its clients, which are silent here: hashes, its address, what a client noticed. */
function masked(body: string): string {
  return body
    .replace(/"Hash":\s*"[A-Za-z0-9+/]{43}="/g, '"Hash":"<hash>"')
    .replace(/"UpdateTime":\s*"[^"]*"/g, '"UpdateTime":null')
    .replace(/"IdentitySigningKeyID":\s*"[^"]*"/g, '"IdentitySigningKeyID":null')
    .replace(/"NetworkStatus":\s*\{[^}]*\}/g, '"NetworkStatus":null')
    .replace(/"v1:\d+"/g, '"<class>"')
    .replace(/"127\.0\.0\.1:\d+"/g, '"<address>"');
}

function headersOf({ headers }: RawAnswer, { path }: Request): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of exact) if (headers[name] !== undefined) found[name] = headers[name];
  for (const name of numeric) {
    const value = headers[name];
    if (value !== undefined) found[name] = value === "0" ? "0" : "<number>";
  }
  const [, asked = ""] = path.split("?");
  const { location } = found;
  if (location !== undefined && asked !== "") found["location"] = location.replace(`?${asked}`, "?<the same>");
  const next = headers["x-nomad-nexttoken"];
  if (next !== undefined) found["x-nomad-nexttoken"] = next.replace(/^\d+(?=\.|$)/, "<index>").replace(uuid, "<id>");
  return found;
}

function bodyOf(text: string, request: Request): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return normalValue(
      text.replace(/(<a href="[^"?]*)\?[^"]*/, "$1?<the same>").replace(/\b(index:?|Index) \d+/g, "$1 <index>"),
      "",
    );
  }
  forgetPlaces(value);
  if (request.unordered) return sortedDeep(normalValue(value, ""));
  if (!Array.isArray(value)) return normalValue(value, "");
  return ties(value).flatMap((tie) => sorted(tie.map((one) => normalValue(one, ""))));
}

/** What depends on what the nodes are: allocations of system jobs do not say the pool they were placed in, others do. */
function forgetPlaces(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  for (const [key, one] of Object.entries(value)) {
    if (key === "Metrics" && one !== null) delete (one as { NodePool?: string }).NodePool;
    // Of processors a server works out more than a node told it.
    if (key === "NodeResources" && one !== null) delete (one as { Processors?: unknown }).Processors;
    forgetPlaces(one);
  }
}

/** Rows in a row that were made by one write stand in the order of their random ids. */
function ties(rows: readonly unknown[]): unknown[][] {
  const found: unknown[][] = [];
  let last: unknown;
  for (const row of rows) {
    const index = (row as { readonly CreateIndex?: number } | null)?.CreateIndex;
    if (index !== undefined && index === last) found.at(-1)?.push(row);
    else found.push([row]);
    last = index;
  }
  return found;
}

function sorted(values: readonly unknown[]): unknown[] {
  const name = (value: unknown) => (value as { readonly ID?: string } | null)?.ID ?? "";
  const texts = values.map((value) => [`${name(value)} ${JSON.stringify(value) ?? ""}`, value] as const);
  return texts.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, value]) => value);
}

function sortedDeep(value: unknown): unknown {
  if (Array.isArray(value)) return sorted(value.map(sortedDeep));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, sortedDeep(one)]));
}
