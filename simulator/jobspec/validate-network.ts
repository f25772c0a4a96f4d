import { goQuote } from "./go-text.ts";
import { flag, num, type Rec, rec, recs, str } from "./values.ts";

const MAX_PORT = 65_535;

/** Ports seen so far in a group. */
interface Seen {
  readonly labels: Map<string, string>;
  /** `host network/port` → who has it. */
  readonly fixed: Map<string, string>;
}

/** What is wrong with the networks of a group and its tasks. */
export function networksProblems(group: Rec): string[] {
  const problems: string[] = [];
  const seen: Seen = { labels: new Map(), fixed: new Map() };
  const argKeys = new Set<string>();
  for (const network of recs(group, "Networks")) {
    for (const port of portsOf(network)) problems.push(...groupPortProblems(port, str(network, "Mode"), seen));
    problems.push(...cniProblems(network, argKeys));
    const hostname = str(network, "Hostname");
    if (hostname !== "" && !hostname.includes("${") && !isDomainName(hostname)) problems.push("Hostname is not a valid DNS name");
  }
  for (const task of recs(group, "Tasks")) {
    for (const network of recs(rec(task, "Resources"), "Networks")) {
      for (const port of portsOf(network)) problems.push(...taskPortProblems(port, str(task, "Name"), seen));
    }
  }
  return problems;
}

function portsOf(network: Rec): Rec[] {
  return [...recs(network, "ReservedPorts"), ...recs(network, "DynamicPorts")];
}

function groupPortProblems(port: Rec, mode: string, seen: Seen): string[] {
  const problems: string[] = [];
  const label = str(port, "Label");
  const other = seen.labels.get(label);
  if (other !== undefined) problems.push(`Port label ${label} already in use by ${other}`);
  else seen.labels.set(label, "taskgroup network");
  problems.push(...fixedPortProblems(port, `taskgroup network:${label}`, seen, flag(port, "IgnoreCollision")));
  const to = num(port, "To");
  if (to < -1) problems.push(`Port ${goQuote(label)} cannot be mapped to negative value ${to}`);
  if (to > MAX_PORT) problems.push(`Port ${goQuote(label)} cannot be mapped to a port (${to}) greater than ${MAX_PORT}`);
  if (flag(port, "IgnoreCollision") && mode !== "" && mode !== "host") {
    problems.push(`Port ${goQuote(label)} collision may not be ignored on non-host network mode ${goQuote(mode)}`);
  }
  return problems;
}

function taskPortProblems(port: Rec, task: string, seen: Seen): string[] {
  const label = str(port, "Label");
  const other = seen.labels.get(label);
  const problems = other === undefined ? [] : [`Port label ${label} already in use by ${other}`];
  return [...problems, ...fixedPortProblems(port, `${task}:${label}`, seen, false)];
}

function fixedPortProblems(port: Rec, owner: string, seen: Seen, mayCollide: boolean): string[] {
  const value = num(port, "Value");
  if (value === 0) return [];
  const place = `${str(port, "HostNetwork") || "default"}/${value}`;
  const other = seen.fixed.get(place);
  if (other !== undefined) return mayCollide ? [] : [`Static port ${value} already reserved by ${other}`];
  if (value > MAX_PORT) return [`Port ${str(port, "Label")} (${value}) cannot be greater than ${MAX_PORT}`];
  seen.fixed.set(place, owner);
  return [];
}

function cniProblems(network: Rec, argKeys: Set<string>): string[] {
  const problems: string[] = [];
  const args = rec(rec(network, "CNI"), "Args") ?? {};
  for (const [key, value] of Object.entries(args)) {
    if (argKeys.has(key)) problems.push(`duplicate CNI arg ${goQuote(key)}`);
    argKeys.add(key);
    if (key.includes(";")) problems.push(`invalid ';' character in CNI arg key ${goQuote(key)}`);
    if (String(value).includes(";")) problems.push(`invalid ';' character in CNI arg value ${goQuote(String(value))}`);
  }
  return problems;
}

/** Labels of 1 to 63 octets, 255 in all. */
function isDomainName(name: string): boolean {
  if (name === ".") return true;
  const labels = name.replace(/\.$/, "").split(".");
  return Buffer.byteLength(name) < 255 && labels.every((label) => label !== "" && Buffer.byteLength(label) <= 63);
}
