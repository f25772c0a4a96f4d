import { PolicyError, parseRules, type RuleBlock } from "./policy-text.ts";

/** A policy, its short forms written out. */
export interface Rules {
  readonly namespaces: readonly { readonly pattern: string; readonly capabilities: readonly string[] }[];
  readonly variables: readonly { readonly namespace: string; readonly path: string; readonly capabilities: readonly string[] }[];
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

/** Reads a policy. Throws PolicyError with the server's words for a policy or capability that does not exist. */
export function readRules(source: string): Rules {
  const blocks = parseRules(source);
  const namespaces: { pattern: string; capabilities: readonly string[] }[] = [];
  const variables: { namespace: string; path: string; capabilities: readonly string[] }[] = [];
  const hostVolumes: { pattern: string; capabilities: readonly string[] }[] = [];
  for (const block of blocks) {
    if (block.type === "namespace") {
      const policy = text(block.values["policy"]);
      if (policy !== "" && expand(policy).length === 0)
        throw new PolicyError(`Invalid namespace policy: &acl.NamespacePolicy{Name:"${block.label}"}`);
      const capabilities = texts(block.values["capabilities"]);
      const wrong = capabilities.find((one) => !known.has(one));
      if (wrong !== undefined) throw new PolicyError(`Invalid namespace capability '${wrong}'`);
      namespaces.push({ pattern: block.label, capabilities: [...expand(policy), ...capabilities] });
      for (const group of block.blocks.filter((one) => one.type === "variables")) {
        for (const path of group.blocks)
          variables.push({ namespace: block.label, path: path.label, capabilities: pathRights(path) });
      }
    } else if (block.type === "host_volume") {
      const policy = text(block.values["policy"]);
      const implied =
        policy === "write"
          ? ["mount-readonly", "mount-readwrite"]
          : policy === "read"
            ? ["mount-readonly"]
            : policy === "deny"
              ? ["deny"]
              : [];
      hostVolumes.push({ pattern: block.label, capabilities: [...implied, ...texts(block.values["capabilities"])] });
    } else if (!["node", "agent", "operator", "quota", "plugin", "node_pool", "sentinel"].includes(block.type)) {
      throw new PolicyError(`invalid key: ${block.type}`);
    }
  }
  const level = (type: string) => text(blocks.find((block) => block.type === type)?.values["policy"]);
  if (blocks.length === 0) throw new PolicyError("Invalid policy: empty policy");
  return { namespaces, variables, hostVolumes, node: level("node"), agent: level("agent"), operator: level("operator") };
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
