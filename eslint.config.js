import tseslint from "typescript-eslint";

// Biome does the rest; these four need types and biome misses one of every four floating promises.
export default tseslint.config(
  { ignores: ["dist/", "node_modules/", "coverage/", "dashboard/dist/", "**/*.js", "**/*.mjs", "examples/"] },
  {
    files: ["**/*.ts"],
    ignores: ["dashboard/**"],
    languageOptions: { parser: tseslint.parser, parserOptions: { project: "./tsconfig.json" } },
    plugins: { "@typescript-eslint": tseslint.plugin },
    rules: {
      "@typescript-eslint/no-floating-promises": "error",
      "@typescript-eslint/no-misused-promises": "error",
      "@typescript-eslint/await-thenable": "error",
      "@typescript-eslint/switch-exhaustiveness-check": ["error", { considerDefaultExhaustiveForUnions: true }],
    },
  },
);
