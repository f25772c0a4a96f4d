import type { Scope } from "../../hcl/scope.ts";
import type { Diagnostic } from "../../hcl/syntax.ts";
import { objectValue, type Value } from "../../hcl/value.ts";
import { evaluateAttribute, type RawAttr, type RawBlock } from "./body-view.ts";

/** The attributes of all `locals` blocks. */
export function collectLocals(blocks: readonly RawBlock[], diagnostics: Diagnostic[]): readonly RawAttr[] {
  const locals: RawAttr[] = [];
  for (const block of blocks) if (block.type === "locals") locals.push(...block.body.onlyAttributes(diagnostics).values());
  return locals;
}

/**
 * Evaluates locals, which may refer to each other in any order: what fails is tried again after the others, until nothing gets
 * further. `scopeWith`: the scope once these locals are known.
 */
export function evaluateLocals(
  locals: readonly RawAttr[],
  scopeWith: (locals: Value) => Scope,
  diagnostics: Diagnostic[],
): Value {
  const known = new Map<string, Value>();
  let waiting = [...locals];
  while (waiting.length > 0) {
    const scope = scopeWith(objectValue(known));
    let failure: readonly Diagnostic[] = [];
    const still: RawAttr[] = [];
    for (const local of waiting) {
      const current = known.size === 0 ? scope : scopeWith(objectValue(known));
      const { value, diagnostics: found } = evaluateAttribute(local, current);
      if (found.some((d) => d.severity === "error")) {
        still.push(local);
        failure = found;
      } else known.set(local.name, value);
    }
    if (still.length === waiting.length) {
      diagnostics.push(...failure);
      break;
    }
    waiting = still;
  }
  return objectValue(known);
}
