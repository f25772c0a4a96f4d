/** Documents that are made from code, so that they cannot differ from it. `npm run build && node dist/tools/generated-docs.js` writes them. */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { configJsonSchema, scalarOptions } from "../cmd/config/options.ts";
import { allStates, transition, triggers } from "../model/lifecycle.ts";
import { reasons } from "../model/reasons.ts";

export interface GeneratedDocument {
  readonly path: string;
  readonly text: string;
}

/** Every generated document with the text it must have. */
export function generatedDocuments(): readonly GeneratedDocument[] {
  return [
    { path: "docs/config.schema.json", text: `${JSON.stringify(configJsonSchema(), null, 2)}\n` },
    { path: "docs/configuration.md", text: configurationPage() },
    { path: "docs/lifecycle.md", text: lifecyclePage() },
  ];
}

function configurationPage(): string {
  const rows = scalarOptions().map(({ path, flags, variables, description }) => {
    const key = path
      .map((part) => (typeof part === "number" ? "[]" : part))
      .join(".")
      .replaceAll(".[]", "[]");
    return `| \`${key}\` | ${flags.map((flag) => `\`${flag}\``).join(" ")} | ${variables.map((name) => `\`${name}\``).join(" ")} | ${description} |`;
  });
  return `# Configuration of \`nops serve\`

A YAML file (\`--config\`, \`NOPS_CONFIG\`, else \`nops.yml\` in the working directory), every scalar also as a flag and as an environment
variable. A flag beats a variable, a variable beats the file, the file beats the default. All mistakes are reported at once, each with its
source; unknown keys are mistakes. Durations are written as Nomad writes them (\`90s\`, \`1h30m\`). Secrets are only ever named by file;
files are read again when they change. \`NOMAD_NAMESPACE\` and \`NOMAD_REGION\` are ignored, since Nomad sets them inside every task.

\`docs/config.schema.json\` is the JSON Schema of the file, for editors. The \`--git-*\` flags describe one repository without a file; their
keys are those of \`repositories\`.

| key | flags | variables | meaning |
|---|---|---|---|
${rows.join("\n")}

Lists with more than text in them (\`repositories\` beyond the first, \`notifications\`, \`approval.min_policy\`, \`variables\` of a repository)
are set in the file only.
`;
}

const facts = [
  { hasPreHooks: false, hasPostHooks: false },
  { hasPreHooks: true, hasPostHooks: true },
] as const;

function lifecyclePage(): string {
  const rows = allStates.flatMap((state) =>
    triggers.flatMap((trigger) => {
      const targets = facts.flatMap((hooks) =>
        (["apply", "verify"] as const).map((mode) => transition({ state, mode, ...hooks }, trigger)),
      );
      const distinct = [...new Set(targets.filter((target) => target !== undefined))];
      return distinct.length === 0
        ? []
        : [`| \`${state}\` | \`${trigger}\` | ${distinct.map((target) => `\`${target}\``).join(" or ")} |`];
    }),
  );
  const reasonRows = Object.entries(reasons).map(([code, sentence]) => `| \`${code}\` | ${sentence} |`);
  return `# Lifecycle of a deployment

A deployment is one attempt to bring one job to the spec in git. The table is the program's own; anything that is not in it is refused by
the store. \`pre_hook\` and \`post_hook\` are entered only when the job declares hooks of that phase; a deployment in \`verify\` mode (live
already equals git) runs no pre-hooks and registers nothing. \`completed\`, \`failed\`, \`rejected\` and \`superseded\` are final.

| from | trigger | to |
|---|---|---|
${rows.join("\n")}

## Reasons

Every deployment, event, gate and "did nothing" carries one of these codes.

| code | meaning |
|---|---|
${reasonRows.join("\n")}
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const { path, text } of generatedDocuments()) writeFileSync(path, text);
}
