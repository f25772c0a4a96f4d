import { num, type Rec, rec, recs, sameJson, str, strings } from "../jobspec/values.ts";
import { sortObjects } from "./field-diff.ts";
import { flattenAny } from "./flatten.ts";
import { type Child, freeForm, keyed, type ObjectSpec, objectDiff, one, placed, textSet } from "./object-diff.ts";

/** How the objects are compared that jobs, groups and tasks share. Names and rules: nomad-api §2.3–§2.5. */

const CONSTRAINT: ObjectSpec = { name: "Constraint", table: "Constraint", byFields: true };
const AFFINITY: ObjectSpec = { name: "Affinity", table: "Affinity", byFields: true };

function wording(object: Rec): string {
  return `${str(object, "LTarget")} ${str(object, "Operand")} ${str(object, "RTarget")}`;
}

export const constraints: Child = keyed("Constraints", wording, () => CONSTRAINT);
export const affinities: Child = keyed(
  "Affinities",
  (a) => `${wording(a)} ${num(a, "Weight")}`,
  () => AFFINITY,
);

/** An object of plain fields that shows only what a field shows. */
export function simple(key: string, table: string, name = key, skip?: readonly string[]): Child {
  const spec: ObjectSpec = { name, table, byFields: true, ...(skip === undefined ? {} : { skip }) };
  return one(key, () => spec);
}

const PORT_SKIP = { "Static Port": [], "Dynamic Port": ["Value", "IgnoreCollision"] } as const;

function ports(key: string, name: keyof typeof PORT_SKIP): Child {
  const spec: ObjectSpec = { name, table: "Port", byFields: true, skip: PORT_SKIP[name] };
  return keyed(
    key,
    (port) => str(port, "Label"),
    () => spec,
  );
}

function joined(object: Rec, keys: readonly string[]): (readonly [string, string])[] {
  return keys.filter((key) => strings(object, key).length > 0).map((key) => [key, strings(object, key).join(",")] as const);
}

const DNS: ObjectSpec = { name: "DNS", table: "DNSConfig", flat: (dns) => joined(dns, ["Servers", "Searches", "Options"]) };
const CNI: ObjectSpec = { name: "CNIConfig", table: "CNIConfig", byFields: true, flat: (cni) => flattenAny(rec(cni, "Args")) };

const NETWORK: ObjectSpec = {
  name: "Network",
  table: "NetworkResource",
  skip: ["Device", "CIDR", "IP", "MBits"],
  children: [
    ports("ReservedPorts", "Static Port"),
    ports("DynamicPorts", "Dynamic Port"),
    one("DNS", () => DNS),
    one("CNI", () => CNI),
  ],
};

/** A changed network is shown as one deleted and one added. */
export const networks: Child = (before, after, contextual) => {
  const [old, next] = [distinct(recs(before, "Networks")), distinct(recs(after, "Networks"))];
  if (old.length === 0 && next.length === 0) return [];
  const gone = old.filter((network) => !next.some((other) => sameNetwork(network, other)));
  const come = next.filter((network) => !old.some((other) => sameNetwork(network, other)));
  const found = [
    ...gone.map((network) => objectDiff(NETWORK, network, undefined, contextual)),
    ...come.map((network) => objectDiff(NETWORK, undefined, network, contextual)),
  ];
  return sortObjects(found.filter((diff) => diff !== undefined));
};

/** Networks form a set. */
function distinct(list: readonly Rec[]): readonly Rec[] {
  return list.length < 2 ? list : list.filter((network, i) => list.findIndex((other) => sameNetwork(network, other)) === i);
}

/** The server compares hashes, to which a list without entries is as good as none. */
function sameNetwork(a: Rec, b: Rec): boolean {
  return sameJson(a, b) || sameJson(withoutEmptyLists(a), withoutEmptyLists(b));
}

function withoutEmptyLists(network: Rec): unknown {
  return JSON.parse(JSON.stringify(network, (_, part: unknown) => (Array.isArray(part) && part.length === 0 ? null : part)));
}

const DEVICE: ObjectSpec = { name: "Device", table: "RequestedDevice" };
const NUMA: ObjectSpec = { name: "NUMA", table: "NUMA" };

export const RESOURCES: ObjectSpec = {
  name: "Resources",
  table: "Resources",
  children: [
    networks,
    keyed(
      "Devices",
      (device) => str(device, "Name"),
      () => DEVICE,
    ),
    one("NUMA", () => NUMA),
  ],
};

export const IDENTITY: ObjectSpec = { name: "Identity", table: "WorkloadIdentity", children: [textSet("Audience")] };

export const identities: Child = keyed(
  "Identities",
  (identity) => str(identity, "Name"),
  () => IDENTITY,
);

const VOLUME_MOUNT: ObjectSpec = { name: "VolumeMount", table: "VolumeMount" };
export const volumeMounts: Child = placed("VolumeMounts", () => VOLUME_MOUNT);

export const config: Child = freeForm("Config");
export const logs: Child = simple("LogConfig", "LogConfig");
