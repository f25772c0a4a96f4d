import { lookup as resolve } from "node:dns";
import { BlockList, isIP, isIPv6, type LookupFunction } from "node:net";

const refused = new BlockList();
for (const [network, prefix] of [
  ["0.0.0.0", 8],
  ["169.254.0.0", 16],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
  ["100.100.100.200", 32],
  ["192.0.0.192", 32],
] as const) {
  refused.addSubnet(network, prefix, "ipv4");
}
for (const [network, prefix] of [
  ["::", 128],
  ["fe80::", 10],
  ["ff00::", 8],
  ["fd00:ec2::254", 128],
  ["64:ff9b::a9fe:0", 112],
] as const) {
  refused.addSubnet(network, prefix, "ipv6");
}

/**
 * Whether an address can only be the metadata service of a cloud, a link-local neighbour, or nobody (reliability S44).
 * Loopback and private networks are allowed: that is where forges stand. A name is never refused here, see `guardedLookup`.
 */
export function isRefusedAddress(host: string): boolean {
  const address = host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host;
  if (isIP(address) === 0) return false;
  return refused.check(address, isIPv6(address) ? "ipv6" : "ipv4");
}

/** Marks the error of a name that leads to a refused address. */
export const refusedAddressCode = "ENOPSREFUSED";

/** Resolves names as the system does, but fails when one leads to a refused address: DNS cannot be used to get around the check. */
export const guardedLookup: LookupFunction = (hostname, options, callback) => {
  resolve(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, "", 0);
    const bad = addresses.find(({ address }) => isRefusedAddress(address));
    const first = addresses[0];
    if (bad !== undefined || first === undefined) {
      const why = `${hostname} leads to ${bad?.address ?? "no address"}`;
      return callback(Object.assign(new Error(why), { code: refusedAddressCode }), "", 0);
    }
    if (options.all === true) callback(null, addresses);
    else callback(null, first.address, first.family);
  });
};
