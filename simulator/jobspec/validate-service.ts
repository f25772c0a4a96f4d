import { goQuote, goQuoteAscii } from "./go-text.ts";
import { listErrors } from "./messages.ts";
import { INTERPOLATED } from "./server-canonicalize.ts";
import { consulCheckProblem, nomadCheckProblem, requiresPort } from "./validate-check.ts";
import { connectProblem } from "./validate-connect.ts";
import { headed } from "./validate-policy.ts";
import { flag, type Rec, rec, recs, str, strings } from "./values.ts";

const NAME = /^(?:[a-z0-9]|[a-z0-9][a-z0-9-]{0,61}[a-z0-9])$/i;
const NAME_RULE =
  "Service name must be valid per RFC 1123 and can contain only alphanumeric characters or dashes and must be no longer than 63 characters";
const MODES = new Set(["host", "driver", "alloc", "alloc_ipv6"]);
const ON_UPDATE = new Set(["", "ignore", "require_healthy", "ignore_warnings"]);
const KINDS = new Set(["", "api-gateway", "ingress-gateway", "mesh-gateway", "terminating-gateway"]);

/** What is wrong with one service. */
export function serviceProblems(service: Rec): string[] {
  const problems: string[] = [];
  const [name, mode, onUpdate, provider] = ["Name", "AddressMode", "OnUpdate", "Provider"].map((key) => str(service, key)) as [
    string,
    string,
    string,
    string,
  ];
  if (!NAME.test(name.replace(INTERPOLATED, "ENV-VAR"))) problems.push(`${NAME_RULE}: ${goQuote(name)}`);
  if (MODES.has(mode)) {
    if (str(service, "Address") !== "") problems.push('Service address_mode must be "auto" if address is set');
  } else if (mode !== "" && mode !== "auto") {
    problems.push(`Service address_mode must be "auto", "host", or "driver"; not ${goQuote(mode)}`);
  }
  if (!ON_UPDATE.has(onUpdate)) {
    problems.push(`Service on_update must be "require_healthy", "ignore_warnings", or "ignore"; not ${goQuote(onUpdate)}`);
  }
  if (provider === "consul") problems.push(...consulProblems(service));
  else if (provider === "nomad") problems.push(...nomadProblems(service));
  else problems.push(`Service provider must be "consul", or "nomad"; not ${goQuote(provider)}`);
  const identity = rec(service, "Identity");
  if (identity !== undefined && strings(identity, "Audience").length === 0) {
    problems.push("Service identity must provide at least one target aud value");
  }
  return problems;
}

function checkPortProblem(service: Rec, check: Rec): string | undefined {
  if (str(service, "PortLabel") !== "" || str(check, "PortLabel") !== "" || !requiresPort(check)) return undefined;
  const name = goQuoteAscii(str(service, "Name"));
  return `Check ${str(check, "Name")} invalid: check requires a port but neither check nor service ${name} have a port`;
}

function consulProblems(service: Rec): string[] {
  const name = str(service, "Name");
  const connect = rec(service, "Connect");
  const problems = recs(service, "Checks").flatMap((check) => consulCheckProblems(service, check, connect));
  if (!KINDS.has(str(service, "Kind"))) problems.push(`Service ${name} kind must be one of consul service kind or empty`);
  if (connect === undefined) return problems;
  const wrong = connectProblem(connect);
  if (wrong !== undefined) problems.push(wrong);
  if (flag(connect, "Native")) {
    if (str(service, "TaskName") === "") problems.push(`Service ${name} is Connect Native and requires setting the task`);
    if (str(service, "PortLabel") === "") problems.push(`Service ${name} is Connect Native and requires setting the port`);
  }
  return problems;
}

function consulCheckProblems(service: Rec, check: Rec, connect: Rec | undefined): string[] {
  const port = checkPortProblem(service, check);
  if (port !== undefined) return [port];
  const name = str(check, "Name");
  if (str(check, "Type") === "tcp" && rec(connect, "SidecarService") !== undefined) {
    return [`Check ${name} invalid: tcp checks are not valid for Connect enabled services`];
  }
  const problem = consulCheckProblem(check);
  return problem === undefined ? [] : [`Check ${name} invalid: ${problem}`];
}

function nomadProblems(service: Rec): string[] {
  const problems = recs(service, "Checks").flatMap((check) => checkPortProblem(service, check) ?? nomadCheckProblem(check) ?? []);
  if (rec(service, "Connect") !== undefined) problems.push("Service with provider nomad cannot include Connect blocks");
  return problems;
}

/** What is wrong with the services of a group and its tasks together. */
export function groupServicesProblems(group: Rec): string[] {
  const problems: string[] = [];
  const taskNames = new Set(recs(group, "Tasks").map((task) => str(task, "Name")));
  const seen = new Set<string>();
  const twice = new Set<string>();
  const providers = new Set<string>();
  const note = (service: Rec, owner: string) => {
    const port = str(service, "PortLabel");
    const id = `${owner}->${str(service, "Name")}${port === "" ? "" : `:${port}`}`;
    if (seen.has(id)) twice.add(id);
    seen.add(id);
    providers.add(str(service, "Provider"));
  };
  for (const task of recs(group, "Tasks")) {
    for (const service of recs(task, "Services")) {
      problems.push(...ownershipProblems(service, str(task, "Name")));
      note(service, str(task, "Name"));
    }
  }
  for (const [i, service] of recs(group, "Services").entries()) {
    note(service, "group");
    const own = serviceProblems(service);
    const name = str(service, "Name");
    if (own.length > 0) problems.push(`Service[${i}] ${name} validation failed: ${listErrors(own)}`);
    else problems.push(...groupServiceProblems(service, taskNames));
  }
  if (twice.size > 0) problems.push(`Services are not unique: [${[...twice].sort().join(" ")}]`);
  if (providers.size > 1) {
    problems.push("Multiple service providers used: task group services must use the same provider");
  }
  return problems;
}

function ownershipProblems(service: Rec, task: string): string[] {
  const foreign = (item: Rec) => str(item, "TaskName") !== "" && str(item, "TaskName") !== task;
  const says = (word: string, kind: string, item: Rec) =>
    `${word} ${str(item, "Name")} is invalid: may only specify task the ${kind} belongs to, got ${goQuote(str(item, "TaskName"))}`;
  return [
    ...(foreign(service) ? [says("Service", "service", service)] : []),
    ...recs(service, "Checks")
      .filter(foreign)
      .map((check) => says("Check", "check", check)),
  ];
}

function groupServiceProblems(service: Rec, taskNames: ReadonlySet<string>): string[] {
  const problems: string[] = [];
  const name = goQuote(str(service, "Name"));
  if (str(service, "AddressMode") === "driver") {
    problems.push(`service ${name} cannot use address_mode="driver", only services defined in a "task" block can use this mode`);
  }
  for (const check of recs(service, "Checks")) {
    const task = str(check, "TaskName");
    if (task === "") continue;
    if (str(check, "AddressMode") === "driver") {
      problems.push(
        `Check ${name} invalid: cannot use address_mode="driver", only checks defined in a "task" service block can use this mode`,
      );
    }
    if (!taskNames.has(task)) problems.push(`Check ${str(check, "Name")} invalid: refers to non-existent task ${task}`);
  }
  return problems;
}

/** Script checks of a group must say in which task they run. */
export function scriptCheckProblems(group: Rec): string[] {
  return recs(group, "Services")
    .filter((service) => str(service, "TaskName") === "")
    .flatMap((service) =>
      recs(service, "Checks")
        .filter((check) => str(check, "Type") === "script" && str(check, "TaskName") === "")
        .map(
          (check) =>
            `Service [${str(group, "Name")}]->${str(service, "Name")} or Check ${str(check, "Name")} must specify task parameter`,
        ),
    );
}

/** What is wrong with the services of one task. */
export function taskServicesProblems(task: Rec, group: Rec): string[] {
  const problems: string[] = [];
  const wanted = new Map<string, Set<string>>();
  const want = (port: string, service: string) => wanted.set(port, (wanted.get(port) ?? new Set()).add(service));
  const known = new Set<string>();
  for (const [i, service] of recs(task, "Services").entries()) {
    const [name, port, mode] = [str(service, "Name"), str(service, "PortLabel"), str(service, "AddressMode")];
    problems.push(...headed(`service[${i}] ${goQuoteAscii(name)} validation failed`, serviceProblems(service)));
    if (mode === "alloc" || mode === "alloc_ipv6") {
      problems.push(
        `service ${goQuote(name)} cannot use address_mode="${mode}", only services defined in a "group" block can use this mode`,
      );
    }
    if (known.has(name + port)) problems.push(`service ${goQuote(name)} is duplicate`);
    known.add(name + port);
    if (port !== "" && !(mode === "driver" && isNumber(port))) want(port, name);
    if (rec(service, "Connect") !== undefined) {
      problems.push(`service ${goQuote(name)} cannot have "connect" block, only services defined in a "group" block can`);
    }
    problems.push(...taskCheckProblems(service, want));
  }
  const labels = portLabels(task, group);
  for (const port of [...wanted.keys()].sort()) {
    if (labels.has(port)) continue;
    const names = [...(wanted.get(port) ?? [])].sort().join(", ");
    problems.push(`port label ${goQuote(port)} referenced by services ${names} does not exist`);
  }
  return problems;
}

function isNumber(text: string): boolean {
  return /^[+-]?\d+$/.test(text);
}

function taskCheckProblems(service: Rec, want: (port: string, service: string) => void): string[] {
  const problems: string[] = [];
  const known = new Set<string>();
  const serviceName = str(service, "Name");
  for (const check of recs(service, "Checks")) {
    const [name, mode] = [goQuote(str(check, "Name")), str(check, "AddressMode")];
    if (known.has(name)) problems.push(`check ${name} is duplicate`);
    known.add(name);
    if (mode === "alloc" || mode === "alloc_ipv6") {
      problems.push(
        `check ${goQuote(serviceName)} cannot use address_mode="${mode}", only checks defined in a "group" service block can use this mode`,
      );
    }
    if (!requiresPort(check)) continue;
    const port = str(check, "PortLabel") || str(service, "PortLabel");
    if (port === "") problems.push(`check ${name} is missing a port`);
    else if (!isNumber(port)) want(port, serviceName);
    else if (mode !== "driver") {
      problems.push(`check ${name} cannot use a numeric port ${Number(port)} without setting address_mode="driver"`);
    } else if (Number(port) <= 0) problems.push(`check ${name} has invalid numeric port ${Number(port)}`);
  }
  return problems;
}

function portLabels(task: Rec, group: Rec): ReadonlySet<string> {
  const networks = [...recs(group, "Networks").slice(0, 1), ...recs(rec(task, "Resources"), "Networks")];
  const ports = networks.flatMap((network) => [...recs(network, "ReservedPorts"), ...recs(network, "DynamicPorts")]);
  return new Set(ports.map((port) => str(port, "Label")));
}
