import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * Bundles a TypeScript entry for a process of its own, since Node 20 cannot run TypeScript. Packages stay outside of the bundle,
 * which therefore lies below node_modules. Gives the path of the script and the way to remove it.
 */
export async function bundleForNode(entry: string): Promise<{ readonly script: string; readonly remove: () => void }> {
  const cache = join(root, "node_modules", ".cache");
  mkdirSync(cache, { recursive: true });
  const outDir = mkdtempSync(join(cache, "nops-test-"));
  await build({
    root,
    configFile: false,
    logLevel: "error",
    build: { ssr: join(root, entry), outDir, minify: false, rollupOptions: { output: { entryFileNames: "entry.mjs" } } },
  });
  return { script: join(outDir, "entry.mjs"), remove: () => rmSync(outDir, { recursive: true, force: true }) };
}
