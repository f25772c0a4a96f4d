/** Nomad's job diff as sections of rows, in the order in which a person reads a job file. */

interface DiffField {
  readonly Type: string;
  readonly Name: string;
  readonly Old: string;
  readonly New: string;
}

/** A node of Nomad's job diff: the job, a group, a task, or an object in one of them. */
export interface DiffNode {
  readonly Type: string;
  readonly Name?: string;
  readonly Fields?: readonly DiffField[] | null;
  readonly Objects?: readonly DiffNode[] | null;
  readonly TaskGroups?: readonly DiffNode[] | null;
  readonly Tasks?: readonly DiffNode[] | null;
  readonly Updates?: Readonly<Record<string, number>> | null;
}

export interface DiffRow {
  readonly type: string;
  readonly path: string;
  readonly old: string;
  readonly new: string;
}

/** The changed leaves of the job itself, of a group or of a task. */
export interface DiffSection {
  readonly place: string;
  readonly rows: readonly DiffRow[];
}

function rowsOf(node: DiffNode, path: readonly string[] = []): DiffRow[] {
  const fields = (node.Fields ?? [])
    .filter((field) => field.Type !== "None")
    .map((field) => ({ type: field.Type, path: [...path, field.Name].join(" › "), old: field.Old, new: field.New }));
  return [...fields, ...(node.Objects ?? []).flatMap((child) => rowsOf(child, [...path, child.Name ?? ""]))];
}

/** Every changed leaf once, by the place where it stands. Places without a change are left out. */
export function diffSections(job: DiffNode): DiffSection[] {
  const groups = (job.TaskGroups ?? []).flatMap((group) => [
    { place: `group ${group.Name ?? ""}`, rows: rowsOf(group) },
    ...(group.Tasks ?? []).map((task) => ({ place: `task ${group.Name ?? ""}/${task.Name ?? ""}`, rows: rowsOf(task) })),
  ]);
  return [{ place: "job", rows: rowsOf(job) }, ...groups].filter((section) => section.rows.length > 0);
}

const words: Readonly<Record<string, string>> = { Added: "added", Edited: "edited", Deleted: "removed" };

/** `3 added, 1 edited in job, group web`; undefined when no field is named. */
export function diffSummary(sections: readonly DiffSection[]): string | undefined {
  if (sections.length === 0) return undefined;
  const types = sections.flatMap((section) => section.rows.map((row) => row.type));
  const counts = Object.entries(words)
    .map(([type, word]) => [types.filter((other) => other === type).length, word] as const)
    .filter(([count]) => count > 0);
  return `${counts.map(([count, word]) => `${count} ${word}`).join(", ")} in ${sections.map((section) => section.place).join(", ")}`;
}

/** What Nomad would do to the allocations: `web: 2 create/destroy update`. */
export function schedulerUpdates(job: DiffNode): string[] {
  return (job.TaskGroups ?? []).flatMap((group) =>
    Object.entries(group.Updates ?? {}).map(([kind, count]) => `${group.Name ?? ""}: ${count} ${kind}`),
  );
}
