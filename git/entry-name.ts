/** Characters that some file systems drop from names, so that `.g<200c>it` becomes `.git` there. */
const ignorable = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/**
 * Why a name in a tree is not to be trusted, or `undefined` (reliability S42). nops never writes a name to disk, but a job's
 * source is found by its path, and what goes into messages and Nomad must not pretend to be something else. The forms of `.git`
 * on other systems count too: letter case, short names, streams, trailing dots and spaces, invisible characters.
 */
export function nameProblem(name: string): string | undefined {
  if (name === "") return "it is empty";
  if (name === "." || name === "..") return "it points to another folder";
  if (/[\p{Cc}]/u.test(name)) return "it holds a control character";
  if (name.includes("/") || name.includes("\\")) return "it holds a slash or backslash";
  if (name.includes("\ufffd")) return "it is not valid UTF-8";
  if (/[\u202a-\u202e\u2066-\u2069]/.test(name)) return "it changes the direction of writing";
  const plain = (name.replace(ignorable, "").split(":")[0] ?? "").toLowerCase().replace(/[. ]+$/, "");
  if (plain === "" || plain === ".git" || /^\.?git~[1-9]$/.test(plain)) return "it stands for a repository's own folder";
  return undefined;
}
