import type { Random } from "../model/clock.ts";

/** Reproducible chance: the same seed gives the same ids, jitter and faults (xorshift over 128 bits). */
export function seededRandom(seed: number): Random {
  let a = seed >>> 0 || 0x9e3779b9;
  let b = 0x243f6a88 ^ a;
  let c = 0xb7e15162 ^ (a << 7);
  let d = 0xdeadbeef ^ (a >>> 3);
  const next32 = (): number => {
    const t = a ^ (a << 11);
    a = b;
    b = c;
    c = d;
    d = d ^ (d >>> 19) ^ t ^ (t >>> 8);
    return d >>> 0;
  };
  for (let i = 0; i < 16; i++) next32();
  return {
    next: () => next32() / 0x1_0000_0000,
    bytes: (length) => Uint8Array.from({ length }, () => next32() & 0xff),
  };
}

const hex = Array.from({ length: 256 }, (_, i) => i.toString(16).padStart(2, "0"));

/** A random UUID, as Nomad gives to evaluations, allocations, deployments, nodes and tokens. */
export function uuid(random: Random): string {
  const word = (): string => {
    const n = Math.floor(random.next() * 0x1_0000_0000);
    return `${hex[n >>> 24]}${hex[(n >>> 16) & 255]}${hex[(n >>> 8) & 255]}${hex[n & 255]}`;
  };
  const [w, x, y, z] = [word(), word(), word(), word()];
  return `${w}-${x.slice(0, 4)}-${x.slice(4)}-${y.slice(0, 4)}-${y.slice(4)}${z}`;
}
