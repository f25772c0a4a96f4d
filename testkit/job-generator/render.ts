import { apiTable } from "../../simulator/jobspec/api-tables.ts";
import type { Field, Table } from "../../simulator/jobspec/schema.ts";
import { isRec, type Rec, recs } from "../../simulator/jobspec/values.ts";
import type { Chooser } from "./chooser.ts";

/** Writes objects of the client's form as HCL, in the many ways that people write it. */
export class HclWriter {
  readonly #choose: Chooser;
  readonly #variables: string[] = [];
  readonly #locals: string[] = [];

  constructor(choose: Chooser) {
    this.#choose = choose;
  }

  /** A whole job file. */
  file(name: string, job: Rec): string {
    const block = [`job ${JSON.stringify(name)} {`, ...this.#body(apiTable("Job"), job, 1), "}"].join("\n");
    const locals = this.#locals.length === 0 ? [] : ["locals {", ...this.#locals.map((l) => `  ${l}`), "}"];
    return `${[...this.#variables, ...locals, block].join("\n")}\n`;
  }

  #body(table: Table, object: Rec, depth: number): string[] {
    const pad = "  ".repeat(depth);
    return table.fields.flatMap((field) => {
      const value = object[field.name];
      if (value === undefined || field.place === "label" || field.hcl === undefined) return [];
      if (field.place === "attribute") return [`${pad}${field.hcl} = ${this.#expression(field, value)}`];
      return this.#blocks(field, value, depth);
    });
  }

  #blocks(field: Field, value: unknown, depth: number): string[] {
    if (field.kind === "list") return this.#listOfBlocks(field, recs({ list: value }, "list"), depth);
    if (!isRec(value)) return [];
    if (field.kind === "structmap") {
      return Object.entries(value).flatMap(([label, object]) => this.#block(field, object as Rec, depth, label));
    }
    return field.kind === "struct" ? this.#block(field, value, depth) : this.#mapBlock(field, value, depth);
  }

  #listOfBlocks(field: Field, objects: readonly Rec[], depth: number): string[] {
    const [only] = objects;
    const label = apiTable(field.table).label;
    // The only block whose label is no field of it.
    if (field.name === "ScalingPolicies") return objects.flatMap((object) => this.#block(field, object, depth, "cpu"));
    if (only !== undefined && objects.length === 1 && label === undefined && this.#choose.chance(0.05)) {
      return this.#dynamic(field, only, depth);
    }
    return objects.flatMap((object) => this.#block(field, object, depth, label && String(object[label.name] ?? "x")));
  }

  #block(field: Field, object: Rec, depth: number, label?: string): string[] {
    const pad = "  ".repeat(depth);
    const head = label === undefined ? field.hcl : `${field.hcl} ${JSON.stringify(label)}`;
    return [`${pad}${head} {`, ...this.#body(apiTable(field.table), object, depth + 1), `${pad}}`];
  }

  #dynamic(field: Field, object: Rec, depth: number): string[] {
    const pad = "  ".repeat(depth);
    const content = this.#body(apiTable(field.table), object, depth + 2);
    return [
      `${pad}dynamic "${field.hcl}" {`,
      `${pad}  for_each = ["one"]`,
      `${pad}  content {`,
      ...content,
      `${pad}  }`,
      `${pad}}`,
    ];
  }

  #mapBlock(field: Field, map: Rec, depth: number): string[] {
    const pad = "  ".repeat(depth);
    const attribute = field.hcl === "env" || field.hcl === "meta";
    if (attribute && this.#choose.chance(0.15)) return [`${pad}${field.hcl} = ${literal(map)}`];
    const lines = Object.entries(map).map(([key, value]) => `${pad}  ${key} = ${this.#plain(value)}`);
    return [`${pad}${field.hcl} {`, ...lines, `${pad}}`];
  }

  #expression(field: Field, value: unknown): string {
    if (field.kind === "duration" && typeof value === "number") {
      return this.#choose.chance(0.05) ? String(value) : this.#plain(durationText(value));
    }
    return this.#plain(value);
  }

  /** A literal, or something that is worth the same. */
  #plain(value: unknown): string {
    if (typeof value === "string") return this.#text(value);
    if (typeof value === "number") return this.#choose.chance(0.04) ? `"${value}"` : String(value);
    if (typeof value === "boolean") return this.#choose.chance(0.04) ? `(1 < 2 ? ${value} : !${value})` : String(value);
    if (Array.isArray(value) && value.length > 0 && this.#choose.chance(0.04)) return `[for x in ${literal(value)} : x]`;
    return literal(value);
  }

  #text(value: string): string {
    if (value.endsWith("\n") && !value.includes("${") && this.#choose.chance(0.7)) return `<<EOT\n${value}EOT`;
    if (value.includes("${") || !this.#choose.chance(0.08)) return quoted(value);
    const name = `v${this.#variables.length + this.#locals.length}`;
    switch (this.#choose.int(0, 3)) {
      case 0:
        this.#variables.push(`variable "${name}" {\n  type    = string\n  default = ${quoted(value)}\n}`);
        return this.#choose.chance(0.5) ? `var.${name}` : `"\${var.${name}}"`;
      case 1:
        this.#locals.push(`${name} = ${quoted(value)}`);
        return `local.${name}`;
      case 2:
        return `format("%s", ${quoted(value)})`;
      default:
        return `join("", [${quoted(value)}])`;
    }
  }
}

/** A duration in nanoseconds as people write it. */
function durationText(nanoseconds: number): string {
  const seconds = nanoseconds / 1_000_000_000;
  return seconds !== 0 && seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`;
}

function quoted(text: string): string {
  return JSON.stringify(text);
}

function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (isRec(value)) {
    return `{ ${Object.entries(value)
      .map(([key, item]) => `${key} = ${literal(item)}`)
      .join(", ")} }`;
  }
  return typeof value === "string" ? quoted(value) : String(value);
}
