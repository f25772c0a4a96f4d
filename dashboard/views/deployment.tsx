/** One deployment: what it will do or did, and the decision when one is wanted. */
import { useState } from "preact/hooks";
import type { DeploymentDetailJson, HookRunJson } from "../../api/contract.ts";
import { api } from "../api.ts";
import { Action, Badge, Facts, Link, Name, Problem, Time } from "../components.tsx";
import { shortHash, visible } from "../format.ts";
import { go } from "../location.ts";
import { useResource } from "../resource.ts";
import { jobPath } from "../route.ts";
import { Diff } from "./diff.tsx";

export function Deployment({ id }: { readonly id: string }) {
  const { data, error, reload } = useResource(() => api.deployment(id), id);
  return (
    <>
      <Problem error={error} />
      {data === undefined ? null : <Body data={data} reload={reload} />}
    </>
  );
}

function Body({ data, reload }: { readonly data: DeploymentDetailJson; readonly reload: () => void }) {
  return (
    <>
      <h2>
        <Link to={jobPath(data.namespace, data.job)}>
          <Name text={`${data.namespace}/${data.job}`} />
        </Link>{" "}
        <Badge state={data.state} />
      </h2>
      {data.error === null ? null : <p class="problem">{visible(data.error)}</p>}
      <Relatives data={data} />
      <Facts
        rows={[
          ["Deployment", data.id],
          [
            "Commit",
            <span key="c">
              <code title={data.commit_sha}>{shortHash(data.commit_sha)}</code>{" "}
              {visible(`${data.commit_subject} (${data.commit_author})`)}
            </span>,
          ],
          ["Policy", data.policy],
          ["Spec hash", <code key="h">{data.spec_hash}</code>],
          ["Created", <Time key="t" at={data.created_at} />],
          [
            "Approvals",
            `${data.approvals.length} of ${data.approvals_required}${data.approvals.length === 0 ? "" : `: ${data.approvals.map((approval) => approval.actor).join(", ")}`}`,
          ],
        ]}
      />
      {data.state === "pending_approval" ? <Review data={data} reload={reload} /> : null}
      <OtherActions data={data} reload={reload} />
      <section>
        <h3>Difference</h3>
        <Diff diff={data.diff} open={data.state === "detected" || data.state === "pending_approval"} />
      </section>
      <HookRuns data={data} reload={reload} />
      <Timeline data={data} />
    </>
  );
}

function Review({ data, reload }: { readonly data: DeploymentDetailJson; readonly reload: () => void }) {
  const [comment, setComment] = useState("");
  const hooks = (phase: string) =>
    data.hooks
      .filter((hook) => hook.phase === phase)
      .map((hook) => `Run ${phase}-hook ${hook.job} (${hook.revision}), at most ${hook.timeout_seconds} s`);
  const steps = [
    ...(data.mode === "apply" ? [...hooks("pre"), "Register the job"] : []),
    "Wait until it is healthy",
    ...hooks("post"),
  ];
  return (
    <section class="review" aria-labelledby="review">
      <h3 id="review">Approving will</h3>
      <ol>
        {steps.map((step) => (
          <li key={step}>{visible(step)}</li>
        ))}
      </ol>
      <p class="toolbar">
        <input
          aria-label="Comment"
          placeholder="comment"
          maxLength={500}
          value={comment}
          onInput={(event) => setComment(event.currentTarget.value)}
        />
        <Action
          label="Approve"
          confirm={`Approve ${shortHash(data.spec_hash)}`}
          run={() => api.approve(data.id, data.spec_hash, comment)}
          done={reload}
        />
        <Action label="Reject" confirm="Reject" run={() => api.reject(data.id, comment)} done={reload} />
      </p>
    </section>
  );
}

/** Links between an attempt and the one that a person's retry made of it. */
function Relatives({ data }: { readonly data: DeploymentDetailJson }) {
  if (data.retry_of === null && data.retried_by === null) return null;
  return (
    <p class="quiet">
      {data.retry_of === null ? null : <Link to={`/deployments/${data.retry_of}`}>Retry of an earlier deployment</Link>}{" "}
      {data.retried_by === null ? null : <Link to={`/deployments/${data.retried_by}`}>Retried by a later deployment</Link>}
    </p>
  );
}

function OtherActions({ data, reload }: { readonly data: DeploymentDetailJson; readonly reload: () => void }) {
  const unknown = data.hook_runs.some((run) => run.state === "unknown" && run.resolution === null);
  const retry = async (reschedule: boolean): Promise<void> => {
    const choices = { ...(reschedule ? { reschedule } : {}), ...(unknown ? { rerun_unknown_hooks: true } : {}) };
    const successor = await api.retry(data.id, choices);
    go(`/deployments/${successor.id}`);
  };
  return (
    <p class="toolbar">
      {data.awaiting_promotion_since !== null && data.state === "applying" ? (
        <>
          <Action label="Promote" confirm="Promote canaries" run={() => api.promote(data.id)} done={reload} />
          <Action label="Fail" confirm="Fail the rollout" run={() => api.fail(data.id)} done={reload} />
        </>
      ) : null}
      {(data.state === "failed" || data.state === "rejected") && data.retried_by === null ? (
        <>
          <Action
            label="Retry"
            confirm={unknown ? "Try again, and run hooks again whose outcome is unknown" : "Try again"}
            run={() => retry(false)}
            done={reload}
          />
          <Action
            label="Retry and place again"
            confirm="Ask Nomad to place the allocations again"
            run={() => retry(true)}
            done={reload}
          />
        </>
      ) : null}
    </p>
  );
}

function HookRuns({ data, reload }: { readonly data: DeploymentDetailJson; readonly reload: () => void }) {
  if (data.hook_runs.length === 0) return null;
  return (
    <section>
      <h3>Hook runs</h3>
      {data.hook_runs.map((run) => (
        <article key={run.id}>
          <p>
            {run.phase}-hook <Name text={run.job} /> <Badge state={run.state} /> {visible(run.error ?? "")}
          </p>
          <Outcome deployment={data.id} run={run} reload={reload} />
          {run.log_tail === null ? null : <pre>{visible(run.log_tail)}</pre>}
        </article>
      ))}
    </section>
  );
}

/** A run whose outcome nobody saw: what a person said, or the question. */
function Outcome({
  deployment,
  run,
  reload,
}: {
  readonly deployment: string;
  readonly run: HookRunJson;
  readonly reload: () => void;
}) {
  if (run.state !== "unknown") return null;
  if (run.resolution !== null) {
    const word = run.resolution === "ran" ? "it ran" : "it did not run";
    return (
      <p class="quiet">
        {visible(run.resolved_by ?? "")} says that {word}.
      </p>
    );
  }
  return (
    <p class="toolbar">
      Did it run?
      <Action label="It ran" confirm="It ran" run={() => api.resolveHook(deployment, run.id, "ran")} done={reload} />
      <Action
        label="It did not run"
        confirm="It did not run"
        run={() => api.resolveHook(deployment, run.id, "did_not_run")}
        done={reload}
      />
    </p>
  );
}

function Timeline({ data }: { readonly data: DeploymentDetailJson }) {
  return (
    <section>
      <h3>Events</h3>
      <ol class="timeline">
        {data.events.map((event) => (
          <li key={event.id}>
            <Time at={event.time} /> <Badge state={event.to ?? event.kind} /> {visible(event.actor)}: {visible(event.message)}
          </li>
        ))}
      </ol>
    </section>
  );
}
