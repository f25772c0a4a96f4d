import { compileFilter } from "../filter/evaluate.ts";
import { FilterError } from "../filter/peg.ts";
import { Refusal } from "../refusal.ts";
import type { ApiRequest } from "./message.ts";

export interface Page<Row> {
  readonly rows: Row[];
  readonly nextToken: string;
}

/**
 * Filters and cuts a list (nomad-api §7.2). `rows` come in the order of the answer without `reverse`; `tokenOf` names a row's
 * place. The next page's token is the place of its first row. Throws Refusal (400) for a bad filter or number.
 */
export function paginate<Row>(
  request: ApiRequest,
  rows: readonly Row[],
  tokenOf: (row: Row) => string,
  compare: (a: string, b: string) => number,
): Page<Row> {
  const { query } = request;
  const perPage = query.get("per_page") ?? "";
  if (perPage !== "" && !/^[+-]?\d+$/.test(perPage)) {
    throw new Refusal(400, "Expect a number for `per_page` query string parameter");
  }
  const limit = Number(perPage === "" ? 0 : perPage);
  const reverse = ["true", "1", "t"].includes(query.get("reverse") ?? "");
  const start = query.get("next_token") ?? "";
  const matches = filterOf(query.get("filter") ?? "");
  const found: Row[] = [];
  let nextToken = "";
  for (const row of reverse ? [...rows].reverse() : rows) {
    if (start !== "") {
      const order = compare(tokenOf(row), start);
      if (reverse ? order > 0 : order < 0) continue;
    }
    if (!matches(row)) continue;
    if (limit < 0) break;
    if (limit > 0 && found.length === limit) {
      nextToken = tokenOf(row);
      break;
    }
    found.push(row);
  }
  return { rows: found, nextToken };
}

function filterOf(expression: string): (row: unknown) => boolean {
  if (expression === "") return () => true;
  try {
    const compiled = compileFilter(expression);
    return (row) => {
      try {
        return compiled(row);
      } catch (error) {
        if (error instanceof FilterError) throw new Refusal(400, `failed to read result page: ${error.message}`);
        throw error;
      }
    };
  } catch (error) {
    if (error instanceof FilterError) {
      throw new Refusal(400, `failed to create result paginator: failed to read filter expression: ${error.message}`);
    }
    throw error;
  }
}

/** Plain order of texts. */
export function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Order of `<index>.<id>` tokens. */
export function byIndexToken(a: string, b: string): number {
  const [x, y] = [a.indexOf("."), b.indexOf(".")];
  const difference = Number(a.slice(0, x < 0 ? undefined : x)) - Number(b.slice(0, y < 0 ? undefined : y));
  return difference !== 0 ? difference : byText(a.slice(x + 1), b.slice(y + 1));
}
