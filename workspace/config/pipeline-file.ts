import type { z } from "zod";
import type { Json } from "../../model/nomad.ts";
import type { ValuePath, YamlDocument } from "./document.ts";
import type { ConfigIssue } from "./issues.ts";
import { type Complain, complainer, parseAt } from "./parse.ts";
import {
  groupSchema,
  isGroup,
  type LeafYaml,
  leafSchema,
  type PhaseYaml,
  phaseSchema,
  pipelineSchema,
  type StepYaml,
} from "./schema.ts";

/** Which pipeline a file describes; the rules differ a little. */
export type PipelineRole = "project_deploy" | "service_deploy" | "other";

/** A pipeline as its file states it, checked. */
export interface PipelineFile {
  /** Path from the root; `built-in` for a default. */
  readonly file: string;
  readonly log: boolean | undefined;
  readonly after: readonly string[];
  readonly phases: readonly PhaseYaml[];
  /** The file's values as written: what the config hash covers (workspace §7.3). */
  readonly raw: Json;
  /** Line of a step, or of its phase. */
  readonly lineOf: (phase: string, step?: string) => number | undefined;
}

export interface PipelineResult {
  /** Absent when the file is inert (empty, only comments, no phases) or wrong. */
  readonly pipeline: PipelineFile | undefined;
  readonly inert: boolean;
  readonly issues: readonly ConfigIssue[];
}

/** Checks a pipeline document against its schema and the rules that need more than one field. */
export function readPipeline(document: YamlDocument, role: PipelineRole): PipelineResult {
  const issues: ConfigIssue[] = [];
  const complain = complainer(document, issues);
  if (document.value === null) return { pipeline: undefined, inert: true, issues };
  const parsed = parseAt(pipelineSchema, document.value, [], complain);
  // A wrong key at the top must not hide what is wrong inside the phases.
  const phases = parsed === undefined ? soundPhases(document.value) : (parsed.phases ?? []);
  if (parsed !== undefined && parsed.after !== undefined && role !== "service_deploy") {
    complain(["after"], "after belongs into the deploy.yml of a service");
  }
  if (phases.length === 0) return { pipeline: undefined, inert: parsed !== undefined && issues.length === 0, issues };
  const checked = readPhases(phases, ["phases"], role, complain);
  if (issues.length > 0 || parsed === undefined) return { pipeline: undefined, inert: false, issues };
  return {
    pipeline: {
      file: document.file,
      log: parsed.log,
      after: parsed.after ?? [],
      phases: checked,
      raw: document.value,
      lineOf: (phase, step) => lineOfStep(document, checked, phase, step),
    },
    inert: false,
    issues,
  };
}

function lineOfStep(
  document: YamlDocument,
  phases: readonly PhaseYaml[],
  phase: string,
  step: string | undefined,
): number | undefined {
  const at = phases.findIndex((candidate) => candidate.name === phase);
  if (at < 0) return undefined;
  const steps = phases[at]?.steps ?? [];
  for (const [index, item] of steps.entries()) {
    if (item.name === step) return document.lineOf(["phases", at, "steps", index]);
    const inner = isGroup(item) ? item.parallel.steps.findIndex((sub) => sub.name === step) : -1;
    if (inner >= 0) return document.lineOf(["phases", at, "steps", index, "parallel", "steps", inner]);
  }
  return document.lineOf(["phases", at]);
}

function soundPhases(value: Json): z.infer<typeof phaseSchema>[] {
  const phases = typeof value === "object" && value !== null && "phases" in value ? value.phases : undefined;
  if (!Array.isArray(phases)) return [];
  return phases.flatMap((phase) => {
    const result = phaseSchema.safeParse(phase);
    return result.success ? [result.data] : [];
  });
}

/** Checks phases and their steps; every deviation is reported, the sound ones are returned. */
export function readPhases(
  phases: readonly z.infer<typeof phaseSchema>[],
  path: ValuePath,
  role: PipelineRole,
  complain: Complain,
): PhaseYaml[] {
  const names = new Set<string>();
  return phases.map((phase, index) => {
    const at = [...path, index];
    if (phase.name.startsWith("_")) complain([...at, "name"], "names that begin with _ are kept for nops itself");
    if (names.has(phase.name)) complain([...at, "name"], `phase "${phase.name}" occurs twice`);
    names.add(phase.name);
    if (phase.deploy_services === true) {
      if (role !== "project_deploy") complain([...at, "deploy_services"], "only workspace/deploy.yml may place the services");
      if (phase.steps !== undefined) complain([...at, "steps"], "a deploy_services phase has no steps of its own");
      if (phase.when !== undefined) complain([...at, "when"], "a deploy_services phase takes no condition");
      return { ...phase, steps: [] };
    }
    if (phase.steps === undefined) complain(at, `phase "${phase.name}" has no steps`);
    return { ...phase, steps: readSteps(phase.steps ?? [], [...at, "steps"], complain) };
  });
}

function readSteps(steps: readonly unknown[], path: ValuePath, complain: Complain): StepYaml[] {
  const names = new Set<string>();
  const unique = (name: string, at: ValuePath): void => {
    if (names.has(name)) complain([...at, "name"], `step "${name}" occurs twice in its phase`);
    names.add(name);
  };
  const read: StepYaml[] = [];
  steps.forEach((raw, index) => {
    const at = [...path, index];
    if (hasKey(raw, "parallel")) {
      const group = parseAt(groupSchema, raw, at, complain);
      if (group === undefined) return;
      unique(group.name, at);
      const inner = readSubSteps(group.parallel.steps, [...at, "parallel", "steps"], complain, unique);
      read.push({ ...group, parallel: { ...defined(group.parallel), steps: inner } });
      return;
    }
    const leaf = readLeaf(raw, at, complain);
    if (leaf === undefined) return;
    unique(leaf.name, at);
    read.push(leaf);
  });
  return read;
}

function readSubSteps(
  steps: readonly unknown[],
  path: ValuePath,
  complain: Complain,
  unique: (name: string, at: ValuePath) => void,
): LeafYaml[] {
  if (steps.length < 2) complain(path, "a parallel group has at least two steps");
  return steps.flatMap((raw, index) => {
    const at = [...path, index];
    if (hasKey(raw, "parallel")) {
      complain(at, "a parallel group cannot hold another one");
      return [];
    }
    const leaf = readLeaf(raw, at, complain);
    if (leaf === undefined) return [];
    unique(leaf.name, at);
    return [leaf];
  });
}

function readLeaf(raw: unknown, at: ValuePath, complain: Complain): LeafYaml | undefined {
  const leaf = parseAt(leafSchema, raw, at, complain);
  if (leaf?.check === "auto" && leaf.when?.type !== "shell") {
    complain([...at, "check"], "check: auto negates a condition of type shell; this step has none");
  }
  if (typeof leaf?.files_gate === "string" && leaf.type !== "command") {
    complain([...at, "files_gate"], "the short form takes its files from a step of type command; name the command instead");
  }
  return leaf;
}

function defined(group: { readonly max_concurrent?: number | undefined; readonly fail_fast?: boolean | undefined }): {
  readonly max_concurrent?: number;
  readonly fail_fast?: boolean;
} {
  return {
    ...(group.max_concurrent === undefined ? {} : { max_concurrent: group.max_concurrent }),
    ...(group.fail_fast === undefined ? {} : { fail_fast: group.fail_fast }),
  };
}

function hasKey(value: unknown, key: string): boolean {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key);
}
