import { FunctionError, parameter } from "../scope.ts";
import { compareText, integerValue, listValue, STRING, stringValue, type Value } from "../value.ts";
import { at, collectionOf, define, type FunctionTable, integerAt, itemsOf, num, str, textAt } from "./define.ts";
import { compileRegex, replaceRegex } from "./regex.ts";

const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });

function charactersOf(text: string): string[] {
  return [...segmenter.segment(text)].map(({ segment }) => segment);
}

/** Letter by letter, as in Go: a letter whose capital is several letters has none. */
function upper(text: string): string {
  return [...text].map((character) => ([...character.toUpperCase()].length === 1 ? character.toUpperCase() : character)).join("");
}

function lower(text: string): string {
  return [...text].map((character) => [...character.toLowerCase()][0] ?? "").join("");
}

function substring(args: readonly Value[]): Value {
  const characters = charactersOf(textAt(args, 0));
  let offset = integerAt(args, 1);
  const length = integerAt(args, 2);
  if (offset < 0) offset += characters.length;
  else if (length === 0) return stringValue("");
  const from = Math.max(0, offset);
  // A length of zero behind a negative offset takes everything: so does Nomad's function.
  return stringValue(characters.slice(from, length <= 0 ? undefined : from + length).join(""));
}

function join(args: readonly Value[]): Value {
  const lists = args.slice(1);
  if (lists.length === 0) throw new FunctionError("at least one list is required");
  const texts = lists.flatMap((list, listIndex) =>
    itemsOf(list).map((item, index) => {
      if (item.kind === "string") return item.value;
      const where = lists.length > 1 ? `element ${index} of list ${listIndex + 1}` : `element ${index}`;
      throw new FunctionError(`${where} is null; cannot concatenate null values`, listIndex + 1);
    }),
  );
  return stringValue(texts.join(textAt(args, 0)));
}

function sort(args: readonly Value[]): Value {
  const texts = itemsOf(at(args, 0)).map((item, index) => {
    if (item.kind === "string") return item.value;
    throw new FunctionError(`given list element ${index} is null; a null string cannot be sorted`);
  });
  return listValue(texts.sort(compareText).map(stringValue), STRING);
}

function split(args: readonly Value[]): Value {
  const separator = textAt(args, 0);
  const text = textAt(args, 1);
  const parts = separator === "" ? [...text] : text.split(separator);
  return listValue(parts.map(stringValue), STRING);
}

/** Upper case for the first letter of every word; a word ends at whatever is no letter, digit or underscore. */
function title(text: string): string {
  let previous = " ";
  let result = "";
  for (const character of text) {
    const starts = /[\p{ASCII}]/u.test(previous) ? !/[\w]/.test(previous) : /\s/u.test(previous);
    result += starts ? upper(character) : character;
    previous = character;
  }
  return result;
}

function trim(text: string, cutset: string): string {
  const cut = new Set(cutset);
  const characters = [...text];
  let start = 0;
  let end = characters.length;
  while (start < end && cut.has(characters[start] ?? "")) start += 1;
  while (end > start && cut.has(characters[end - 1] ?? "")) end -= 1;
  return characters.slice(start, end).join("");
}

function indent(args: readonly Value[]): Value {
  const spaces = integerAt(args, 0);
  if (spaces < 0 || spaces > 1024) throw new FunctionError("the number of spaces must be between 0 and 1024");
  return stringValue(textAt(args, 1).replaceAll("\n", `\n${" ".repeat(spaces)}`));
}

const SPACE = "[\\t\\n\\v\\f\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+";
const EDGE_SPACE = new RegExp(`^${SPACE}|${SPACE}$`, "g");

const reverse = define([str("str")], (args) => stringValue(charactersOf(textAt(args, 0)).reverse().join("")));

export const textFunctions: FunctionTable = {
  chomp: define([str("str")], (args) => stringValue(textAt(args, 0).replace(/(?:\r\n?|\n)*$/, ""))),
  indent: define([num("spaces"), str("str")], indent),
  join: define([str("separator")], join, parameter("lists", collectionOf("list", STRING))),
  lower: define([str("str")], (args) => stringValue(lower(textAt(args, 0)))),
  regex_replace: define([str("str"), str("pattern"), str("replace")], (args) => {
    return stringValue(replaceRegex(textAt(args, 0), compileRegex(textAt(args, 1)), textAt(args, 2)));
  }),
  replace: define([str("str"), str("substr"), str("replace")], (args) => {
    return stringValue(textAt(args, 0).replaceAll(textAt(args, 1), () => textAt(args, 2)));
  }),
  reverse,
  sort: define([parameter("list", collectionOf("list", STRING))], sort),
  split: define([str("separator"), str("str")], split),
  strlen: define([str("str")], (args) => integerValue(charactersOf(textAt(args, 0)).length)),
  strrev: reverse,
  substr: define([str("str"), num("offset"), num("length")], substring),
  title: define([str("str")], (args) => stringValue(title(textAt(args, 0)))),
  trim: define([str("str"), str("cutset")], (args) => stringValue(trim(textAt(args, 0), textAt(args, 1)))),
  trimprefix: define([str("str"), str("prefix")], (args) => {
    const text = textAt(args, 0);
    const prefix = textAt(args, 1);
    return stringValue(text.startsWith(prefix) ? text.slice(prefix.length) : text);
  }),
  trimspace: define([str("str")], (args) => stringValue(textAt(args, 0).replace(EDGE_SPACE, ""))),
  trimsuffix: define([str("str"), str("suffix")], (args) => {
    const text = textAt(args, 0);
    const suffix = textAt(args, 1);
    return stringValue(text.endsWith(suffix) ? text.slice(0, text.length - suffix.length) : text);
  }),
  upper: define([str("str")], (args) => stringValue(upper(textAt(args, 0)))),
};
