import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const here = dirname(fileURLToPath(import.meta.url));

// No inline code and no data URLs: the page runs under `default-src 'none'`.
export default defineConfig({
  root: here,
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: join(here, "../dist/dashboard"),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: false,
    target: "es2022",
  },
});
