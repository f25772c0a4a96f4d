/**
 * The syntax tree of HCL2 as nops sees it: ordered, with positions (design D26).
 * Trees are plain data: they hold nothing outside the JavaScript heap and may be kept.
 */

/** A place in a text. */
export interface Position {
  /** From 1. */
  readonly line: number;
  /** From 1, in characters as a reader counts them (grapheme clusters), as HCL's own messages do. */
  readonly column: number;
  /** From 0, in bytes of the UTF-8 text. */
  readonly byte: number;
  /** From 0, in UTF-16 units: what `String.prototype.slice` takes. */
  readonly offset: number;
}

/** A stretch of a text; `end` is the place after its last character. */
export interface SourceRange {
  readonly filename: string;
  readonly start: Position;
  readonly end: Position;
}

/** One problem, in the words HCL uses for it. */
export interface Diagnostic {
  readonly severity: "error" | "warning";
  readonly summary: string;
  readonly detail: string;
  /** Absent for problems that are not about one place. */
  readonly range?: SourceRange;
}

/** The inside of a file or of a block: attributes and blocks in the order of the text. */
export interface Body {
  readonly attributes: readonly Attribute[];
  readonly blocks: readonly Block[];
  readonly range: SourceRange;
  /** The place where the body ends, for messages about something missing in it. */
  readonly endRange: SourceRange;
}

/** `name = expression`. */
export interface Attribute {
  readonly name: string;
  readonly nameRange: SourceRange;
  readonly expression: Expression;
  readonly range: SourceRange;
}

/** `type "label" { … }`. */
export interface Block {
  readonly type: string;
  readonly typeRange: SourceRange;
  readonly labels: readonly string[];
  readonly labelRanges: readonly SourceRange[];
  readonly body: Body;
  readonly openRange: SourceRange;
  readonly closeRange: SourceRange;
  /** From the type to the last label. */
  readonly headerRange: SourceRange;
  /** From the type to the closing brace. */
  readonly range: SourceRange;
}

export type Expression =
  | LiteralExpression
  | TemplateExpression
  | TupleExpression
  | ObjectExpression
  | ForExpression
  | VariableExpression
  | TraversalExpression
  | IndexExpression
  | SplatExpression
  | SplatItemExpression
  | ConditionalExpression
  | UnaryExpression
  | BinaryExpression
  | CallExpression
  | ParenthesesExpression
  | InvalidExpression;

/** A number, `true`, `false`, `null`. Quoted strings are templates. */
export interface LiteralExpression {
  readonly kind: "literal";
  /** Numbers keep their text: they may be longer than a double holds. JSON strings arrive as `string`. */
  readonly value:
    | { readonly type: "number"; readonly text: string }
    | { readonly type: "bool"; readonly value: boolean }
    | { readonly type: "string"; readonly value: string }
    | { readonly type: "null" };
  readonly range: SourceRange;
}

/** `"…"`, `<<EOT … EOT`, `<<-EOT … EOT`. */
export interface TemplateExpression {
  readonly kind: "template";
  readonly form: "quoted" | "heredoc" | "indented_heredoc";
  /** Escapes resolved, indentation and trim markers applied, consecutive texts joined; at least one part. */
  readonly parts: readonly TemplatePart[];
  /** Exactly one interpolation and nothing else: the value passes through with its type. */
  readonly wrapsOne: boolean;
  readonly range: SourceRange;
}

export type TemplatePart = TemplateText | TemplateInterpolation | TemplateIf | TemplateFor;

export interface TemplateText {
  readonly kind: "text";
  readonly text: string;
  readonly range: SourceRange;
}

export interface TemplateInterpolation {
  readonly kind: "interpolation";
  readonly expression: Expression;
  /** From `${` to `}`. */
  readonly range: SourceRange;
}

/** `%{ if … }…%{ else }…%{ endif }`. */
export interface TemplateIf {
  readonly kind: "if";
  readonly condition: Expression;
  readonly whenTrue: readonly TemplatePart[];
  readonly whenFalse: readonly TemplatePart[];
  readonly range: SourceRange;
}

/** `%{ for … in … }…%{ endfor }`. */
export interface TemplateFor {
  readonly kind: "for";
  readonly keyName?: string;
  readonly valueName: string;
  readonly collection: Expression;
  readonly body: readonly TemplatePart[];
  readonly range: SourceRange;
}

export interface TupleExpression {
  readonly kind: "tuple";
  readonly items: readonly Expression[];
  readonly openRange: SourceRange;
  readonly range: SourceRange;
}

export interface ObjectExpression {
  readonly kind: "object";
  readonly items: readonly ObjectItem[];
  readonly openRange: SourceRange;
  readonly range: SourceRange;
}

export interface ObjectItem {
  /** A bare name is a key as it stands, everything else is evaluated (`keyName` absent). */
  readonly keyName?: string;
  readonly key: Expression;
  readonly value: Expression;
}

/** `[for …]` or `{for … => …}`. */
export interface ForExpression {
  readonly kind: "for";
  readonly keyName?: string;
  readonly valueName: string;
  readonly collection: Expression;
  /** Present for the object form. */
  readonly key?: Expression;
  readonly value: Expression;
  readonly condition?: Expression;
  /** `...` after the value: values of one key are gathered in a list. */
  readonly grouped: boolean;
  readonly openRange: SourceRange;
  readonly range: SourceRange;
}

/** A name and the constant steps behind it: `var.services[0].name`, `each`. */
export interface VariableExpression {
  readonly kind: "variable";
  readonly root: string;
  readonly rootRange: SourceRange;
  readonly steps: readonly TraversalStep[];
  readonly range: SourceRange;
}

/** Constant steps behind any other expression: `foo().bar`. */
export interface TraversalExpression {
  readonly kind: "traversal";
  readonly source: Expression;
  readonly steps: readonly TraversalStep[];
  readonly range: SourceRange;
}

export type TraversalStep =
  | { readonly kind: "attribute"; readonly name: string; readonly range: SourceRange }
  | { readonly kind: "index"; readonly key: string | { readonly number: string }; readonly range: SourceRange };

/** `collection[key]` with a key that is not a constant. */
export interface IndexExpression {
  readonly kind: "index";
  readonly collection: Expression;
  readonly key: Expression;
  /** From `[` to `]`. */
  readonly bracketRange: SourceRange;
  readonly range: SourceRange;
}

/** `list[*].name`, `list.*.name`. */
export interface SplatExpression {
  readonly kind: "splat";
  readonly source: Expression;
  /** What is taken of every element, starting from {@link SplatItemExpression}. */
  readonly each: Expression;
  readonly markerRange: SourceRange;
  readonly range: SourceRange;
}

/** The current element inside a splat's `each`. */
export interface SplatItemExpression {
  readonly kind: "splat_item";
  readonly range: SourceRange;
}

export interface ConditionalExpression {
  readonly kind: "conditional";
  readonly condition: Expression;
  readonly whenTrue: Expression;
  readonly whenFalse: Expression;
  readonly range: SourceRange;
}

export interface UnaryExpression {
  readonly kind: "unary";
  readonly operator: "-" | "!";
  readonly operand: Expression;
  readonly operatorRange: SourceRange;
  readonly range: SourceRange;
}

export type BinaryOperator = "*" | "/" | "%" | "+" | "-" | ">" | ">=" | "<" | "<=" | "==" | "!=" | "&&" | "||";

export interface BinaryExpression {
  readonly kind: "binary";
  readonly operator: BinaryOperator;
  readonly left: Expression;
  readonly right: Expression;
  readonly range: SourceRange;
}

export interface CallExpression {
  readonly kind: "call";
  readonly name: string;
  readonly nameRange: SourceRange;
  readonly openRange: SourceRange;
  readonly closeRange: SourceRange;
  readonly args: readonly Expression[];
  /** `...` after the last argument: its elements are the arguments. */
  readonly expandLast: boolean;
  readonly range: SourceRange;
}

export interface ParenthesesExpression {
  readonly kind: "parentheses";
  readonly expression: Expression;
  readonly range: SourceRange;
}

/** Stands where the text is broken; a diagnostic says why. */
export interface InvalidExpression {
  readonly kind: "invalid";
  readonly range: SourceRange;
}

/** `file:line,column-column`, as HCL and Nomad write a place. */
export function formatRange(range: SourceRange): string {
  const { filename, start, end } = range;
  if (start.line === end.line) return `${filename}:${start.line},${start.column}-${end.column}`;
  return `${filename}:${start.line},${start.column}-${end.line},${end.column}`;
}

/** `file:line,column-column: Summary; Detail`, as Nomad prints a diagnostic; `<nil>` stands for no place. */
export function formatDiagnostic(diagnostic: Diagnostic): string {
  const place = diagnostic.range === undefined ? "<nil>" : formatRange(diagnostic.range);
  return `${place}: ${diagnostic.summary}; ${diagnostic.detail}`;
}

/** Several diagnostics in one line, as Nomad does for syntax errors: the first, and how many more there are. */
export function formatDiagnostics(diagnostics: readonly Diagnostic[]): string {
  const [first] = diagnostics;
  if (first === undefined) return "no diagnostics";
  if (diagnostics.length === 1) return formatDiagnostic(first);
  return `${formatDiagnostic(first)}, and ${diagnostics.length - 1} other diagnostic(s)`;
}

/** From the start of one range to the end of another. */
export function rangeBetween(from: SourceRange, to: SourceRange): SourceRange {
  return { filename: from.filename, start: from.start, end: to.end };
}

/**
 * The part of an expression that HCL points at when its *value* is wrong: of a quoted string the text inside the
 * quotes, of a call the name with its parenthesis, of a collection the opening bracket (nomad-api §1).
 */
export function startRange(expression: Expression): SourceRange {
  switch (expression.kind) {
    case "template": {
      const [first] = expression.parts;
      if (expression.wrapsOne || first === undefined) return expression.range;
      if (first.kind === "interpolation") return startRange(first.expression);
      if (first.kind === "if") return startRange(first.condition);
      return first.range;
    }
    case "call":
      return rangeBetween(expression.nameRange, expression.openRange);
    case "tuple":
    case "object":
    case "for":
      return expression.openRange;
    case "conditional":
      return startRange(expression.condition);
    case "binary":
      return startRange(expression.left);
    case "unary":
      return expression.operatorRange;
    case "splat":
      return expression.markerRange;
    case "index":
      return { ...expression.bracketRange, end: after(expression.bracketRange.start) };
    case "parentheses":
      return startRange(expression.expression);
    default:
      return expression.range;
  }
}

function after(place: Position): Position {
  return { line: place.line, column: place.column + 1, byte: place.byte + 1, offset: place.offset + 1 };
}
