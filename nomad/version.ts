/** A Nomad version, comparable. */
export interface NomadVersion {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
  /** `dev`, `beta.1`, …; empty for a release. */
  readonly prerelease: string;
  /** As it is shown: `2.0.6-dev`. */
  readonly text: string;
}

/** A known fault of a server version, with what follows from it. */
export interface KnownRace {
  readonly code: "enforce_index_race" | "dispatch_token_race" | "plan_refuses_workload_identity";
  /** First version without it. */
  readonly fixedIn: string;
  readonly message: string;
}

const VERSION = /^v?(\d+)\.(\d+)\.(\d+)(?:-([\w.]+))?(?:\+[\w.]+)?$/;

/** Reads `1.9.7`, `v2.0.6-dev`, `1.10.8+ent`; `undefined` for anything else. */
export function parseNomadVersion(text: string): NomadVersion | undefined {
  const match = VERSION.exec(text.trim());
  if (match === null) return undefined;
  const [, major = "0", minor = "0", patch = "0", prerelease = ""] = match;
  return {
    major: Number(major),
    minor: Number(minor),
    patch: Number(patch),
    prerelease,
    text: text.trim().replace(/^v/, ""),
  };
}

/** Negative when `a` is older. A prerelease counts as the release it leads to: it holds that release's fixes. */
export function compareNomadVersions(a: NomadVersion, b: NomadVersion): number {
  return a.major - b.major || a.minor - b.minor || a.patch - b.patch;
}

const RACES: readonly KnownRace[] = [
  {
    code: "enforce_index_race",
    fixedIn: "2.0.1",
    message: "two registers at one moment can both win, so a change from outside may be overwritten unseen",
  },
  {
    code: "dispatch_token_race",
    fixedIn: "1.11.2",
    message: "two dispatches at one moment with one idempotency token can both run",
  },
  {
    code: "plan_refuses_workload_identity",
    fixedIn: "2.0.4",
    message: "plan refuses a workload-identity token; exchange it with login_auth_method",
  },
];

/** Faults that a server of this version still has (nomad-api §14, reliability §1); enterprise backports are not known to us. */
export function knownRaces(version: NomadVersion): readonly KnownRace[] {
  return RACES.filter(({ fixedIn }) => {
    const fixed = parseNomadVersion(fixedIn);
    return fixed !== undefined && compareNomadVersions(version, fixed) < 0;
  });
}
