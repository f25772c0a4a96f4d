import { compileFilter } from "../filter/evaluate.ts";
import { FilterError } from "../filter/peg.ts";
import { Refusal } from "../refusal.ts";
import type { ApiRequest } from "./message.ts";

export interface Page<Row> {
  readonly rows: Row[];
  readonly nextToken: string;
}

/** How the rows of a list are paged and filtered. */
export interface Paging<Row> {
  /** The Go type of what is filtered; without it a filter is not looked at. */
  readonly type?: string;
  /** What a filter sees of a row, where that is not the row. */
  readonly filtered?: (row: Row) => unknown;
  /** A row's place in the list. */
  readonly tokenOf: (row: Row) => string;
  /** Order of a place and the one that was asked for. */
  readonly compare?: (token: string, wanted: string) => number;
  /** Whom the sender may not see is left out after the filter, which may fail on it before. */
  readonly visible?: (row: Row) => boolean;
  /** The rows have one order only, which `reverse` does not turn round. */
  readonly fixed?: boolean;
  /** Status of a filter that cannot be read or applied. */
  readonly refusal?: number;
}

/**
 * Filters and cuts a list (nomad-api §7.2). `rows` come in the order of the answer without `reverse`. The next page's token is the
 * place of its first row. Throws Refusal (400) for a bad filter.
 */
export function paginate<Row>(request: ApiRequest, rows: readonly Row[], paging: Paging<Row>): Page<Row> {
  const { query } = request;
  const { tokenOf, compare = byText, visible = () => true, filtered = (row) => row, refusal = 400 } = paging;
  const limit = Number(query.get("per_page") ?? "");
  const reverse = query.get("reverse") === "true";
  const start = query.get("next_token") ?? "";
  const matches = filterOf(query.get("filter") ?? "", paging.type, refusal);
  const found: Row[] = [];
  for (const row of reverse && !paging.fixed ? [...rows].reverse() : rows) {
    if (start !== "" && found.length === 0) {
      const order = compare(tokenOf(row), start);
      if (reverse ? order > 0 : order < 0) continue;
    }
    if (!matches(filtered(row)) || !visible(row)) continue;
    if (limit !== 0 && found.length + 1 > limit) return { rows: limit < 0 ? [] : found, nextToken: tokenOf(row) };
    found.push(row);
  }
  return { rows: found, nextToken: "" };
}

function filterOf(expression: string, type: string | undefined, status: number): (row: unknown) => boolean {
  if (expression === "" || type === undefined) return () => true;
  try {
    const compiled = compileFilter(expression, type);
    return (row) => {
      try {
        return compiled(row);
      } catch (error) {
        if (error instanceof FilterError) throw new Refusal(status, `failed to read result page: ${error.message}`);
        throw error;
      }
    };
  } catch (error) {
    if (error instanceof FilterError) {
      throw new Refusal(status, `failed to create result paginator: failed to read filter expression: ${error.message}`);
    }
    throw error;
  }
}

/** Plain order of texts. */
function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Order of `<index>.<id>` tokens; of texts, where the wanted one is none. */
function byIndexToken(token: string, wanted: string): number {
  const found = /^([+-]?\d+)\.(.*)$/s.exec(wanted);
  if (found === null) return byText(token, wanted);
  const at = token.indexOf(".");
  const difference = BigInt(token.slice(0, at)) - BigInt.asUintN(64, BigInt(found[1] ?? "0"));
  if (difference !== 0n) return difference < 0n ? -1 : 1;
  return byText(token.slice(at + 1), found[2] ?? "");
}

interface Created {
  readonly ID: string;
  readonly Namespace: string;
  readonly CreateIndex: number;
}

/** Rows of a namespace, or of all, whose ids begin so: by id where a beginning is wanted, else in the order in which they were made. */
export function byCreation<Row extends Created>(rows: Iterable<Row>, prefix: string, namespace: string): Row[] {
  const own = [...rows].filter((row) => row.ID.startsWith(prefix) && (namespace === "*" || row.Namespace === namespace));
  return own.sort((a, b) => (prefix === "" ? a.CreateIndex - b.CreateIndex : 0) || byText(a.ID, b.ID));
}

/** The places of rows in such a list. */
export function tokensOf(prefix: string): Pick<Paging<Created>, "tokenOf" | "compare"> {
  if (prefix !== "") return { tokenOf: (row) => row.ID };
  return { tokenOf: (row) => `${row.CreateIndex}.${row.ID}`, compare: byIndexToken };
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Refuses an id that is no UUID, in the words of the state store. Throws Refusal (500). */
export function checkId(id: string, what: string): void {
  const refuse = (why: string) => new Refusal(500, `${what === "" ? "" : `${what}: `}index error: ${why}`);
  if (id.length !== 36) throw refuse("UUID must be 36 characters");
  if (!uuid.test(id)) checkHex(id, refuse);
}

/** Refuses the beginning of an id that no UUID begins with. Throws Refusal (500). */
export function checkPrefix(prefix: string, what: string): void {
  const refuse = (why: string) => new Refusal(500, `${what === "" ? "" : `${what}: `}index error: ${why}`);
  if (prefix.length > 36) throw refuse(`Invalid UUID length. UUID have 36 characters; got ${prefix.length}`);
  checkHex(prefix, refuse);
}

function checkHex(text: string, refuse: (why: string) => Refusal): void {
  const hyphens = text.split("-").length - 1;
  if (hyphens > 4) throw refuse(`UUID should have maximum of 4 "-"; got ${hyphens}`);
  const digits = text.replaceAll("-", "");
  if (Buffer.byteLength(digits) % 2 !== 0) throw refuse("Input (without hyphens) must be even length");
  const odd = [...Buffer.from(digits)].find((byte) => !/^[0-9a-fA-F]$/.test(String.fromCharCode(byte)));
  if (odd === undefined) return;
  const name = `U+${odd.toString(16).toUpperCase().padStart(4, "0")}`;
  throw refuse(
    `Invalid UUID: encoding/hex: invalid byte: ${name}${odd < 127 && odd > 31 ? ` '${String.fromCharCode(odd)}'` : ""}`,
  );
}
