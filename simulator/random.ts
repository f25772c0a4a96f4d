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
  const [w, x, y, z] = [word(random), word(random), word(random), word(random)];
  return `${half(w >>> 16)}${half(w)}-${half(x >>> 16)}-${half(x)}-${half(y >>> 16)}-${half(y)}${half(z >>> 16)}${half(z)}`;
}

function word(random: Random): number {
  return Math.floor(random.next() * 0x1_0000_0000);
}

/** The lower two bytes. */
function half(bits: number): string {
  return `${hex[(bits >>> 8) & 255]}${hex[bits & 255]}`;
}
