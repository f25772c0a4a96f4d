import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Version of this build, from the nearest package.json above this file: one level up from sources, two from `dist/`. */
export const version: string = readVersion();

function readVersion(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  for (const up of ["..", "../.."]) {
    try {
      return (JSON.parse(readFileSync(join(here, up, "package.json"), "utf8")) as { version: string }).version;
    } catch {
      // Not at this level.
    }
  }
  return "0.0.0";
}
