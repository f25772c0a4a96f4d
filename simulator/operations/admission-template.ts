import type { Admitted, ApiJob, ServerJob } from "../jobspec/types.ts";
import { isEmpty, isRec, isUnset, type Rec, recs } from "../jobspec/values.ts";

/**
 * A job apart from what admission hands on without a look at it: the ID and the name, as far as they are plain, and the driver
 * configurations of the tasks.
 */
export interface Shape {
  /** The rest of the job. Jobs of the same text come out of admission alike. */
  readonly text: string;
  readonly id: string;
  readonly name: string;
  readonly configs: readonly Rec[];
}

/** An admitted job, into which others of the same shape can be filled. */
export interface Template {
  readonly admitted: Admitted;
  readonly shape: Shape;
  /** Whether something beside the ID and the name themselves was made of them; undefined until another name asks. */
  named: boolean | undefined;
}

/** Names of these characters pass every check, and stand in other texts as they are. */
const PLAIN = /^[\w.-]+$/;

/** Stands for what was taken out; no plain name and no configuration is written like this. */
const HOLE = "\u0000";

/** Undefined for a job whose ID or name admission must look at. */
export function shapeOf(job: ApiJob): Shape | undefined {
  const { ID: id, Name: stated } = job;
  const name = isUnset(stated) ? id : stated;
  if (typeof id !== "string" || typeof name !== "string" || !PLAIN.test(id) || !PLAIN.test(name)) return undefined;
  const configs: Rec[] = [];
  const rest: ApiJob = { ...job, ID: HOLE };
  if (!isUnset(stated)) rest["Name"] = HOLE;
  mapList(rest, "TaskGroups", (group) => {
    const hollow = { ...group };
    mapList(hollow, "Tasks", (task) => {
      const config = task["Config"];
      if (!isRec(config) || isEmpty(config)) return task;
      configs.push(config);
      return { ...task, Config: HOLE };
    });
    return hollow;
  });
  return { text: JSON.stringify(rest), id, name, configs };
}

/** Replaces the objects of a list; what is no list or no object is left to the decoder. */
function mapList(holder: Rec, key: string, change: (object: Rec) => Rec): void {
  const list = holder[key];
  if (Array.isArray(list)) holder[key] = list.map((entry: unknown) => (isRec(entry) ? change(entry) : entry));
}

/** Undefined where what was taken out of the job cannot be found again in what admission made of it. */
export function templateOf(shape: Shape, admitted: Admitted): Template | undefined {
  const { job } = admitted;
  if (job["ID"] !== shape.id || job["Name"] !== shape.name) return undefined;
  let found = 0;
  for (const group of recs(job, "TaskGroups")) {
    for (const task of recs(group, "Tasks")) if (isHeld(shape.configs, found, task)) found++;
  }
  if (found < shape.configs.length) return undefined;
  return { admitted, shape, named: undefined };
}

/** A service's name, for instance, is made of the name of its job. */
function isNamed({ admitted, shape }: Template): boolean {
  const made = JSON.stringify([{ ...admitted.job, ID: "", Name: "" }, admitted.warningList]);
  return made.includes(shape.id) || made.includes(shape.name);
}

/** Whether a task bears the configuration whose turn it is; tasks that admission added bear others. */
function isHeld(configs: readonly Rec[], turn: number, task: Rec): boolean {
  return turn < configs.length && task["Config"] === configs[turn];
}

/** What admission makes of a job of the template's shape, which shares with the template all that is equal. Undefined: ask it. */
export function fillTemplate(template: Template, wanted: Shape): Admitted | undefined {
  const { admitted, shape } = template;
  if (wanted.id !== shape.id || wanted.name !== shape.name) {
    template.named ??= isNamed(template);
    if (template.named) return undefined;
  }
  const TaskGroups = withConfigs(admitted.job, shape.configs, wanted.configs);
  return { ...admitted, job: { ...admitted.job, ID: wanted.id, Name: wanted.name, TaskGroups } };
}

function withConfigs(job: ServerJob, old: readonly Rec[], next: readonly Rec[]): readonly Rec[] {
  let turn = 0;
  return recs(job, "TaskGroups").map((group) => {
    let changed = false;
    const Tasks = recs(group, "Tasks").map((task) => {
      if (!isHeld(old, turn, task)) return task;
      const Config = next[turn++];
      if (JSON.stringify(Config) === JSON.stringify(task["Config"])) return task;
      changed = true;
      return { ...task, Config };
    });
    return changed ? { ...group, Tasks } : group;
  });
}
