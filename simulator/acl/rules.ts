import { PolicyError, parseRules, type RuleBlock } from "./policy-text.ts";

/** A policy, its short forms written out. */
export interface Rules {
  readonly namespaces: readonly { readonly pattern: string; readonly capabilities: readonly string[] }[];
  readonly variables: readonly { readonly namespace: string; readonly path: string; readonly capabilities: readonly string[] }[];
  readonly nodePools: readonly { readonly pattern: string; readonly capabilities: readonly string[] }[];
  readonly hostVolumes: readonly { readonly pattern: string; readonly capabilities: readonly string[] }[];
  readonly node: string;
  readonly agent: string;
  readonly operator: string;
}

const read = [
  "list-jobs",
  "parse-job",
  "read-job",
  "csi-list-volume",
  "csi-read-volume",
  "read-job-scaling",
  "list-scaling-policies",
  "read-scaling-policy",
  "host-volume-read",
];
const write = [
  ...read,
  "scale-job",
  "submit-job",
  "dispatch-job",
  "read-logs",
  "read-fs",
  "alloc-exec",
  "alloc-lifecycle",
  "csi-mount-volume",
  "csi-write-volume",
  "submit-recommendation",
  "host-volume-create",
];
const scale = [
  "list-scaling-policies",
  "read-scaling-policy",
  "read-job-scaling",
  "scale-job",
  "read-job",
  "submit-recommendation",
];

const known = new Set([
  ...write,
  ...scale,
  "deny",
  "alloc-node-exec",
  "sentinel-override",
  "csi-register-plugin",
  "host-volume-register",
  "host-volume-write",
  "host-volume-delete",
  "register-job",
  "revert-job",
  "deregister-job",
  "purge-job",
  "evaluate-job",
  "plan-job",
  "tag-job-version",
  "stable-job",
  "fail-deployment",
  "pause-deployment",
  "promote-deployment",
  "unblock-deployment",
  "cancel-deployment",
  "set-alloc-health-deployment",
  "gc-allocation",
  "pause-allocation",
  "force-periodic-job",
  "delete-service-registration",
]);

function expand(policy: string): readonly string[] {
  if (policy === "read") return read;
  if (policy === "write") return write;
  if (policy === "scale") return scale;
  return policy === "deny" ? ["deny"] : [];
}

function texts(value: RuleBlock["values"][string] | undefined): readonly string[] {
  return Array.isArray(value) ? value : typeof value === "string" ? [value] : [];
}

function text(value: RuleBlock["values"][string] | undefined): string {
  return typeof value === "string" ? value : "";
}

type Entry = { readonly pattern: string; readonly capabilities: readonly string[] };

const levels = ["deny", "read", "write", "scale"];
const poolRights: Readonly<Record<string, readonly string[]>> = {
  deny: ["deny"],
  read: ["read"],
  write: ["delete", "read", "write"],
};
const volumeRights: Readonly<Record<string, readonly string[]>> = {
  deny: ["deny"],
  read: ["mount-readonly"],
  write: ["mount-readonly", "mount-readwrite"],
};

/** What a block allows to whatever its label fits. Throws PolicyError. */
function poolOf({ label, values }: RuleBlock): Entry {
  if (!/^[a-zA-Z0-9-_*]{1,128}$/.test(label)) throw new PolicyError(`Invalid node pool name '${label}'`);
  const policy = text(values["policy"]);
  if (policy !== "" && !levels.includes(policy)) throw new PolicyError(`Invalid node pool policy '${policy}' for '${label}'`);
  const capabilities = texts(values["capabilities"]);
  const wrong = capabilities.find((one) => !["delete", "read", "write", "deny"].includes(one));
  if (wrong !== undefined) throw new PolicyError(`Invalid node pool capability '${wrong}' for '${label}'`);
  return { pattern: label, capabilities: [...capabilities, ...(poolRights[policy] ?? [])] };
}

function volumeOf({ label, values }: RuleBlock): Entry {
  const policy = text(values["policy"]);
  return { pattern: label, capabilities: [...(volumeRights[policy] ?? []), ...texts(values["capabilities"])] };
}

function namespaceOf({ label, values }: RuleBlock): Entry {
  const policy = text(values["policy"]);
  if (policy !== "" && !levels.includes(policy))
    throw new PolicyError(`Invalid namespace policy: &acl.NamespacePolicy{Name:"${label}"}`);
  const capabilities = texts(values["capabilities"]);
  const wrong = capabilities.find((one) => !known.has(one));
  if (wrong !== undefined) throw new PolicyError(`Invalid namespace capability '${wrong}'`);
  return { pattern: label, capabilities: [...expand(policy), ...capabilities] };
}

const others = ["node", "agent", "operator", "quota", "plugin", "sentinel"];

/** Reads a policy. Throws PolicyError with the server's words for a policy or capability that does not exist. */
export function readRules(source: string): Rules {
  const blocks = parseRules(source);
  if (blocks.length === 0) throw new PolicyError("Invalid policy: empty policy");
  const ofType = (type: string) => blocks.filter((block) => block.type === type);
  const strange = blocks.find(({ type }) => !["namespace", "node_pool", "host_volume", ...others].includes(type));
  if (strange !== undefined) throw new PolicyError(`invalid key: ${strange.type}`);
  const paths = ofType("namespace").flatMap((block) =>
    block.blocks
      .filter((group) => group.type === "variables")
      .flatMap((group) => group.blocks)
      .map((path) => ({ namespace: block.label, path: path.label, capabilities: pathRights(path) })),
  );
  const level = (type: string) => text(ofType(type)[0]?.values["policy"]);
  return {
    namespaces: ofType("namespace").map(namespaceOf),
    variables: paths,
    nodePools: ofType("node_pool").map(poolOf),
    hostVolumes: ofType("host_volume").map(volumeOf),
    node: level("node"),
    agent: level("agent"),
    operator: level("operator"),
  };
}

/** Read implies list. */
function pathRights(block: RuleBlock): readonly string[] {
  const given = texts(block.values["capabilities"]);
  const wrong = given.find((one) => !["list", "read", "write", "destroy", "deny"].includes(one));
  if (wrong !== undefined) throw new PolicyError(`Invalid variable capability '${wrong}' in path '${block.label}'`);
  const rights = new Set(given);
  if (rights.has("read")) rights.add("list");
  return [...rights];
}
