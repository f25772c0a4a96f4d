import type { Random } from "../../model/clock.ts";
import { apiTable } from "../../simulator/jobspec/api-tables.ts";
import { decodeApiJob } from "../../simulator/jobspec/decode.ts";
import type { Field, Table } from "../../simulator/jobspec/schema.ts";
import type { ApiJob } from "../../simulator/jobspec/types.ts";
import { isRec, isUnset, type Rec, recs, str } from "../../simulator/jobspec/values.ts";
import { type Chooser, chooser } from "./chooser.ts";
import { type SampleOptions, sampleField, sampleObject } from "./sample.ts";

/**
 * The job with one to three random edits anywhere in it: values changed, set, or taken away; blocks added, removed, doubled, or swapped.
 * The job's own name and kind stay. The input is not changed; the same seed makes the same edits.
 */
export function editJob(random: Random, job: ApiJob): ApiJob {
  const choose = chooser(random);
  const copy = decodeApiJob(structuredClone(job));
  const options = { jobType: str(copy, "Type") || "service", depth: 3, wild: 0.02, density: 0.7 };
  for (let i = choose.int(1, 3); i > 0; i--) editObject(choose, apiTable("Job"), copy, options);
  return copy;
}

const KEPT = new Set([
  "Job.ID",
  "Job.Name",
  "Job.Namespace",
  "Job.Region",
  "Job.Type",
  "Job.Multiregion",
  "Task.Vault",
  "Task.Schedule",
]);

function editObject(choose: Chooser, table: Table, object: Rec, options: SampleOptions): void {
  const fields = table.fields.filter((f) => f.place !== "none" && !KEPT.has(`${table.name}.${f.name}`));
  if (fields.length === 0) return;
  // Going down into what is there is likelier than adding something new.
  const filled = fields.filter((f) => f.place === "block" && !isUnset(object[f.name]));
  const field = filled.length > 0 && choose.chance(0.65) ? choose.pick(filled) : choose.pick(fields);
  editField(choose, table, field, object, options);
}

function editField(choose: Chooser, table: Table, field: Field, object: Rec, options: SampleOptions): void {
  const value = object[field.name];
  const children = recs(object, field.name);
  const [child] = isRec(value) && field.kind === "struct" ? [value] : children.length > 0 ? [choose.pick(children)] : [];
  if (child !== undefined && choose.chance(0.75)) editObject(choose, apiTable(field.table), child, options);
  else if (field.kind === "list" && children.length > 0) object[field.name] = editList(choose, field, children, options);
  else if (!isUnset(value) && field.pointer && choose.chance(0.3)) object[field.name] = null;
  else object[field.name] = sampleField(choose, table, field, options);
}

function editList(choose: Chooser, field: Field, children: readonly Rec[], options: SampleOptions): Rec[] | null {
  const at = choose.int(0, children.length - 1);
  const [table, one] = [apiTable(field.table), children[at] ?? {}];
  switch (choose.int(0, 3)) {
    case 0: {
      const rest = children.filter((_, i) => i !== at);
      return rest.length === 0 ? null : rest;
    }
    case 1:
      return [...children].reverse();
    case 2: {
      const twin = structuredClone(one);
      if (table.label !== undefined) twin[table.label.name] = `${str(one, table.label.name)}b`;
      return [...children, twin];
    }
    default: {
      const fresh = sampleObject(choose, table, options);
      if (table.label !== undefined) fresh[table.label.name] = "fresh";
      return [...children, fresh];
    }
  }
}
