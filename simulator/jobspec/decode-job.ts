import type { Scope } from "../../hcl/scope.ts";
import type { Diagnostic } from "../../hcl/syntax.ts";
import { formatRange } from "../../hcl/syntax.ts";
import { apiTable } from "./api-tables.ts";
import { type BodySchema, type RawBlock, report } from "./body-view.ts";
import { decodeBlock, decodeBody, decodePlain } from "./decode-body.ts";
import { decodeTask, SPECIALS, takeMapAttribute } from "./decode-special.ts";
import { emptyApi } from "./empty.ts";
import { type BlockView, BodyView } from "./expand-body.ts";
import type { Rec } from "./values.ts";

/** What stands in a job block beside the job itself: tasks without a group, and what all tasks inherit. */
export interface JobExtras {
  readonly vault: Rec | undefined;
  readonly secrets: readonly Rec[];
  readonly tasks: readonly Rec[];
}

const EXTRAS: BodySchema = {
  attributes: [],
  blocks: [
    { type: "vault", labels: [] },
    { type: "secret", labels: ["name"] },
    { type: "task", labels: ["name"] },
  ],
};

/** Reads the one job block among the top-level blocks. The job has unevaluated free-form maps. */
export function decodeJob(
  blocks: readonly RawBlock[],
  scope: Scope,
  diagnostics: Diagnostic[],
): { readonly job: Rec; readonly extras: JobExtras; readonly label: string } {
  const [first, ...others] = blocks.filter((block) => block.type === "job");
  if (first === undefined) {
    report(diagnostics, undefined, "Missing job block", "A job block is required");
    return { job: emptyApi("Job"), extras: { vault: undefined, secrets: [], tasks: [] }, label: "" };
  }
  const meta = takeMapAttribute(new BodyView(first.body, scope), "meta", diagnostics);
  const [content, rest] = meta.rest.partial(EXTRAS, diagnostics);
  const extras = decodeExtras(content.blocks, diagnostics);
  const job = decodePlain(apiTable("Job"), rest, diagnostics, SPECIALS);
  if (meta.map !== undefined) job["Meta"] = meta.map;
  for (const other of others) {
    const detail = `Only one block of type "job" is allowed. Previous definition was at ${formatRange(first.headerRange)}.`;
    report(diagnostics, other.headerRange, "Duplicate job block", detail);
  }
  return { job, extras, label: first.labels[0] ?? "" };
}

function decodeExtras(blocks: readonly BlockView[], diagnostics: Diagnostic[]): JobExtras {
  let vault: { readonly value: Rec; readonly block: BlockView } | undefined;
  const secrets: Rec[] = [];
  const tasks: Rec[] = [];
  for (const block of blocks) {
    if (block.type === "task") tasks.push({ ...decodeTask(block.body, diagnostics), Name: block.labels[0] ?? "" });
    else if (block.type === "secret") secrets.push(decodeBlock(apiTable("Secret"), block, diagnostics, SPECIALS));
    else if (vault === undefined) {
      vault = { value: decodeBody(apiTable("Vault"), block.body, diagnostics, SPECIALS), block };
    } else {
      const detail = `Only one block of type "vault" is allowed. Previous definition was at ${formatRange(vault.block.headerRange)}.`;
      report(diagnostics, block.headerRange, "Duplicate vault block", detail);
    }
  }
  return { vault: vault?.value, secrets, tasks };
}
