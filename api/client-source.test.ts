import type { Context } from "hono";
import { describe, expect, it } from "vitest";
import { addressList, clientSource, isAddressOrNetwork } from "./client-source.ts";

function source(remoteAddress: string | undefined, forwarded?: string, trusted: readonly string[] = []): string {
  const context = {
    env: { incoming: { socket: { remoteAddress } } },
    req: { header: (name: string) => (name === "x-forwarded-for" ? forwarded : undefined) },
  };
  return clientSource(context as unknown as Context, addressList(trusted));
}

describe("where a request comes from", () => {
  it.each([
    ["the connection's address", "192.0.2.1", undefined, [], "192.0.2.1"],
    ["IPv4 over an IPv6 socket", "::ffff:192.0.2.1", undefined, [], "192.0.2.1"],
    ["the network of an IPv6 address", "2001:db8:1:2:3:4:5:6", undefined, [], "2001:db8:1:2::/64"],
    ["the same network, shortened", "2001:db8:1:2::9", undefined, [], "2001:db8:1:2::/64"],
    ["loopback", "::1", undefined, [], "0:0:0:0::/64"],
    ["nothing that a stranger claims (S31)", "192.0.2.1", "10.0.0.1", [], "192.0.2.1"],
    ["what a trusted proxy saw", "10.0.0.1", "192.0.2.7", ["10.0.0.0/8"], "192.0.2.7"],
    ["the last stranger before trusted proxies", "10.0.0.1", "6.6.6.6, 192.0.2.7, 10.1.1.1", ["10.0.0.0/8"], "192.0.2.7"],
    ["the proxy, when it names nobody", "10.0.0.1", undefined, ["10.0.0.1"], "10.0.0.1"],
    ["the proxy, when it names no address", "10.0.0.1", "unknown", ["10.0.0.1"], "10.0.0.1"],
    ["nobody: a request without a connection", undefined, undefined, [], "unknown"],
  ])("%s", (_, remote, forwarded, trusted, expected) => {
    expect(source(remote, forwarded, trusted)).toBe(expected);
  });

  it.each([
    ["10.0.0.1", true],
    ["10.0.0.0/8", true],
    ["2001:db8::/32", true],
    ["10.0.0.0/33", false],
    ["10.0.0.0/8/9", false],
    ["proxy.example", false],
    ["", false],
  ])("%j is an address or a network: %s", (text, expected) => {
    expect(isAddressOrNetwork(text)).toBe(expected);
  });
});
