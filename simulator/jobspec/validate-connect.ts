import { isIP } from "node:net";
import { connectNetworkProblem, nativeTask } from "./connect.ts";
import { goQuote } from "./go-text.ts";
import { listErrors } from "./messages.ts";
import { flag, isUnset, num, type Rec, rec, recEntries, recs, str, strings } from "./values.ts";

/** What is wrong with a service's connect block by itself. */
export function connectProblem(connect: Rec): string | undefined {
  const sidecar = rec(connect, "SidecarService");
  const transparent = rec(rec(sidecar, "Proxy"), "TransparentProxy");
  const wrong = transparent === undefined ? undefined : transparentProblem(transparent);
  if (wrong !== undefined) return wrong;
  const gateway = rec(connect, "Gateway");
  const kinds = [sidecar !== undefined, flag(connect, "Native"), gateway !== undefined].filter(Boolean).length;
  if (kinds !== 1) return "Consul Connect must be exclusively native, make use of a sidecar, or represent a Gateway";
  return gateway === undefined ? undefined : gatewayProblem(gateway);
}

function transparentProblem(proxy: Rec): string | undefined {
  const problems: string[] = [];
  for (const cidr of strings(proxy, "ExcludeOutboundCIDRs")) {
    const why = prefixProblem(cidr);
    if (why === undefined) continue;
    problems.push(
      `could not parse transparent proxy excluded outbound CIDR as network prefix: netip.ParsePrefix(${goQuote(cidr)}): ${why}`,
    );
  }
  const uid = str(proxy, "UID");
  if (uid !== "") problems.push(...userProblem(uid, "UID"));
  for (const excluded of strings(proxy, "ExcludeUIDs")) problems.push(...userProblem(excluded, "ExcludeUIDs"));
  if (problems.length < 2) return problems[0];
  return listErrors(problems);
}

function prefixProblem(cidr: string): string | undefined {
  const slash = cidr.lastIndexOf("/");
  if (slash < 0) return "no '/'";
  const [address, bits] = [cidr.slice(0, slash), cidr.slice(slash + 1)];
  const family = isIP(address);
  if (family === 0) return `ParseAddr(${goQuote(address)}): unable to parse IP`;
  if (!/^(0|[1-9]\d*)$/.test(bits)) return `bad bits after slash: ${goQuote(bits)}`;
  return Number(bits) > (family === 4 ? 32 : 128) ? "prefix length out of range" : undefined;
}

function userProblem(uid: string, field: string): string[] {
  const fits = /^\d+$/.test(uid) && Number(uid) <= 65_535;
  if (fits) return [];
  const why = /^\d+$/.test(uid) ? "value out of range" : "invalid syntax";
  return [`transparent proxy block has invalid ${field} field: invalid user ID ${goQuote(uid)}: ${why}`];
}

function gatewayProblem(gateway: Rec): string | undefined {
  const [proxy, ingress, terminating] = [rec(gateway, "Proxy"), rec(gateway, "Ingress"), rec(gateway, "Terminating")];
  const wrong =
    (proxy === undefined ? undefined : proxyProblem(proxy)) ??
    (ingress === undefined ? undefined : ingressProblem(ingress)) ??
    (terminating === undefined ? undefined : terminatingProblem(terminating));
  if (wrong !== undefined) return wrong;
  const kinds = [ingress, terminating, rec(gateway, "Mesh")].filter((k) => k !== undefined).length;
  return kinds === 1 ? undefined : "One Consul Gateway Configuration must be set";
}

function proxyProblem(proxy: Rec): string | undefined {
  if (isUnset(proxy["ConnectTimeout"])) return "Consul Gateway Proxy connection_timeout must be set";
  const dns = str(proxy, "EnvoyDNSDiscoveryType");
  if (!["", "STRICT_DNS", "LOGICAL_DNS"].includes(dns)) {
    return "Consul Gateway Proxy Envoy DNS Discovery type must be STRICT_DNS or LOGICAL_DNS";
  }
  for (const [, address] of recEntries(proxy, "EnvoyGatewayBindAddresses")) {
    if (str(address, "Address") === "") return "Consul Gateway Bind Address must be set";
    const port = num(address, "Port");
    if (port <= 0 && port !== -1) return "Consul Gateway Bind Address must set valid Port";
  }
  return undefined;
}

const PROTOCOLS = ["tcp", "http", "http2", "grpc"];

function ingressProblem(ingress: Rec): string | undefined {
  const listeners = recs(ingress, "Listeners");
  if (listeners.length === 0) return "Consul Ingress Gateway requires at least one listener";
  for (const listener of listeners) {
    const protocol = str(listener, "Protocol");
    if (num(listener, "Port") <= 0) return "Consul Ingress Listener requires valid Port";
    if (!PROTOCOLS.includes(protocol)) {
      return `Consul Ingress Listener requires protocol of ${PROTOCOLS.join(", ")}, got ${goQuote(protocol)}`;
    }
    const services = recs(listener, "Services");
    if (services.length === 0) return "Consul Ingress Listener requires one or more services";
    for (const service of services) {
      const wrong = ingressServiceProblem(service, protocol);
      if (wrong !== undefined) return wrong;
    }
  }
  return undefined;
}

function ingressServiceProblem(service: Rec, protocol: string): string | undefined {
  const [name, hosts] = [str(service, "Name"), strings(service, "Hosts").length];
  if (name === "") return "Consul Ingress Service requires a name";
  if (protocol !== "tcp") {
    return name === "*" && hosts > 0
      ? 'Consul Ingress Service with a wildcard "*" service name can not also specify hosts'
      : undefined;
  }
  if (name === "*") return 'Consul Ingress Service doesn\'t support wildcard name for "tcp" protocol';
  return hosts > 0 ? 'Consul Ingress Service doesn\'t support associating hosts to a service for the "tcp" protocol' : undefined;
}

function terminatingProblem(terminating: Rec): string | undefined {
  const services = recs(terminating, "Services");
  if (services.length === 0) return "Consul Terminating Gateway requires at least one service";
  for (const service of services) {
    const [name, ca, cert, key, sni] = ["Name", "CAFile", "CertFile", "KeyFile", "SNI"].map((k) => str(service, k) !== "");
    if (name !== true) return "Consul Linked Service requires Name";
    if ((cert || key) && !ca) return "Consul Linked Service TLS requires CAFile";
    if (cert !== key) return "Consul Linked Service TLS Cert and Key must both be set";
    if (sni && !ca) return "Consul Linked Service TLS SNI requires CAFile";
  }
  return undefined;
}

/** What is wrong with the Connect services of a group together; the first thing counts. */
export function groupConnectProblem(group: Rec): string | undefined {
  for (const service of recs(group, "Services")) {
    const connect = rec(service, "Connect");
    if (connect === undefined) continue;
    const wrong = serviceInGroupProblem(group, service, connect);
    if (wrong !== undefined) return wrong;
  }
  return upstreamsProblem(group);
}

function serviceInGroupProblem(group: Rec, service: Rec, connect: Rec): string | undefined {
  const [name, groupName] = [str(service, "Name"), str(group, "Name")];
  if (rec(connect, "SidecarService") !== undefined) {
    const network = connectNetworkProblem(group, "connect sidecar", false);
    if (network !== undefined) return network;
    if (name !== name.toLowerCase()) {
      return `Consul Connect service name ${goQuote(name)} in group ${goQuote(groupName)} must not contain uppercase characters`;
    }
    if (groupName === groupName.toLowerCase()) return undefined;
    return `Consul Connect group ${goQuote(groupName)} with service ${goQuote(name)} must not contain uppercase characters`;
  }
  if (flag(connect, "Native")) {
    const task = nativeTask(group, service);
    return typeof task === "string" ? task : undefined;
  }
  return rec(connect, "Gateway") === undefined ? undefined : connectNetworkProblem(group, "connect gateway", true);
}

function upstreamsProblem(group: Rec): string | undefined {
  const listeners = new Map<string, string>();
  let [blocks, transparentProxies] = [0, 0];
  for (const service of recs(group, "Services")) {
    const connect = rec(service, "Connect");
    if (connect !== undefined) blocks++;
    const proxy = rec(rec(connect, "SidecarService"), "Proxy");
    for (const upstream of recs(proxy, "Upstreams")) {
      const listener =
        str(upstream, "LocalBindSocketPath") || `${str(upstream, "LocalBindAddress")}:${num(upstream, "LocalBindPort")}`;
      const other = listeners.get(listener);
      const name = str(service, "Name");
      if (other !== undefined) {
        const both = `${goQuote(name)} and ${goQuote(other)} in group ${goQuote(str(group, "Name"))}`;
        return `Consul Connect services ${both} using same address for upstreams (${listener})`;
      }
      listeners.set(listener, name);
    }
    const transparent = rec(proxy, "TransparentProxy");
    if (transparent === undefined) continue;
    transparentProxies++;
    const wrong = transparentInGroupProblem(group, transparent);
    if (wrong !== undefined) return wrong;
  }
  if (transparentProxies > 0 && blocks > 1) return "Consul Connect transparent proxy requires there is only one connect block";
  return undefined;
}

function transparentInGroupProblem(group: Rec, proxy: Rec): string | undefined {
  const networks = recs(group, "Networks");
  const ownDns = networks.some((network) => {
    const dns = rec(network, "DNS");
    return ["Servers", "Searches", "Options"].some((key) => strings(dns, key).length > 0);
  });
  if (ownDns && !flag(proxy, "NoDNS")) {
    return "Consul Connect transparent proxy cannot be used with network.dns unless no_dns=true";
  }
  const labels = new Set(networks.flatMap((network) => recs(network, "ReservedPorts").map((port) => str(port, "Label"))));
  for (const port of strings(proxy, "ExcludeInboundPorts")) {
    if ((/^\d+$/.test(port) && Number(port) <= 65_535) || labels.has(port)) continue;
    return `Consul Connect transparent proxy port ${goQuote(port)} must be numeric or one of network.port labels`;
  }
  return undefined;
}
