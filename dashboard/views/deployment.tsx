/** One deployment: what it will do or did, and the decision when one is wanted. */
import { useState } from "preact/hooks";
import type { DeploymentDetailJson } from "../../api/contract.ts";
import { api } from "../api.ts";
import { Action, Badge, Facts, Link, Name, Problem, Time } from "../components.tsx";
import { shortHash, visible } from "../format.ts";
import { useResource } from "../resource.ts";
import { go, jobPath } from "../route.ts";
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
        <Diff diff={data.diff} />
      </section>
      <HookRuns data={data} />
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

function OtherActions({ data, reload }: { readonly data: DeploymentDetailJson; readonly reload: () => void }) {
  const retry = async (): Promise<void> => {
    const successor = await api.retry(data.id);
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
        <Action label="Retry" confirm="Try again" run={retry} done={reload} />
      ) : null}
    </p>
  );
}

function HookRuns({ data }: { readonly data: DeploymentDetailJson }) {
  if (data.hook_runs.length === 0) return null;
  return (
    <section>
      <h3>Hook runs</h3>
      {data.hook_runs.map((run) => (
        <article key={run.id}>
          <p>
            {run.phase}-hook <Name text={run.job} /> <Badge state={run.state} /> {visible(run.error ?? "")}
          </p>
          {run.log_tail === null ? null : <pre>{visible(run.log_tail)}</pre>}
        </article>
      ))}
    </section>
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
