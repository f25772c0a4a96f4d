import { ConversionError } from "../../hcl/convert.ts";
import type { Diagnostic } from "../../hcl/syntax.ts";
import { startRange } from "../../hcl/syntax.ts";
import { evaluateAttribute, report } from "./body-view.ts";
import { Unevaluated } from "./decode-body.ts";
import { freeFormJson } from "./decode-value.ts";
import type { Rec } from "./values.ts";

/** Evaluates every free-form map inside a value, in place: driver configurations and the like. */
export function evaluateFreeForm(value: unknown, diagnostics: Diagnostic[]): void {
  if (Array.isArray(value)) {
    for (const item of value) evaluateFreeForm(item, diagnostics);
    return;
  }
  if (typeof value !== "object" || value === null) return;
  const object = value as Rec;
  for (const key in object) {
    const inner = object[key];
    if (inner instanceof Unevaluated) object[key] = evaluated(inner, diagnostics);
    else evaluateFreeForm(inner, diagnostics);
  }
}

function evaluated(map: Unevaluated, diagnostics: Diagnostic[]): Rec {
  const result: Rec = {};
  for (const [name, attribute] of map.attributes) {
    const { value, diagnostics: found } = evaluateAttribute(attribute, attribute.scope);
    diagnostics.push(...found);
    try {
      const json = freeFormJson(value);
      // A null takes the key away, but only here, not further inside.
      if (json !== null) result[name] = json;
    } catch (error) {
      if (!(error instanceof ConversionError)) throw error;
      report(diagnostics, startRange(attribute.expression), "unsuitable value type", `Unsuitable value: ${error.message}`);
    }
  }
  return result;
}
