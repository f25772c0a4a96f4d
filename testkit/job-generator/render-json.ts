import { apiTable } from "../../simulator/jobspec/api-tables.ts";
import type { Field, Table } from "../../simulator/jobspec/schema.ts";
import { isRec, type Rec, recs } from "../../simulator/jobspec/values.ts";
import type { Chooser } from "./chooser.ts";

/** An object of the client's form as HCL in JSON, in the ways that programs write it: blocks as objects or as lists of them. */
export function jobInJson(choose: Chooser, name: string, job: Rec): Rec {
  const body = bodyOf(choose, apiTable("Job"), job);
  return { job: choose.chance(0.2) ? [{ [name]: body }] : { [name]: choose.chance(0.2) ? [body] : body } };
}

function bodyOf(choose: Chooser, table: Table, object: Rec): Rec {
  const body: Rec = {};
  for (const field of table.fields) {
    const value = object[field.name];
    if (value === undefined || field.place === "label" || field.hcl === undefined) continue;
    if (field.place === "attribute") body[field.hcl] = attribute(choose, field, value);
    else body[field.hcl] = block(choose, field, value);
  }
  return body;
}

function attribute(choose: Chooser, field: Field, value: unknown): unknown {
  if (field.kind === "duration" && typeof value === "number") return choose.chance(0.05) ? value : `${value / 1_000_000_000}s`;
  if (typeof value === "number" && choose.chance(0.05)) return choose.pick([String(value), `\${${value}}`, -0, value + 0.5]);
  return value;
}

function block(choose: Chooser, field: Field, value: unknown): unknown {
  if (field.kind === "list") return listOfBlocks(choose, field, recs({ list: value }, "list"));
  if (!isRec(value)) return value;
  if (field.kind === "structmap") {
    return Object.fromEntries(
      Object.entries(value).map(([label, object]) => [label, bodyOf(choose, apiTable(field.table), object as Rec)]),
    );
  }
  if (field.kind !== "struct") return choose.chance(0.1) ? [value] : value;
  const body = bodyOf(choose, apiTable(field.table), value);
  return choose.chance(0.1) ? [body] : body;
}

function listOfBlocks(choose: Chooser, field: Field, objects: readonly Rec[]): unknown {
  const table = apiTable(field.table);
  const label = field.name === "ScalingPolicies" ? undefined : table.label;
  const bodies = objects.map((object) => bodyOf(choose, table, object));
  if (field.name === "ScalingPolicies") return { cpu: bodies[0] ?? {} };
  if (label === undefined) return bodies.length === 1 && choose.chance(0.5) ? bodies[0] : bodies;
  const labels = objects.map((object) => String(object[label.name] ?? "x"));
  if (choose.chance(0.3)) return bodies.map((body, i) => ({ [labels[i] ?? "x"]: body }));
  return Object.fromEntries(bodies.map((body, i) => [labels[i] ?? "x", body]));
}
