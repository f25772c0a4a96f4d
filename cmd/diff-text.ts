/** Nomad's job diff as text for a terminal or a merge request. Takes redacted diffs only. */
import type { DiffType, FieldDiff, JobDiff, ObjectDiff, TaskDiff, TaskGroupDiff } from "../model/nomad.ts";
import { paint, printable } from "./output.ts";

const marks: Readonly<Record<DiffType, string>> = { None: " ", Added: "+", Deleted: "-", Edited: "~" };
const styles = { None: "gray", Added: "green", Deleted: "red", Edited: "yellow" } as const;
/** Of a job that is new, what these say is what Nomad does anyway; shown, they hide the rest. */
const blankValues: ReadonlySet<string> = new Set(["", "0", "0s", "false"]);

/** Lines of the diff, unchanged fields and the blank ones of a new job left out. `colour` paints the marks. */
export function diffText(diff: JobDiff, colour: boolean): string {
  const writer = new DiffWriter(colour, diff.Type === "Added");
  writer.line(0, diff.Type, `job "${diff.ID}"`);
  writer.object(diff, 1);
  for (const group of diff.TaskGroups ?? []) writer.group(group);
  return writer.text();
}

class DiffWriter {
  readonly #colour: boolean;
  readonly #isNew: boolean;
  readonly #lines: string[] = [];
  #blanks = 0;

  constructor(colour: boolean, isNew: boolean) {
    this.#colour = colour;
    this.#isNew = isNew;
  }

  line(depth: number, type: DiffType, text: string): void {
    this.#lines.push(`${"  ".repeat(depth)}${paint(this.#colour, styles[type], `${marks[type]} ${printable(text)}`)}\n`);
  }

  group(group: TaskGroupDiff): void {
    const updates = Object.entries(group.Updates ?? {}).map(([kind, count]) => `${count} ${kind}`);
    if (group.Type === "None" && updates.length === 0) return;
    this.line(1, group.Type, `group "${group.Name}"${updates.length === 0 ? "" : ` (${updates.join(", ")})`}`);
    this.object(group, 2);
    for (const task of group.Tasks ?? []) this.#task(task);
  }

  object(object: Pick<ObjectDiff, "Fields" | "Objects">, depth: number): void {
    for (const field of object.Fields ?? []) if (this.#isShown(field)) this.line(depth, field.Type, fieldText(field));
    for (const child of object.Objects ?? []) {
      if (child.Type === "None") continue;
      this.line(depth, child.Type, `${child.Name} {`);
      const opened = this.#lines.length;
      this.object(child, depth + 1);
      const isEmpty = this.#lines.length === opened;
      if (this.#isNew && isEmpty) this.#lines.pop();
      else this.line(depth, child.Type, "}");
    }
  }

  text(): string {
    const rest = this.#blanks === 0 ? "" : `  (${this.#blanks} fields that are empty, zero or false are not shown)\n`;
    return `${this.#lines.join("")}${rest}`;
  }

  #task(task: TaskDiff): void {
    if (task.Type === "None") return;
    const annotations = task.Annotations ?? [];
    this.line(2, task.Type, `task "${task.Name}"${annotations.length === 0 ? "" : ` (${annotations.join(", ")})`}`);
    this.object(task, 3);
  }

  #isShown({ Type, New }: FieldDiff): boolean {
    if (Type === "None") return false;
    const isBlank = this.#isNew && blankValues.has(New);
    if (isBlank) this.#blanks += 1;
    return !isBlank;
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
