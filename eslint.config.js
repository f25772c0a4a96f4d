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
  {
    files: ["**/*.ts"],
    ignores: ["dashboard/**", "testkit/**", "e2e/**", "**/*.test.ts"],
    languageOptions: { parser: tseslint.parser },
    rules: {
      "no-restricted-syntax": [
        "error",
        {
          selector:
            "CallExpression:matches([callee.name=/^mkdir(Sync)?$/], [callee.property.name=/^mkdir(Sync)?$/]) Property[key.name='recursive']",
          message: "Node's recursive mkdir never returns below a folder such as /proc: use makeFolders of model/folders.ts.",
        },
      ],
    },
  },
);
