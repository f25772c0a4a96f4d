/** Nomad's job diff as a table that a screen reader can read: mark, field, old, new. */
import { type DiffNode, type DiffSection, diffSections, diffSummary, schedulerUpdates } from "../diff-rows.ts";
import { visible } from "../format.ts";

const marks: Readonly<Record<string, string>> = { Added: "+", Deleted: "−", Edited: "~" };

export function Diff({
  diff,
  open = true,
}: {
  readonly diff: Readonly<Record<string, unknown>> | null;
  readonly open?: boolean;
}) {
  if (diff === null) return <p class="quiet">No differences.</p>;
  const root = diff as unknown as DiffNode;
  const sections = diffSections(root);
  const updates = schedulerUpdates(root);
  return (
    <>
      {updates.length === 0 ? null : <p class="quiet">Nomad would do: {visible(updates.join(", "))}</p>}
      <details open={open}>
        <summary>
          {visible(diffSummary(sections) ?? `Nomad reports the job as ${root.Type.toLowerCase()} without naming a field`)}
        </summary>
        <div class="scroll">
          <table class="diff">
            <thead>
              <tr>
                <th scope="col">Change</th>
                <th scope="col">Field</th>
                <th scope="col">Now</th>
                <th scope="col">In git</th>
              </tr>
            </thead>
            {sections.map((section) => (
              <Section key={section.place} section={section} />
            ))}
          </table>
        </div>
      </details>
    </>
  );
}

function Section({ section }: { readonly section: DiffSection }) {
  return (
    <tbody>
      <tr class="place">
        <th scope="rowgroup" colSpan={4}>
          {visible(section.place)}
        </th>
      </tr>
      {section.rows.map((row) => (
        <tr key={row.path + row.old + row.new} class={row.type.toLowerCase()}>
          <td>
            <span title={row.type}>{marks[row.type] ?? ""}</span>
          </td>
          <th scope="row">{visible(row.path)}</th>
          <td>{visible(row.old)}</td>
          <td>{visible(row.new)}</td>
        </tr>
      ))}
    </tbody>
  );
}
