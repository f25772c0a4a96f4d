import { ConversionError, convert } from "../../hcl/convert.ts";
import { truncate } from "../../hcl/number.ts";
import type { Diagnostic, SourceRange } from "../../hcl/syntax.ts";
import { formatRange } from "../../hcl/syntax.ts";
import { BOOL, NUMBER, STRING, type Type, type Value } from "../../hcl/value.ts";
import { apiTable } from "./api-tables.ts";
import { type BodySchema, report } from "./body-view.ts";
import { decodeBlock, decodeBody, decodePlain, type Specials } from "./decode-body.ts";
import { decodeTextMap, evaluated } from "./decode-value.ts";
import { emptyApi } from "./empty.ts";
import type { BlockView, BodyView } from "./expand-body.ts";
import { isUnset, type Rec, rec, recs, str } from "./values.ts";

/** The blocks that Nomad reads in ways of their own (nomad-api §1). */
export const SPECIALS: Specials = {
  Constraint: (body, diagnostics) => decodeConstraint(body, diagnostics),
  Affinity: (body, diagnostics) => decodeAffinity(body, diagnostics),
  TaskGroup: (body, diagnostics) => decodeGroup(body, diagnostics),
  Task: (body, diagnostics) => decodeTask(body, diagnostics),
};

const TEXTS = ["attribute", "value", "operator"] as const;
/** Operators that may be written as an attribute of their own name, later ones winning. */
const CONSTRAINT_SHORTHANDS = ["version", "semver", "regexp", "set_contains"] as const;
const CONSTRAINT_OTHERS = ["distinct_property", "set_contains_all", "set_contains_any", "is_set", "is_not_set"] as const;
const AFFINITY_SHORTHANDS = ["version", "semver", "regexp", "set_contains_any", "set_contains_all", "set_contains"] as const;

/** Reads attributes of stated types; undefined when anything is wrong with the block. */
function readTyped(
  body: BodyView,
  types: Readonly<Record<string, Type>>,
  diagnostics: Diagnostic[],
): ReadonlyMap<string, Value> | undefined {
  const before = diagnostics.length;
  const names = Object.keys(types).sort();
  const schema: BodySchema = { attributes: names.map((name) => ({ name, required: false })), blocks: [] };
  const values = new Map<string, Value>();
  for (const [name, attr] of body.content(schema, diagnostics).attributes) {
    const value = evaluated(attr, diagnostics);
    try {
      values.set(name, convert(value, types[name] ?? STRING));
    } catch (error) {
      if (!(error instanceof ConversionError)) throw error;
      const detail = `Inappropriate value for attribute "${name}": ${error.message}.`;
      report(diagnostics, attr.expression.range, "Incorrect attribute value type", detail);
    }
  }
  return diagnostics.length > before ? undefined : values;
}

function typesOf(names: readonly string[]): Record<string, Type> {
  return Object.fromEntries(names.map((name) => [name, STRING]));
}

const CONSTRAINT_TYPES = {
  ...typesOf([...TEXTS, ...CONSTRAINT_SHORTHANDS, ...CONSTRAINT_OTHERS]),
  distinct_hosts: BOOL,
};
const HIGHEST = (1n << 63n) - 1n;
const LOWEST = -(1n << 63n);
const AFFINITY_TYPES = { ...typesOf([...TEXTS, ...AFFINITY_SHORTHANDS]), weight: NUMBER };

function textIn(values: ReadonlyMap<string, Value>, name: string): string {
  const value = values.get(name);
  return value?.kind === "string" ? value.value : "";
}

function rule(values: ReadonlyMap<string, Value>, shorthands: readonly string[]): Rec {
  const found: Rec = {
    LTarget: textIn(values, "attribute"),
    RTarget: textIn(values, "value"),
    Operand: textIn(values, "operator"),
  };
  for (const name of shorthands) {
    const value = textIn(values, name);
    if (value !== "") Object.assign(found, { Operand: name, RTarget: value });
  }
  return found;
}

function decodeConstraint(body: BodyView, diagnostics: Diagnostic[]): Rec {
  const values = readTyped(body, CONSTRAINT_TYPES, diagnostics);
  if (values === undefined) return emptyApi("Constraint");
  const found = rule(values, CONSTRAINT_SHORTHANDS);
  const distinct = values.get("distinct_hosts");
  if (distinct?.kind === "bool") Object.assign(found, { Operand: "distinct_hosts", RTarget: String(distinct.value) });
  const property = textIn(values, "distinct_property");
  if (property !== "") Object.assign(found, { Operand: "distinct_property", LTarget: property });
  if (found["Operand"] === "") found["Operand"] = "=";
  return found;
}

function decodeAffinity(body: BodyView, diagnostics: Diagnostic[]): Rec {
  const values = readTyped(body, AFFINITY_TYPES, diagnostics);
  if (values === undefined) return emptyApi("Affinity");
  const weight = values.get("weight");
  const found = { ...rule(values, AFFINITY_SHORTHANDS), Weight: weight?.kind === "number" ? toInt8(weight) : null };
  if (str(found, "Operand") === "") Object.assign(found, { Operand: "=" });
  return found;
}

/** Brought into 64 bits and cut to eight of them, as Nomad does. */
function toInt8({ value }: Extract<Value, { kind: "number" }>): number {
  const whole = truncate(value) ?? (value.mantissa < 0n ? LOWEST : HIGHEST);
  return Number(BigInt.asIntN(8, whole > HIGHEST ? HIGHEST : whole < LOWEST ? LOWEST : whole));
}

/** A map that may be written as a block or as an attribute; undefined when it is no attribute. */
export function takeMapAttribute(
  body: BodyView,
  name: string,
  diagnostics: Diagnostic[],
): { readonly map: Rec | undefined; readonly rest: BodyView } {
  const ignored: Diagnostic[] = [];
  const [content, rest] = body.partial({ attributes: [{ name, required: false }], blocks: [] }, ignored);
  const attr = content.attributes.get(name);
  if (attr === undefined) return { map: undefined, rest: body };
  const [{ blocks }] = rest.partial({ attributes: [], blocks: [{ type: name, labels: [] }] }, ignored);
  const [block] = blocks;
  if (block !== undefined) {
    const detail = `${name} may not be defined more than once. Another definition is defined at ${formatRange(attr.range)}.`;
    report(diagnostics, block.headerRange, `Duplicate ${name} block`, detail);
    return { map: undefined, rest };
  }
  return { map: decodeTextMap(attr, diagnostics) ?? undefined, rest };
}

const GROUP_EXTRAS: BodySchema = {
  attributes: [],
  blocks: [
    { type: "secret", labels: ["name"] },
    { type: "vault", labels: [] },
  ],
};

function decodeGroup(body: BodyView, diagnostics: Diagnostic[]): Rec {
  const before = diagnostics.length;
  const meta = takeMapAttribute(body, "meta", diagnostics);
  const [extras, rest] = meta.rest.partial(GROUP_EXTRAS, diagnostics);
  if (diagnostics.length > before) return emptyApi("TaskGroup");
  // What is wrong inside these two is not told by Nomad.
  const untold: Diagnostic[] = [];
  const vault = extras.blocks
    .filter((b) => b.type === "vault")
    .map((b) => decodeBody(apiTable("Vault"), b.body, untold, SPECIALS));
  const secrets = extras.blocks
    .filter((b) => b.type === "secret")
    .map((b) => decodeBlock(apiTable("Secret"), b, untold, SPECIALS));
  const group = decodePlain(apiTable("TaskGroup"), rest, diagnostics, SPECIALS);
  if (meta.map !== undefined) group["Meta"] = meta.map;
  shareWithTasks(group, vault.at(-1), secrets);
  const scaling = rec(group, "Scaling");
  if (scaling !== undefined) {
    if (str(scaling, "Type") === "") scaling["Type"] = "horizontal";
    checkGroupScaling(scaling, rest, diagnostics);
  }
  return group;
}

function shareWithTasks(group: Rec, vault: Rec | undefined, secrets: readonly Rec[]): void {
  for (const task of recs(group, "Tasks")) {
    if (vault !== undefined) task["Vault"] ??= vault;
    if (secrets.length === 0) continue;
    const own = recs(task, "Secrets");
    // A task with secrets of its own gets these twice, and none of the group's.
    task["Secrets"] = own.length === 0 ? [...secrets] : [...own, ...own];
  }
}

function checkGroupScaling(scaling: Rec, body: BodyView, diagnostics: Diagnostic[]): void {
  if (!isUnset(scaling["Max"]) && scaling["Type"] === "horizontal") return;
  const [content] = body.partial({ attributes: [], blocks: [{ type: "scaling", labels: [] }] }, diagnostics);
  const [block] = content.blocks;
  if (block === undefined) return;
  const schema: BodySchema = {
    attributes: [
      { name: "max", required: true },
      { name: "type", required: false },
    ],
    blocks: [],
  };
  const [{ attributes }] = block.body.partial(schema, diagnostics);
  const type = attributes.get("type");
  if (scaling["Type"] === "horizontal" || type === undefined) return;
  const detail = `task group scaling policy had invalid type: "${str(scaling, "Type")}"`;
  report(diagnostics, type.expression.range, "Invalid group scaling type", detail);
}

const TASK_SCALING: BodySchema = { attributes: [], blocks: [{ type: "scaling", labels: ["name"] }] };

/** The body of a task, in a group or alone in the job. */
export function decodeTask(body: BodyView, diagnostics: Diagnostic[]): Rec {
  const env = takeMapAttribute(body, "env", diagnostics);
  const meta = takeMapAttribute(env.rest, "meta", diagnostics);
  const [{ blocks }, rest] = meta.rest.partial(TASK_SCALING, diagnostics);
  const policies = taskPolicies(blocks, diagnostics);
  const task = decodePlain(apiTable("Task"), rest, diagnostics, SPECIALS);
  if (policies.length > 0) task["ScalingPolicies"] = policies;
  if (env.map !== undefined) task["Env"] = env.map;
  if (meta.map !== undefined) task["Meta"] = meta.map;
  return task;
}

const TASK_POLICIES: Readonly<Record<string, string>> = { cpu: "vertical_cpu", mem: "vertical_mem" };

function taskPolicies(blocks: readonly BlockView[], diagnostics: Diagnostic[]): Rec[] {
  const policies: Rec[] = [];
  const seen = new Map<string, SourceRange>();
  for (const block of blocks) {
    const label = (block.labels[0] ?? "").toLowerCase();
    const type = TASK_POLICIES[label];
    const earlier = seen.get(label);
    if (type === undefined) {
      report(diagnostics, block.labelRanges[0], "Invalid scaling policy name", 'scaling policy name must be "cpu" or "mem"');
    } else if (earlier !== undefined) {
      const detail = `Only one scaling ${label} block is allowed. Another was defined at ${formatRange(earlier)}.`;
      report(diagnostics, block.headerRange, `Duplicate scaling "${label}" block`, detail);
    } else {
      seen.set(label, block.headerRange);
      const policy = decodeBody(apiTable("ScalingPolicy"), block.body, diagnostics, SPECIALS);
      if (str(policy, "Type") === "") policy["Type"] = type;
      if (policy["Type"] === type) policies.push(policy);
      else {
        const detail = `Invalid policy type, expected "${str(policy, "Type")}" but found "${type}"`;
        report(diagnostics, block.headerRange, "Invalid scaling policy type", detail);
      }
    }
  }
  return policies;
}
