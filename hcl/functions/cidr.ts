import { isIPv4, isIPv6 } from "node:net";
import { FunctionError } from "../scope.ts";
import { listValue, STRING, stringValue, type Value } from "../value.ts";
import { define, type FunctionTable, integerAt, num, str, textAt } from "./define.ts";

/** A block of addresses: its first address as a number, and how many bits are fixed. */
interface Network {
  readonly address: bigint;
  readonly prefix: number;
  /** 32 or 128. */
  readonly bits: number;
}

function parseAddress(text: string): { readonly address: bigint; readonly bits: number } | undefined {
  if (isIPv4(text)) {
    if (text.split(".").some((part) => /^0[0-9]/.test(part))) return undefined;
    return { address: text.split(".").reduce((sum, part) => (sum << 8n) | BigInt(part), 0n), bits: 32 };
  }
  if (!isIPv6(text) || text.includes("%")) return undefined;
  const mapped = /^(.*:)([0-9.]+\.[0-9.]+)$/.exec(text);
  const inner = mapped?.[2] === undefined ? undefined : parseAddress(mapped[2]);
  const plain =
    inner === undefined ? text : `${mapped?.[1]}${(inner.address >> 16n).toString(16)}:${(inner.address & 0xffffn).toString(16)}`;
  const [head = "", tail] = plain.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const groups = [...left, ...Array<string>(Math.max(0, 8 - left.length - right.length)).fill("0"), ...right];
  return { address: groups.reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n), bits: 128 };
}

function parseNetwork(text: string, argument?: number): Network {
  const [host = "", length = ""] = text.split("/", 2);
  const parsed = parseAddress(host);
  const prefix = /^[0-9]{1,3}$/.test(length) ? Number(length) : Number.NaN;
  if (parsed === undefined || !(prefix <= parsed.bits) || text.split("/").length !== 2) {
    throw new FunctionError(`invalid CIDR expression: invalid CIDR address: ${text}`, argument);
  }
  const free = BigInt(parsed.bits - prefix);
  return { address: (parsed.address >> free) << free, prefix, bits: parsed.bits };
}

function formatAddress(address: bigint, bits: number): string {
  if (bits === 32) return [24n, 16n, 8n, 0n].map((shift) => String((address >> shift) & 0xffn)).join(".");
  const groups = Array.from({ length: 8 }, (_, index) => ((address >> BigInt(112 - 16 * index)) & 0xffffn).toString(16));
  // The longest run of zero groups, at least two, is left out (RFC 5952).
  const runs = groups.join(":").match(/(?:^|:)0(?::0)+(?=:|$)/g) ?? [];
  const longest = runs.reduce((best, run) => (run.replace(/^:/, "").length > best.replace(/^:/, "").length ? run : best), "");
  if (longest === "") return groups.join(":");
  const at = groups.join(":").indexOf(longest);
  const text = groups.join(":");
  return `${text.slice(0, at)}::${text.slice(at + longest.length + 1)}`;
}

function formatNetwork({ address, prefix, bits }: Network): string {
  return `${formatAddress(address, bits)}/${prefix}`;
}

function host(args: readonly Value[]): Value {
  const wanted = integerAt(args, 1);
  const { address, prefix, bits } = parseNetwork(textAt(args, 0));
  const size = 1n << BigInt(bits - prefix);
  const number = wanted < 0 ? size + BigInt(wanted) : BigInt(wanted);
  if (number < 0n || number >= size)
    throw new FunctionError(`prefix of ${prefix} does not accommodate a host numbered ${wanted}`);
  return stringValue(formatAddress(address + number, bits));
}

function netmask(args: readonly Value[]): Value {
  const { prefix, bits } = parseNetwork(textAt(args, 0));
  const free = BigInt(bits - prefix);
  return stringValue(formatAddress((((1n << BigInt(bits)) - 1n) >> free) << free, bits));
}

function subnet(args: readonly Value[]): Value {
  const newBits = integerAt(args, 1);
  const wanted = integerAt(args, 2);
  const network = parseNetwork(textAt(args, 0));
  if (newBits > 32) throw new FunctionError("may not extend prefix by more than 32 bits");
  const prefix = network.prefix + newBits;
  if (prefix > network.bits)
    throw new FunctionError(`insufficient address space to extend prefix of ${network.prefix} by ${newBits}`);
  if (newBits < 0 || BigInt(wanted) >= 1n << BigInt(newBits) || wanted < 0) {
    throw new FunctionError(`prefix extension of ${newBits} does not accommodate a subnet numbered ${wanted}`);
  }
  const address = network.address + (BigInt(wanted) << BigInt(network.bits - prefix));
  return stringValue(formatNetwork({ address, prefix, bits: network.bits }));
}

/** Blocks one behind the other, each aligned to its size. */
function subnets(args: readonly Value[]): Value {
  const network = parseNetwork(textAt(args, 0), 0);
  const end = network.address + (1n << BigInt(network.bits - network.prefix));
  let next = network.address;
  let previous = "";
  const result = args.slice(1).map((_, index) => {
    const position = index + 1;
    const newBits = integerAt(args, position, (reason) => new FunctionError(reason, position));
    if (newBits < 1) throw new FunctionError("must extend prefix by at least one bit", position);
    if (newBits > 32) throw new FunctionError("may not extend prefix by more than 32 bits", position);
    const prefix = network.prefix + newBits;
    if (prefix > network.bits) {
      const protocol = network.bits === 32 ? "IPv4" : "IPv6";
      throw new FunctionError(`would extend prefix to ${prefix} bits, which is too long for an ${protocol} address`, position);
    }
    const size = 1n << BigInt(network.bits - prefix);
    const address = ((next + size - 1n) / size) * size;
    if (address + size > end) {
      const after = `with a prefix of ${prefix} bits after ${previous}`;
      throw new FunctionError(`not enough remaining address space for a subnet ${after}`, position);
    }
    next = address + size;
    previous = formatNetwork({ address, prefix, bits: network.bits });
    return stringValue(previous);
  });
  return listValue(result, STRING);
}

export const cidrFunctions: FunctionTable = {
  cidrhost: define([str("prefix"), num("hostnum")], host),
  cidrnetmask: define([str("prefix")], netmask),
  cidrsubnet: define([str("prefix"), num("newbits"), num("netnum")], subnet),
  cidrsubnets: define([str("prefix")], subnets, num("newbits")),
};
