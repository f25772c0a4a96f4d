/** Nomad's job diff as text for a terminal or a merge request. Takes redacted diffs only. */
import type { DiffType, FieldDiff, JobDiff, ObjectDiff, TaskDiff, TaskGroupDiff } from "../model/nomad.ts";
import { paint, printable } from "./output.ts";

const marks: Readonly<Record<DiffType, string>> = { None: " ", Added: "+", Deleted: "-", Edited: "~" };
const styles = { None: "gray", Added: "green", Deleted: "red", Edited: "yellow" } as const;

/** Lines of the diff, unchanged fields left out. `colour` paints the marks. */
export function diffText(diff: JobDiff, colour: boolean): string {
  const lines: string[] = [];
  const write = (depth: number, type: DiffType, text: string): void => {
    lines.push(`${"  ".repeat(depth)}${paint(colour, styles[type], `${marks[type]} ${printable(text)}`)}`);
  };
  write(0, diff.Type, `job "${diff.ID}"`);
  writeObject(diff, 1, write);
  for (const group of diff.TaskGroups ?? []) writeGroup(group, write);
  return lines.map((line) => `${line}\n`).join("");
}

type Write = (depth: number, type: DiffType, text: string) => void;

function writeGroup(group: TaskGroupDiff, write: Write): void {
  const updates = Object.entries(group.Updates ?? {}).map(([kind, count]) => `${count} ${kind}`);
  if (group.Type === "None" && updates.length === 0) return;
  write(1, group.Type, `group "${group.Name}"${updates.length === 0 ? "" : ` (${updates.join(", ")})`}`);
  writeObject(group, 2, write);
  for (const task of group.Tasks ?? []) writeTask(task, write);
}

function writeTask(task: TaskDiff, write: Write): void {
  if (task.Type === "None") return;
  const annotations = task.Annotations ?? [];
  write(2, task.Type, `task "${task.Name}"${annotations.length === 0 ? "" : ` (${annotations.join(", ")})`}`);
  writeObject(task, 3, write);
}

function writeObject(object: Pick<ObjectDiff, "Fields" | "Objects">, depth: number, write: Write): void {
  for (const field of object.Fields ?? []) if (field.Type !== "None") write(depth, field.Type, fieldText(field));
  for (const child of object.Objects ?? []) {
    if (child.Type === "None") continue;
    write(depth, child.Type, `${child.Name} {`);
    writeObject(child, depth + 1, write);
    write(depth, child.Type, "}");
  }
}

function fieldText({ Type, Name, Old, New }: FieldDiff): string {
  switch (Type) {
    case "Added":
      return `${Name}: ${JSON.stringify(New)}`;
    case "Deleted":
      return `${Name}: ${JSON.stringify(Old)}`;
    case "Edited":
    case "None":
      return `${Name}: ${JSON.stringify(Old)} => ${JSON.stringify(New)}`;
  }
}
