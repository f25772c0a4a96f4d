/** What servers tell of a life as it is compared: what is left to chance in a server is left out, with the reason; all else stays. */
import type { Rec } from "../../simulator/jobspec/values.ts";
import { normalAnswer } from "./normal.ts";
import type { Answer } from "./twins.ts";

/** How often a deployment makes its job be looked at, and what waited meanwhile, depends on how fast one change follows another. */
function isSteady(row: unknown): boolean {
  const { TriggeredBy, Status } = row as Rec;
  return TriggeredBy !== "deployment-watcher" && !(TriggeredBy === "queued-allocs" && Status !== "blocked");
}

/** Of which classes a system job's waiting evaluation knows depends on which node was looked at first, and that is left to chance. */
function withoutChance(row: unknown): unknown {
  const { ClassEligibility: _, ...rest } = row as Rec;
  return rest["Type"] === "system" || rest["Type"] === "sysbatch" ? rest : row;
}

/** Which of the replacements of a group is placed first is left to chance; so allocations and the places of groups are told apart. */
function allocations(rows: readonly Rec[]): unknown {
  const texts = rows.map(({ NodeName: _, NodeID: __, Name: ___, ...row }) => JSON.stringify(row));
  const names = rows.filter((row) => row["DesiredStatus"] === "run").map((row) => String(row["Name"]));
  const places = rows.map((row) =>
    JSON.stringify([row["TaskGroup"], row["DesiredStatus"], row["ClientStatus"], row["NodeName"]]),
  );
  // On which node a system job is renewed first, and which of two groups finds its places first, is left to chance as well.
  const chance = rows.some((row) => row["JobType"] !== "service" && row["JobType"] !== "batch");
  const several = new Set(rows.map((row) => row["TaskGroup"])).size > 1;
  return {
    rows: texts.sort().map((text) => JSON.parse(text) as unknown),
    names: names.sort(),
    places: chance || several ? [] : places.sort(),
  };
}

/** What changes of a node in a life. */
const NODE_FIELDS = ["Status", "SchedulingEligibility", "DrainStrategy"];

function isNode(body: unknown): boolean {
  return typeof body === "object" && body !== null && "SchedulingEligibility" in body;
}

/** An answer; lists stand in an order of ids, which no two servers share. */
export function view(answer: Answer): unknown {
  const normal = normalAnswer(answer);
  if (isNode(normal.body)) return NODE_FIELDS.map((field) => (normal.body as Rec)[field]);
  if (!Array.isArray(normal.body) || normal.type !== "application/json") return normal;
  if (normal.body.some((row: unknown) => (row as Rec)["NodeName"] !== undefined)) return allocations(normal.body as Rec[]);
  const rows = normal.body
    .filter(isSteady)
    .map(withoutChance)
    .map((row) => [JSON.stringify(row), row] as const);
  return { ...normal, body: rows.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row) };
}
