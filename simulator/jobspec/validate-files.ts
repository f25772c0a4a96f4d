import { posix } from "node:path";
import { goDuration, goQuote } from "./go-text.ts";
import { flag, num, type Rec, rec, str } from "./values.ts";

/** Whether a path below `prefix` of an allocation leads out of the allocation's folder. */
export function escapesAllocation(prefix: string, path: string): boolean {
  const base = "/alloc-dir/alloc-id";
  return posix.relative(base, posix.join(base, prefix, path)).startsWith("..");
}

/** What is wrong with a template. */
export function templateProblems(template: Rec): string[] {
  const problems: string[] = [];
  const say = (bad: boolean, text: string) => {
    if (bad) problems.push(text);
  };
  say(
    str(template, "SourcePath") === "" && str(template, "EmbeddedTmpl") === "",
    "Must specify a source path or have an embedded template",
  );
  const destination = str(template, "DestPath");
  say(destination === "", "Must specify a destination for the template");
  say(escapesAllocation("task", destination), "destination escapes allocation directory");
  problems.push(...changeProblems(template));
  say(num(template, "Splay") < 0, "Must specify positive splay value");
  const perms = str(template, "Perms");
  if (perms !== "") {
    const why = octalProblem(perms);
    say(why !== "", `Failed to parse ${goQuote(perms)} as octal: strconv.ParseUint: parsing ${goQuote(perms)}: ${why}`);
  }
  const wait = rec(template, "Wait");
  const [min, max] = [wait?.["Min"], wait?.["Max"]];
  if (typeof min === "number" && typeof max === "number" && min > max) {
    problems.push(`wait min ${goDuration(min)} is greater than max ${goDuration(max)}`);
  }
  return problems;
}

function octalProblem(text: string): string {
  if (!/^[0-7]+$/.test(text)) return "invalid syntax";
  return Number.parseInt(text, 8) > 0o7777 ? "value out of range" : "";
}

function changeProblems(template: Rec): string[] {
  switch (str(template, "ChangeMode")) {
    case "noop":
    case "restart":
      return [];
    case "signal":
      return [
        ...(str(template, "ChangeSignal") === "" ? ["Must specify signal value when change mode is signal"] : []),
        ...(flag(template, "Envvars") ? ["cannot use signals with env var templates"] : []),
      ];
    case "script": {
      const script = rec(template, "ChangeScript");
      if (script === undefined) return ["must specify change script configuration value when change mode is script"];
      return str(script, "Command") === "" ? ["must specify script path value when change mode is script"] : [];
    }
    default:
      return ["Invalid change mode. Must be one of the following: noop, signal, script, restart"];
  }
}

/** What is wrong with an artifact. */
export function artifactProblems(artifact: Rec): string[] {
  const problems: string[] = [];
  if (str(artifact, "GetterSource") === "") problems.push("source must be specified");
  const mode = str(artifact, "GetterMode");
  if (!["", "any", "file", "dir"].includes(mode)) {
    problems.push(`invalid artifact mode ${goQuote(mode)}; must be one of: any, file, dir`);
  }
  if (escapesAllocation("task", str(artifact, "RelativeDest"))) problems.push("destination escapes allocation directory");
  const checksum = rec(artifact, "GetterOptions")?.["checksum"];
  const wrong = typeof checksum === "string" ? checksumProblem(checksum) : undefined;
  if (wrong !== undefined) problems.push(wrong);
  return problems;
}

const CHECKSUM_BYTES: Readonly<Record<string, number>> = { md5: 16, sha1: 20, sha256: 32, sha512: 64 };

function checksumProblem(text: string): string | undefined {
  if (/\$\{[a-zA-Z0-9_\-.]+\}/.test(text)) return undefined;
  const checksum = text.trim();
  if (checksum === "") return "checksum value cannot be empty";
  const parts = checksum.split(":");
  const [type = "", value = ""] = parts;
  if (parts.length !== 2) return `checksum must be given as "type:value"; got ${goQuote(checksum)}`;
  const bad = /[^0-9a-fA-F]/u.exec(value);
  if (bad !== null) return `invalid checksum: encoding/hex: invalid byte: ${codePoint(bad[0])}`;
  if (value.length % 2 === 1) return "invalid checksum: encoding/hex: odd length hex string";
  const bytes = CHECKSUM_BYTES[type];
  if (bytes === undefined) return `unsupported checksum type: ${type}`;
  return value.length / 2 === bytes ? undefined : `invalid ${type} checksum: ${value}`;
}

function codePoint(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  return `U+${code.toString(16).toUpperCase().padStart(4, "0")} '${char}'`;
}
