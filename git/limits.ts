/** Bounds against slow, broken and hostile servers (reliability S43, S50). Bytes and ms. */
export interface GitLimits {
  /** Longest silence of a connection, from connecting on. */
  readonly idleMs: number;
  /** Longest fetch altogether; slow drips never trip the idle limit. */
  readonly totalMs: number;
  /** Longest list of refs. */
  readonly refsBytes: number;
  readonly packBytes: number;
  /** Least bound of a later fetch; beyond it, and twice the cache's size, a new shallow clone is cheaper. */
  readonly laterPackBytes: number;
  /** Most objects in one pack. */
  readonly packObjects: number;
  /** Largest object once unpacked. */
  readonly objectBytes: number;
  /** All objects of a pack, unpacked. */
  readonly unpackedBytes: number;
  /** Largest file that is looked at: what Nomad's parse takes, too. */
  readonly fileBytes: number;
  /** Most files and folders below the configured path, counted at each place where a shared folder stands. */
  readonly files: number;
  readonly depth: number;
  /** One pack for each fetch slows every read down; with more, the cache is cloned anew (libraries §2.2, trap 6). */
  readonly packs: number;
}

const mebibyte = 1024 * 1024;

export const gitLimits: GitLimits = {
  idleMs: 30_000,
  totalMs: 300_000,
  refsBytes: 32 * mebibyte,
  packBytes: 256 * mebibyte,
  laterPackBytes: 4 * mebibyte,
  packObjects: 1_000_000,
  objectBytes: 64 * mebibyte,
  unpackedBytes: 1024 * mebibyte,
  fileBytes: mebibyte,
  files: 200_000,
  depth: 64,
  packs: 50,
};
