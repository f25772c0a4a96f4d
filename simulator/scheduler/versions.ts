interface Version {
  readonly numbers: readonly number[];
  readonly pre: string;
}

function parseVersion(text: string, strict: boolean): Version | undefined {
  const pattern = strict
    ? /^v?(\d+\.\d+\.\d+)(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?$/
    : /^v?(\d+(?:\.\d+)*)(?:-?([0-9A-Za-z][0-9A-Za-z.~-]*))?(?:\+[0-9A-Za-z.~-]+)?$/;
  const found = pattern.exec(text.trim());
  if (found === null) return undefined;
  return { numbers: (found[1] ?? "").split(".").map(Number), pre: found[2] ?? "" };
}

function compareVersions(a: Version, b: Version): number {
  for (let i = 0; i < Math.max(a.numbers.length, b.numbers.length); i++) {
    const difference = (a.numbers[i] ?? 0) - (b.numbers[i] ?? 0);
    if (difference !== 0) return difference;
  }
  if (a.pre === b.pre) return 0;
  if (a.pre === "") return 1;
  if (b.pre === "") return -1;
  return comparePre(a.pre.split("."), b.pre.split("."));
}

function comparePre(a: readonly string[], b: readonly string[]): number {
  for (let i = 0; i < Math.max(a.length, b.length); i++) {
    const [x, y] = [a[i], b[i]];
    if (x === y) continue;
    if (x === undefined) return -1;
    if (y === undefined) return 1;
    const [nx, ny] = [/^\d+$/.test(x), /^\d+$/.test(y)];
    if (nx && ny) return Number(x) - Number(y);
    if (nx !== ny) return nx ? -1 : 1;
    return x < y ? -1 : 1;
  }
  return 0;
}

/**
 * Whether a version meets every part of a constraint such as `>= 1.2, < 2`. `semver` orders prereleases as the standard says;
 * the plain form accepts a prerelease only where the constraint names one of the same release.
 */
export function versionMatches(text: string, constraint: string, semver: boolean): boolean {
  const version = parseVersion(text, semver);
  if (version === undefined) return false;
  return constraint.split(",").every((part) => partMatches(version, part.trim(), semver));
}

function partMatches(version: Version, part: string, semver: boolean): boolean {
  const found = /^(=|!=|>=|<=|>|<|~>)?\s*(.+)$/.exec(part);
  const wanted = found === null ? undefined : parseVersion(found[2] ?? "", false);
  if (found === null || wanted === undefined) return false;
  const operator = found[1] ?? "=";
  const order = compareVersions(version, wanted);
  if (operator === "=") return order === 0;
  if (operator === "!=") return order !== 0;
  if (!semver && !prereleaseFits(version, wanted)) return false;
  if (operator === ">") return order > 0;
  if (operator === ">=") return order >= 0;
  if (operator === "<") return order < 0;
  if (operator === "<=") return order <= 0;
  return order >= 0 && withinPessimistic(version, wanted);
}

function prereleaseFits(version: Version, wanted: Version): boolean {
  if (version.pre === "") return true;
  if (wanted.pre === "") return false;
  return compareVersions({ ...version, pre: "" }, { ...wanted, pre: "" }) === 0;
}

/** `~> 1.2.3` lets only the last stated number grow. */
function withinPessimistic(version: Version, wanted: Version): boolean {
  return wanted.numbers.slice(0, -1).every((n, i) => version.numbers[i] === n);
}
