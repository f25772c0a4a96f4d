import { goDuration } from "../jobspec/go-text.ts";
import { num, type Rec, rec, recEntries, recs, sameJson, str } from "../jobspec/values.ts";
import { fieldDiffs } from "./field-diff.ts";
import { type Child, keyed, keyedDiffs, type ObjectSpec, objectDiff, one, shown, textSet } from "./object-diff.ts";
import { config, identities, logs, RESOURCES, simple, volumeMounts } from "./specs-common.ts";

/** How Consul Connect is compared (nomad-api §2.3). */

const UPSTREAM: ObjectSpec = {
  name: "ConsulUpstreams",
  table: "ConsulUpstream",
  children: [simple("MeshGateway", "ConsulMeshGateway")],
};

const upstreams = keyed(
  "Upstreams",
  (upstream) => `${str(upstream, "Datacenter")}/${str(upstream, "DestinationName")}`,
  () => UPSTREAM,
);

const PATH: ObjectSpec = { name: "Paths", table: "ConsulExposePath", byFields: true };

const expose: Child = (before, after, contextual) => {
  const [old, next] = [rec(before, "Expose"), rec(after, "Expose")];
  if (sameJson(old, next)) return [];
  const [a, b] = [recs(old, "Paths"), recs(next, "Paths")];
  const type = a.length === 0 ? "Added" : b.length === 0 ? "Deleted" : "Edited";
  const wholes = (paths: readonly Rec[]) => new Map(paths.map((path) => [JSON.stringify(path), path]));
  return [shown("Expose", type, [], keyedDiffs(PATH, wholes(a), wholes(b), contextual))];
};

const TRANSPARENT: ObjectSpec = {
  name: "TransparentProxy",
  table: "ConsulTransparentProxy",
  children: ["ExcludeInboundPorts", "ExcludeOutboundPorts", "ExcludeOutboundCIDRs", "ExcludeUIDs"].map((key) =>
    textSet(key, true),
  ),
};

/** Shown even where neither side has one. */
const transparent: Child = (before, after, contextual) => {
  const [old, next] = [rec(before, "TransparentProxy"), rec(after, "TransparentProxy")];
  return [
    objectDiff(TRANSPARENT, old, next, contextual) ?? { Type: "None", Name: "TransparentProxy", Fields: null, Objects: null },
  ];
};

const PROXY: ObjectSpec = { name: "ConsulProxy", table: "ConsulProxy", children: [upstreams, expose, transparent, config] };

const SIDECAR_SERVICE: ObjectSpec = {
  name: "SidecarService",
  table: "ConsulSidecarService",
  children: [one("Proxy", () => PROXY)],
};

const SIDECAR_TASK: ObjectSpec = {
  name: "SidecarTask",
  table: "SidecarTask",
  terse: true,
  children: [config, one("Resources", () => RESOURCES), identities, logs, volumeMounts],
};

const bindAddresses: Child = (before, after, contextual) => {
  const key = "EnvoyGatewayBindAddresses";
  if (sameJson(before?.[key], after?.[key])) return [];
  const flat = (object: Rec | undefined) =>
    recEntries(object, key).map(([name, a]) => [name, `${joinHost(str(a, "Address"))}:${num(a, "Port")}`] as const);
  const [old, next] = [flat(before), flat(after)];
  const type = old.length === 0 ? "Added" : next.length === 0 ? "Deleted" : "Edited";
  return [shown(key, type, fieldDiffs(old, next, contextual))];
};

/** An IPv6 address stands in brackets before a port. */
function joinHost(address: string): string {
  return address.includes(":") ? `[${address}]` : address;
}

const GATEWAY_PROXY: ObjectSpec = {
  name: "Proxy",
  table: "ConsulGatewayProxy",
  both: (proxy) => [["ConnectTimeout", proxy["ConnectTimeout"] === null ? "" : goDuration(num(proxy, "ConnectTimeout"))]],
  children: [bindAddresses, config],
};

const TLS: ObjectSpec = {
  name: "TLS",
  table: "ConsulGatewayTLSConfig",
  children: [textSet("CipherSuites"), simple("SDS", "ConsulGatewayTLSSDSConfig")],
};

function headerModifiers(key: string): Child {
  const spec: ObjectSpec = { name: key, table: "ConsulHTTPHeaderModifiers", children: [textSet("Remove")] };
  return one(key, () => spec);
}

const INGRESS_SERVICE: ObjectSpec = {
  name: "ConsulIngressService",
  table: "ConsulIngressService",
  ifSet: ["MaxConnections", "MaxPendingRequests", "MaxConcurrentRequests"],
  children: [textSet("Hosts"), one("TLS", () => TLS), headerModifiers("RequestHeaders"), headerModifiers("ResponseHeaders")],
};

const named = (object: Rec): string => str(object, "Name");

const LISTENER: ObjectSpec = {
  name: "Listener",
  table: "ConsulIngressListener",
  children: [keyed("Services", named, () => INGRESS_SERVICE)],
};

const INGRESS: ObjectSpec = {
  name: "Ingress",
  table: "ConsulIngressConfigEntry",
  children: [
    one("TLS", () => TLS),
    keyed(
      "Listeners",
      (listener) => `${str(listener, "Protocol")}/${num(listener, "Port")}`,
      () => LISTENER,
    ),
  ],
};

const LINKED_SERVICE: ObjectSpec = { name: "Service", table: "ConsulLinkedService" };

const TERMINATING: ObjectSpec = {
  name: "Terminating",
  table: "ConsulTerminatingConfigEntry",
  children: [keyed("Services", named, () => LINKED_SERVICE)],
};

const MESH: ObjectSpec = { name: "Mesh", table: "ConsulMeshConfigEntry" };

const GATEWAY: ObjectSpec = {
  name: "Gateway",
  table: "ConsulGateway",
  children: [
    one("Proxy", () => GATEWAY_PROXY),
    one("Ingress", () => INGRESS),
    one("Terminating", () => TERMINATING),
    one("Mesh", () => MESH),
  ],
};

export const CONNECT: ObjectSpec = {
  name: "ConsulConnect",
  table: "ConsulConnect",
  children: [one("SidecarService", () => SIDECAR_SERVICE), one("SidecarTask", () => SIDECAR_TASK), one("Gateway", () => GATEWAY)],
};
