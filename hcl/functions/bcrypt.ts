/** The digits of pi after the point, as 32-bit words: Blowfish's constants. By Machin's formula, computed once. */
function wordsOfPi(count: number): Int32Array {
  const guard = 64n;
  const one = 1n << (BigInt(count) * 32n + guard);
  const arctan = (inverse: bigint): bigint => {
    let power = one / inverse;
    let sum = power;
    for (let odd = 3n, sign = -1n; power > 0n; odd += 2n, sign = -sign) {
      power /= inverse * inverse;
      sum += (sign * power) / odd;
    }
    return sum;
  };
  const pi = 4n * (4n * arctan(5n) - arctan(239n));
  const fraction = (pi - 3n * one) >> guard;
  const hex = fraction.toString(16).padStart(count * 8, "0");
  return Int32Array.from({ length: count }, (_, index) => Number.parseInt(hex.slice(index * 8, index * 8 + 8), 16) | 0);
}

const SUBKEYS = 18;
const BOXES = 1024;
let constants: Int32Array | undefined;

interface State {
  readonly keys: Int32Array;
  readonly boxes: Int32Array;
}

function initialState(): State {
  constants ??= wordsOfPi(SUBKEYS + BOXES);
  return { keys: constants.slice(0, SUBKEYS), boxes: constants.slice(SUBKEYS) };
}

/** Encrypts one block in place: two words at a position. */
function encrypt({ keys, boxes }: State, block: Int32Array, at: number): void {
  let left = (block[at] ?? 0) ^ (keys[0] ?? 0);
  let right = block[at + 1] ?? 0;
  for (let round = 1; round <= 16; round += 1) {
    const high = ((boxes[left >>> 24] ?? 0) + (boxes[256 + ((left >>> 16) & 0xff)] ?? 0)) | 0;
    const mixed = ((high ^ (boxes[512 + ((left >>> 8) & 0xff)] ?? 0)) + (boxes[768 + (left & 0xff)] ?? 0)) | 0;
    const next = right ^ mixed ^ (keys[round] ?? 0);
    right = left;
    left = next;
  }
  block[at] = right ^ (keys[17] ?? 0);
  block[at + 1] = left;
}

function cycledWords(bytes: Uint8Array, count: number): Int32Array {
  return Int32Array.from({ length: count }, (_, index) => {
    let word = 0;
    for (let byte = 0; byte < 4; byte += 1) word = (word << 8) | (bytes[(index * 4 + byte) % bytes.length] ?? 0);
    return word;
  });
}

/** Mixes a key into the state; the salt, when there is one, goes into every block. */
function expand(state: State, key: Int32Array, salt: Int32Array | undefined): void {
  for (let index = 0; index < SUBKEYS; index += 1) state.keys[index] = (state.keys[index] ?? 0) ^ (key[index] ?? 0);
  const block = new Int32Array(2);
  let used = 0;
  const step = (target: Int32Array, index: number): void => {
    if (salt !== undefined) {
      block[0] = (block[0] ?? 0) ^ (salt[used % 4] ?? 0);
      block[1] = (block[1] ?? 0) ^ (salt[(used + 1) % 4] ?? 0);
      used += 2;
    }
    encrypt(state, block, 0);
    target[index] = block[0] ?? 0;
    target[index + 1] = block[1] ?? 0;
  };
  for (let index = 0; index < SUBKEYS; index += 2) step(state.keys, index);
  for (let index = 0; index < BOXES; index += 2) step(state.boxes, index);
}

const ALPHABET = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const STANDARD = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

function encode(bytes: Uint8Array): string {
  const standard = Buffer.from(bytes).toString("base64").replace(/=+$/, "");
  return [...standard].map((character) => ALPHABET[STANDARD.indexOf(character)] ?? "").join("");
}

/**
 * The bcrypt hash of a password, in the form `$2a$10$…`.
 * @param cost 4 to 31; every step doubles the time (10: about a tenth of a second)
 * @param salt 16 bytes
 */
export function bcryptHash(password: Uint8Array, cost: number, salt: Uint8Array): string {
  const state = initialState();
  const key = cycledWords(Uint8Array.from([...password, 0]), SUBKEYS);
  const saltWords = cycledWords(salt, 4);
  const saltKey = cycledWords(salt, SUBKEYS);
  expand(state, key, saltWords);
  for (let round = 2 ** cost; round > 0; round -= 1) {
    expand(state, key, undefined);
    expand(state, saltKey, undefined);
  }
  const text = cycledWords(Buffer.from("OrpheanBeholderScryDoubt"), 6);
  for (let round = 0; round < 64; round += 1) for (let at = 0; at < 6; at += 2) encrypt(state, text, at);
  const bytes = Uint8Array.from({ length: 23 }, (_, index) => (text[index >> 2] ?? 0) >>> (24 - 8 * (index & 3)));
  return `$2a$${String(cost).padStart(2, "0")}$${encode(salt)}${encode(bytes)}`;
}
