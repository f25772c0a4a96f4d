/** Nomad's job diff as a table that a screen reader can read: mark, path, old, new. */
import { visible } from "../format.ts";

interface Field {
  readonly Type: string;
  readonly Name: string;
  readonly Old: string;
  readonly New: string;
}

interface Node {
  readonly Type: string;
  readonly Name?: string;
  readonly ID?: string;
  readonly Fields?: readonly Field[] | null;
  readonly Objects?: readonly Node[] | null;
  readonly TaskGroups?: readonly Node[] | null;
  readonly Tasks?: readonly Node[] | null;
  readonly Updates?: Readonly<Record<string, number>> | null;
}

export interface DiffRow {
  readonly type: string;
  readonly path: string;
  readonly old: string;
  readonly new: string;
}

/** Every changed leaf with its path. */
export function diffRows(node: Node, path: readonly string[] = []): DiffRow[] {
  const fields = (node.Fields ?? [])
    .filter((field) => field.Type !== "None")
    .map((field) => ({ type: field.Type, path: [...path, field.Name].join(" › "), old: field.Old, new: field.New }));
  const below = (nodes: readonly Node[] | null | undefined, word: string): DiffRow[] =>
    (nodes ?? []).flatMap((child) => diffRows(child, [...path, `${word}${child.Name ?? ""}`]));
  return [...fields, ...below(node.Objects, ""), ...below(node.TaskGroups, "group "), ...below(node.Tasks, "task ")];
}

const marks: Readonly<Record<string, string>> = { Added: "+", Deleted: "−", Edited: "~" };

export function Diff({ diff }: { readonly diff: Readonly<Record<string, unknown>> | null }) {
  if (diff === null) return <p class="quiet">No differences.</p>;
  const root = diff as unknown as Node;
  const rows = diffRows(root);
  const updates = (root.TaskGroups ?? []).flatMap((group) =>
    Object.entries(group.Updates ?? {}).map(([kind, count]) => `${group.Name ?? ""}: ${count} ${kind}`),
  );
  return (
    <>
      {updates.length === 0 ? null : <p class="quiet">Nomad would do: {visible(updates.join(", "))}</p>}
      {rows.length === 0 ? <p class="quiet">Nomad reports the job as {root.Type.toLowerCase()} without naming a field.</p> : null}
      <table class="diff">
        <thead>
          <tr>
            <th scope="col">Change</th>
            <th scope="col">Field</th>
            <th scope="col">Now</th>
            <th scope="col">In git</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.path} class={row.type.toLowerCase()}>
              <td>
                <span title={row.type}>{marks[row.type] ?? ""}</span>
              </td>
              <th scope="row">{visible(row.path)}</th>
              <td>{visible(row.old)}</td>
              <td>{visible(row.new)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
