import { describe, expect, it } from "vitest";
import { testWorkspace } from "../../testkit/workspace.ts";
import { pipeline, shellStep } from "../../testkit/workspace-steps.ts";
import type { Workspace } from "../config/workspace.ts";
import { checkOrder, deployOrder } from "./order.ts";

interface Node {
  readonly after?: readonly string[];
  readonly required?: boolean;
  readonly enabled?: boolean;
  readonly empty?: boolean;
}

function services(graph: Readonly<Record<string, Node>>): Workspace["services"] {
  const files: Record<string, string> = {};
  for (const [name, node] of Object.entries(graph)) {
    files[`workspace/services/${name}/service.yml`] = `required: ${node.required ?? false}\nenabled: ${node.enabled ?? true}\n`;
    if (node.empty === true) continue;
    files[`workspace/services/${name}/deploy.yml`] =
      `after: [${(node.after ?? []).join(", ")}]\n${pipeline("p", shellStep("x"))}`;
  }
  return testWorkspace(files).session().workspace.services;
}

const order = (graph: Readonly<Record<string, Node>>): string[] => deployOrder(services(graph)).map(({ name }) => name);
const mistakes = (graph: Readonly<Record<string, Node>>): string[] => checkOrder(services(graph)).map(({ message }) => message);

describe("case 88: order of services", () => {
  it("refuses a cycle and shows it", () => {
    expect(mistakes({ a: { after: ["b"] }, b: { after: ["a"] } })).toEqual(["after: cycle a → b → a"]);
  });
  it("refuses a reference to itself", () => {
    expect(mistakes({ a: { after: ["a"] } })).toEqual(['after: service "a" refers to itself']);
  });
  it("refuses an unknown service", () => {
    expect(mistakes({ a: { after: ["x"] } })).toEqual(['after: there is no service "x"']);
  });
  it("refuses a required service after an optional one", () => {
    expect(mistakes({ a: { after: ["b"], required: true }, b: {} })).toEqual([
      'after: "a" is required and cannot come after the optional "b"',
    ]);
  });
  it("passes over a service without a pipeline, and a disabled one", () => {
    expect(mistakes({ a: { after: ["b", "c"] }, b: { empty: true }, c: { enabled: false } })).toEqual([]);
    expect(order({ a: { after: ["b", "c"] }, b: { empty: true }, c: { enabled: false } })).toEqual(["a"]);
  });
  it("breaks ties by name", () => {
    expect(order({ c: {}, a: { after: ["d"] }, b: {}, d: {} })).toEqual(["d", "a", "b", "c"]);
  });
  it("puts required services first and keeps their order", () => {
    expect(order({ a: {}, z: { required: true }, y: { required: true, after: ["z"] }, b: { after: ["z"] } })).toEqual([
      "z",
      "y",
      "a",
      "b",
    ]);
  });
});
