/** Values as words. Nothing here knows a rule of the domain. */

// Control, direction and zero-width characters would let a commit message pretend to be something else (S13); halves of characters
// and the separators that no keyboard writes have no picture at all (S11).
const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]|\p{Surrogate}/gu;
const longestText = 4_000;

/** Foreign text made visible and bounded. */
export function visible(text: string): string {
  const shown = text.replace(unsafe, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return shown.length > longestText ? `${shown.slice(0, longestText)}… (${shown.length - longestText} more characters)` : shown;
}

/** Whether a name mixes scripts, as look-alikes do (S14). */
export function mixesScripts(name: string): boolean {
  return /\p{Script=Latin}/u.test(name) && /[\p{Script=Cyrillic}\p{Script=Greek}]/u.test(name);
}

/** `3 min ago`; `now` in ms. */
export function ago(instant: string, now: number): string {
  const seconds = Math.max(0, Math.round((now - Date.parse(instant)) / 1000));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.round(seconds / 3600)} h ago`;
  return `${Math.round(seconds / 86_400)} d ago`;
}

/** The UTC day of an instant: `2026-05-04`. */
export function dayOf(instant: string): string {
  return instant.slice(0, 10);
}

export function shortHash(hash: string): string {
  return hash.slice(0, 8);
}

const tones: readonly (readonly [string, readonly string[]])[] = [
  ["bad", ["failed", "blocked", "invalid", "frozen", "unknown", "timed_out", "fail"]],
  ["wait", ["pending", "pending_approval", "held", "paused", "drift", "orphan"]],
  ["busy", ["detected", "pre_hook", "applying", "post_hook", "deploying", "dispatching", "running"]],
  ["good", ["completed", "sync", "succeeded", "pass"]],
];

/** Which of the page's tones a state has. The word itself is the API's, as everywhere. */
export function toneOf(state: string): string {
  return tones.find(([, states]) => states.includes(state))?.[0] ?? "quiet";
}
