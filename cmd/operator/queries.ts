/** Reads of the API: the running operator's memory beside the store's read model. */

import type { ListFilter, Queries } from "../../api/ports.ts";
import {
  presentApproval,
  presentDeployment,
  presentEvent,
  presentFrozenHook,
  presentHookRun,
  presentPause,
} from "../../api/present.ts";
import { warningsOf } from "../../api/warnings.ts";
import type { Operator } from "../../controllers/operator.ts";
import { NotFoundError } from "../../model/errors.ts";
import type { Store } from "../../store/open.ts";
import type { Config } from "../config/schema.ts";
import { version } from "../version.ts";
import type { NomadContact } from "./nomad-contact.ts";
import {
  presentExplanation,
  presentJob,
  presentJobDetail,
  presentLoops,
  presentQueues,
  presentRepository,
} from "./present-views.ts";

const deploymentsOfJob = 50;

export function createQueries(config: Config, store: Store, operator: Operator, contact: NomadContact): Queries {
  return {
    jobs: async () => (await operator.jobs()).map(presentJob),
    job: (key) =>
      unlessMissing(async () => presentJobDetail(await operator.job(key), await store.jobDeployments(key, deploymentsOfJob))),
    explain: (key) => unlessMissing(async () => presentExplanation(await operator.explain(key))),
    deployments: async (filter: ListFilter) => {
      const page = await store.listDeployments(filter);
      return { items: page.items.map(presentDeployment), nextCursor: page.nextCursor };
    },
    deployment: async (id) => {
      const detail = await store.deploymentDetail(id);
      if (detail === undefined) return undefined;
      return {
        ...presentDeployment(detail.deployment),
        diff: detail.diff === undefined ? null : { ...detail.diff },
        hooks: detail.hooks.map(presentFrozenHook),
        hook_runs: detail.hookRuns.map(presentHookRun),
        approvals: detail.approvals.map(presentApproval),
        approvals_required: config.approval.required,
        events: detail.events.map(presentEvent),
      };
    },
    events: async (filter: ListFilter) => {
      const page = await store.listEvents(filter);
      return { items: page.items.map(presentEvent), nextCursor: page.nextCursor };
    },
    eventsAfter: async (id, limit) => (await store.eventsAfter(id, limit)).map(presentEvent),
    lastEventId: async () => (await store.auditHead()).seq,
    onEvents: (wake) => store.onEvents(wake),
    pause: async () => presentPause((await store.pausesInForce()).all),
    status: () => status(config, store, operator, contact),
  };
}

async function status(config: Config, store: Store, operator: Operator, contact: NomadContact) {
  const [view, counts, pauses] = await Promise.all([operator.status(), store.countByState(), store.pausesInForce()]);
  const branches = new Map(config.repositories.map((repository) => [repository.name, repository.branch]));
  const modes = { normal: "active", read_only: "read_only", standby: "standby", restored_database: "restored" } as const;
  const answer = {
    version,
    mode: modes[view.mode],
    started_at: view.startedAt ?? null,
    repositories: view.repositories.map((repository) => presentRepository(repository, branches.get(repository.name) ?? "")),
    nomad: {
      address: config.nomad.address,
      reachable: contact.error === undefined,
      error: contact.error ?? null,
      last_contact_at: contact.lastContactAt ?? null,
    },
    loops: presentLoops(view),
    queues: presentQueues(view),
    counts: {
      ...view.jobs,
      ...Object.fromEntries(Object.entries(counts).map(([state, count]) => [`deployments_${state}`, count])),
      orphans: view.orphans,
    },
    paused: presentPause(pauses.all),
  };
  return { ...answer, warnings: warningsOf(answer) };
}

async function unlessMissing<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  }
}
