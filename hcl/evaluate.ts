import type { Diagnostic, Expression, SourceRange, VariableExpression } from "./syntax.ts";
import { formatDiagnostic } from "./syntax.ts";
import type { Type, Value } from "./value.ts";

/** A function that expressions may call. */
export interface HclFunction {
  readonly name: string;
  readonly parameters: readonly HclParameter[];
  /** Takes every further argument. */
  readonly rest?: HclParameter;
  /**
   * Arguments come converted to the parameter types. Throws {@link FunctionError}.
   * Unknown arguments make an unknown result before this is called.
   */
  readonly call: (args: readonly Value[]) => Value;
}

export interface HclParameter {
  readonly name: string;
  readonly type: Type;
  readonly allowNull?: boolean;
  readonly allowUnknown?: boolean;
}

/** What an expression may refer to. */
export interface Scope {
  readonly variables: ReadonlyMap<string, Value>;
  readonly functions: ReadonlyMap<string, HclFunction>;
  readonly parent?: Scope;
  /** Answers for names that no scope knows; without it they are errors. */
  readonly unresolved?: (variable: VariableExpression) => Value;
}
export function placeholder(_: Expression, __: SourceRange, ___: Diagnostic): string { return formatDiagnostic(___); }
