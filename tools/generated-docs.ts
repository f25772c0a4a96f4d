/** Documents that are made from code, so that they cannot differ from it. `npm run build && node dist/tools/generated-docs.js` writes them. */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { configJsonSchema, fileOnlyKeys, scalarOptions } from "../cmd/config/options.ts";
import { allStates, transition, triggers } from "../model/lifecycle.ts";
import { reasons } from "../model/reasons.ts";
import { syncMeanings, syncStates } from "../model/sync-state.ts";

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
  const rows = scalarOptions().map((option) => {
    const key = option.path
      .map((part) => (typeof part === "number" ? "[]" : part))
      .join(".")
      .replaceAll(".[]", "[]");
    const required = key === "repositories[].url";
    return `| \`${key}\` | ${option.description} | ${option.allowed} | ${defaultText(option.default, required)} | ${coded(option.flags)} | ${coded(option.variables)} |`;
  });
  const fileRows = fileOnlyKeys().map(
    (key) => `| \`${key.name}\` | ${key.description} | ${key.allowed} | ${defaultText(key.default, key.required)} |`,
  );
  return `# Configuration of \`nops serve\`

A YAML file (\`--config\`, \`NOPS_CONFIG\`, else \`nops.yml\` in the working directory), every scalar also as a flag and as an environment
variable. A flag beats a variable, a variable beats the file, the file beats the default. All mistakes are reported at once, each with its
source; unknown keys are mistakes. Durations are written as Nomad writes them (\`90s\`, \`1h30m\`). Secrets are only ever named by file;
files are read again when they change. In a flag or variable a list is written with commas, and a flag of \`true or false\` alone means true.
\`NOMAD_NAMESPACE\` and \`NOMAD_REGION\` are ignored, since Nomad sets them inside every task.

\`\`\`yaml
# nops.yml: enough to begin with
nomad:
  address: https://nomad.example.com:4646
  token_file: /etc/nops/nomad-token
data_dir: /var/lib/nops
repositories:
  - name: jobs
    url: https://git.example.com/ops/jobs.git
    token_file: /etc/nops/git-token
    default_policy: approval
\`\`\`

\`docs/config.schema.json\` is the JSON Schema of the file, for editors. The \`--git-*\` flags describe one repository without a file; their
keys are those of \`repositories\`.

| key | meaning | values | default | flags | variables |
|---|---|---|---|---|---|
${rows.join("\n")}

Set in the file only, as are all repositories but one:

| key | meaning | values | default |
|---|---|---|---|
${fileRows.join("\n")}
`;
}

function coded(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(" ");
}

function defaultText(value: string | undefined, required: boolean): string {
  if (value !== undefined) return `\`${value}\``;
  return required ? "required" : "empty";
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

## How a job stands

\`nops jobs\` and the dashboard show the first that applies.

| word | meaning |
|---|---|
${syncStates.map((state) => `| \`${state}\` | ${syncMeanings[state]} |`).join("\n")}

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
