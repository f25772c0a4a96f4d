import { FunctionError, parameter } from "../scope.ts";
import { isWhollyKnown, listValue, objectValue, STRING, stringValue, unknownValue, type Value } from "../value.ts";
import { jsonText, parseJsonValue } from "../value-text.ts";
import { at, define, type FunctionTable, str, textAt } from "./define.ts";

function decodeBase64(args: readonly Value[]): Value {
  // Go's decoder passes over line breaks and nothing else.
  const text = textAt(args, 0).replace(/[\r\n]/g, "");
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)) {
    throw new FunctionError(`failed to decode base64 data '${textAt(args, 0)}'`);
  }
  try {
    return stringValue(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.from(text, "base64")));
  } catch {
    throw new FunctionError("the result of decoding the the provided string is not valid UTF-8");
  }
}

/** The escaping of a query string: spaces become `+`. */
function encodeUrl(text: string): string {
  return encodeURIComponent(text)
    .replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll("%20", "+");
}

function decodeJson(args: readonly Value[]): Value {
  try {
    return parseJsonValue(textAt(args, 0));
  } catch {
    // The parser's own words quote the text, which may be a secret.
    throw new FunctionError("the text is not a JSON document");
  }
}

function encodeJson(args: readonly Value[]): Value {
  const value = at(args, 0);
  return isWhollyKnown(value) ? stringValue(jsonText(value)) : unknownValue(STRING);
}

/** Reads records of comma separated values (RFC 4180) and the line each begins at. */
function readCsv(text: string): { fields: string[]; line: number }[] {
  const records: { fields: string[]; line: number }[] = [];
  const pattern = /(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\r?\n|$)/y;
  let line = 1;
  while (pattern.lastIndex < text.length) {
    const blank = /\r?\n/y;
    blank.lastIndex = pattern.lastIndex;
    if (blank.test(text)) {
      pattern.lastIndex = blank.lastIndex;
      line += 1;
      continue;
    }
    const record = { fields: [] as string[], line };
    for (let more = true; more; ) {
      const match = pattern.exec(text);
      if (match === null) throw new FunctionError(`CSV parse error on line ${line}: bare " in non-quoted-field`);
      const quoted = match[1];
      record.fields.push(
        quoted === undefined ? (match[2] ?? "").replace(/\r$/, "") : quoted.replaceAll('""', '"').replaceAll("\r\n", "\n"),
      );
      line += match[0].split("\n").length - 1;
      more = match[3] === ",";
    }
    records.push(record);
  }
  return records;
}

function decodeCsv(args: readonly Value[]): Value {
  const [header, ...rows] = readCsv(textAt(args, 0));
  if (header === undefined) throw new FunctionError("missing header line");
  header.fields.forEach((name, index) => {
    if (header.fields.indexOf(name) !== index) throw new FunctionError(`duplicate column name ${JSON.stringify(name)}`);
  });
  const objects = rows.map(({ fields, line }) => {
    if (fields.length !== header.fields.length)
      throw new FunctionError(`CSV parse error on line ${line}: wrong number of fields`);
    return objectValue(header.fields.map((name, index) => [name, stringValue(fields[index] ?? "")]));
  });
  return listValue(objects, { kind: "object", attributes: new Map(header.fields.map((name) => [name, STRING])) });
}

export const encodingFunctions: FunctionTable = {
  base64decode: define([str("str")], decodeBase64),
  base64encode: define([str("str")], (args) => stringValue(Buffer.from(textAt(args, 0)).toString("base64"))),
  csvdecode: define([str("str")], decodeCsv),
  jsondecode: define([str("str")], decodeJson),
  jsonencode: define([parameter("val", undefined, { allowNull: true, allowUnknown: true })], encodeJson),
  urlencode: define([str("str")], (args) => stringValue(encodeUrl(textAt(args, 0)))),
};
