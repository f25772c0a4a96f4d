import type { Rec } from "../../simulator/jobspec/values.ts";
import { view } from "./life-view.ts";
import { normalValue } from "./normal.ts";
import type { Answer, Exchange } from "./twins.ts";

export interface Alloc extends Rec {
  readonly ID: string;
  readonly NodeID: string;
}

/** What is told of a job, below its path. */
const JOB_PATHS = [
  "",
  "/summary",
  "/versions?diffs=true",
  "/deployments",
  "/allocations?all=true",
  "/evaluations",
  "/scale",
  "/submission?version=0",
];

const CHILD_PATHS = ["", "/summary", "/allocations?all=true", "/evaluations"];

/** One of the two servers, as a life asks it. */
export class LifeSide {
  readonly ask: (exchange: Exchange) => Promise<Answer>;

  constructor(ask: (exchange: Exchange) => Promise<Answer>) {
    this.ask = ask;
  }

  /** The JSON of an answer; undefined when it is a refusal. */
  async read(path: string): Promise<unknown> {
    const { status, body } = await this.ask({ method: "GET", path });
    return status === 200 ? JSON.parse(body) : undefined;
  }

  /** The ids of the jobs that were made of one, in an order that both servers share as long as the jobs differ. */
  async children(name: string): Promise<string[]> {
    const path = `/v1/jobs?prefix=${encodeURIComponent(`${name}/`)}`;
    const rows = ((await this.read(path)) ?? []) as (Rec & { readonly ID: string })[];
    return inOrder(rows).map(({ ID }) => ID);
  }

  /** The allocations of a job and of its children, in an order that both servers share. */
  async allocs(name: string): Promise<Alloc[]> {
    const names = [name, ...(await this.children(name))];
    const lists = await Promise.all(names.map((one) => this.read(`${pathOf(one)}/allocations?all=true`)));
    return inOrder(lists.flatMap((list) => (list ?? []) as Alloc[]));
  }

  /** Whether a deployment of the job, or a drain of one of the nodes, is under way. */
  async isGathering(name: string, nodes: readonly string[]): Promise<boolean> {
    const latest = (await this.read(`${pathOf(name)}/deployment`)) as Rec | null | undefined;
    if (latest?.["Status"] === "running" || latest?.["Status"] === "paused") return true;
    const rows = await Promise.all(nodes.map((id) => this.read(`/v1/node/${id}`)));
    return rows.some((row) => ((row as Rec | undefined)?.["DrainStrategy"] ?? undefined) !== undefined);
  }

  /** All that is told of a job, of its children and of its nodes, as it is compared. */
  async picture(name: string, nodes: readonly string[]): Promise<Readonly<Record<string, unknown>>> {
    const views = async (paths: readonly string[]) =>
      await Promise.all(paths.map(async (path) => [path, view(await this.ask({ method: "GET", path }))] as const));
    const children = await this.children(name);
    const [own, ...others] = await Promise.all([
      views([
        ...JOB_PATHS.map((path) => `${pathOf(name)}${path}`),
        ...nodes.map((id) => `/v1/node/${id}`),
        `/v1/jobs?prefix=${encodeURIComponent(name)}&meta=true`,
        `/v1/scaling/policies?job=${encodeURIComponent(name)}`,
      ]),
      ...children.map((child) => views(CHILD_PATHS.map((path) => `${pathOf(child)}${path}`))),
    ]);
    return { ...Object.fromEntries(own), children: inOrder(others.map((child) => child.map(([, one]) => one))) };
  }
}

export function pathOf(name: string): string {
  return `/v1/job/${encodeURIComponent(name)}`;
}

/** Ids differ from one server to the other, so the rest of a row says where it stands. */
function inOrder<T>(rows: readonly T[]): T[] {
  return rows
    .map((row) => [JSON.stringify(normalValue(row, "")), row] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, row]) => row);
}
