/** From where a request comes, for counting wrong logins (S25). */
import { BlockList, isIP } from "node:net";
import type { Context } from "hono";

/** Addresses and networks (`10.0.0.0/8`); text that is neither is refused by the configuration. */
export function addressList(entries: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = "", bits] = entry.split("/");
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (address) => isIP(address) !== 0 && list.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}

/** Whether a text names an address or a network. */
export function isAddressOrNetwork(text: string): boolean {
  const [address = "", bits, ...more] = text.split("/");
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 6 ? 128 : 32));
}

/**
 * The client's address: that of the connection, or, when a trusted proxy made it, the last one in X-Forwarded-For that no trusted proxy
 * has. What stands further left anybody may have written (S31).
 */
export function clientSource(context: Context, trusted: (address: string) => boolean): string {
  const socket = (context.env as { incoming?: { socket?: { remoteAddress?: string } } } | undefined)?.incoming?.socket;
  const connection = plain(socket?.remoteAddress ?? "");
  if (!trusted(connection)) return network(connection);
  const hops = (context.req.header("x-forwarded-for") ?? "").split(",").map((hop) => plain(hop.trim()));
  const client = hops.reverse().find((hop) => !trusted(hop));
  return client === undefined || isIP(client) === 0 ? network(connection) : network(client);
}

/** An IPv4 address that came over an IPv6 socket is one all the same. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, "");
}

/** One household or server has a whole /64 of IPv6 addresses to choose from. */
function network(address: string): string {
  if (isIP(address) !== 6) return address === "" ? "unknown" : address;
  const [head = "", tail] = address.replace(/%.*$/, "").split("::");
  const left = head.split(":").filter((part) => part !== "");
  const right = (tail ?? "").split(":").filter((part) => part !== "");
  const zeros = tail === undefined ? [] : Array.from({ length: 8 - left.length - right.length }, () => "0");
  const groups = [...left, ...zeros, ...right].slice(0, 4).map((part) => Number.parseInt(part, 16).toString(16));
  return `${groups.join(":")}::/64`;
}
