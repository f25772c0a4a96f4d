/** The rules of an ACL policy, as far as blocks, labels, texts and lists go; HCL or JSON. */
export interface RuleBlock {
  readonly type: string;
  readonly label: string;
  readonly values: Readonly<Record<string, string | boolean | readonly string[]>>;
  readonly blocks: readonly RuleBlock[];
}

/** A policy whose rules cannot be read. */
export class PolicyError extends Error {}

type Token = { readonly kind: "text" | "word" | "sign"; readonly text: string };

function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  const pattern = /\s+|#[^\n]*|\/\/[^\n]*|\/\*[\s\S]*?\*\/|"((?:[^"\\]|\\.)*)"|([A-Za-z_][\w-]*)|([{}[\]=,:])|([\s\S])/g;
  for (const found of text.matchAll(pattern)) {
    if (found[1] !== undefined) tokens.push({ kind: "text", text: found[1].replace(/\\(.)/g, "$1") });
    else if (found[2] !== undefined) tokens.push({ kind: "word", text: found[2] });
    else if (found[3] !== undefined) tokens.push({ kind: "sign", text: found[3] });
    else if (found[4] !== undefined) throw new PolicyError(`illegal character ${JSON.stringify(found[4])}`);
  }
  return tokens;
}

/** Reads rules. Throws PolicyError. */
export function parseRules(text: string): RuleBlock[] {
  if (text.trim().startsWith("{")) return fromJson(text);
  const reader = new Reader(tokenize(text));
  const body = reader.body(true);
  return [...body.blocks];
}

class Reader {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  #sign(text: string): boolean {
    const token = this.#tokens[this.#at];
    if (token?.kind !== "sign" || token.text !== text) return false;
    this.#at++;
    return true;
  }

  body(top: boolean): Pick<RuleBlock, "values" | "blocks"> {
    const values: Record<string, string | boolean | string[]> = {};
    const blocks: RuleBlock[] = [];
    for (;;) {
      if (!top && this.#sign("}")) return { values, blocks };
      const name = this.#tokens[this.#at++];
      if (name === undefined) {
        if (top) return { values, blocks };
        throw new PolicyError("object expected closing RBRACE got: EOF");
      }
      if (name.kind === "sign") throw new PolicyError(`expected: IDENT | STRING got: ${name.text}`);
      if (this.#sign("=")) {
        if (this.#sign("{")) blocks.push({ type: name.text, label: "", ...this.body(false) });
        else values[name.text] = this.#value();
        this.#sign(",");
        continue;
      }
      const label = this.#tokens[this.#at];
      if (label?.kind === "text") this.#at++;
      if (!this.#sign("{")) throw new PolicyError(`key '${name.text}' expected start of object ('{') or assignment ('=')`);
      blocks.push({ type: name.text, label: label?.kind === "text" ? label.text : "", ...this.body(false) });
    }
  }

  #value(): string | boolean | string[] {
    if (this.#sign("[")) {
      const list: string[] = [];
      while (!this.#sign("]")) {
        const token = this.#tokens[this.#at++];
        if (token === undefined || token.kind === "sign") throw new PolicyError("error parsing list");
        list.push(token.text);
        this.#sign(",");
      }
      return list;
    }
    const token = this.#tokens[this.#at++];
    if (token === undefined || token.kind === "sign") throw new PolicyError("unexpected token while parsing value");
    return token.kind === "word" && (token.text === "true" || token.text === "false") ? token.text === "true" : token.text;
  }
}

function fromJson(text: string): RuleBlock[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new PolicyError("error parsing JSON");
  }
  return blocksOf(value as Readonly<Record<string, unknown>>, true);
}

const labelled = new Set(["namespace", "node_pool", "host_volume", "path"]);

function blocksOf(object: Readonly<Record<string, unknown>>, top: boolean): RuleBlock[] {
  return Object.entries(object).flatMap(([type, value]) => {
    const all = Array.isArray(value) ? value : [value];
    return all.flatMap((one): RuleBlock[] => {
      if (one === null || typeof one !== "object") return [];
      if (!labelled.has(type)) return [blockOf(type, "", one)];
      return Object.entries(one).flatMap(([label, body]) =>
        (Array.isArray(body) ? body : [body]).map((inner) => blockOf(type, label, inner)),
      );
    });
  });
  function blockOf(type: string, label: string, body: Readonly<Record<string, unknown>>): RuleBlock {
    const values: Record<string, string | string[]> = {};
    for (const [name, value] of Object.entries(body)) {
      if (typeof value === "string") values[name] = value;
      else if (Array.isArray(value) && value.every((one) => typeof one === "string")) values[name] = value;
    }
    return { type, label, values, blocks: top ? blocksOf(body, true) : [] };
  }
}
