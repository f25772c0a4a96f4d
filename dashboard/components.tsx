/** Small pieces that every view uses. All foreign text goes through `visible` and into text nodes. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { StatusJson } from "../api/contract.ts";
import { RequestError } from "./api.ts";
import { ago, mixesScripts, shortHash, toneOf, visible } from "./format.ts";
import { go } from "./location.ts";

export function Link({
  to,
  current,
  children,
}: {
  readonly to: string;
  /** Whether this is where the person is. */
  readonly current?: boolean;
  readonly children: ComponentChildren;
}) {
  const follow = (event: MouseEvent): void => {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    go(to);
  };
  return (
    <a href={to} onClick={follow} aria-current={current === true ? "page" : undefined}>
      {children}
    </a>
  );
}

export function Badge({ state }: { readonly state: string }) {
  return <span class={`badge ${toneOf(state)}`}>{state}</span>;
}

/** A name from a repository, with a warning when it mixes scripts. */
export function Name({ text }: { readonly text: string }) {
  return (
    <span class="name">
      {visible(text)}
      {mixesScripts(text) ? (
        <span class="badge wait" title="This name mixes letters of several scripts; check that it is the one you mean">
          mixed scripts
        </span>
      ) : null}
    </span>
  );
}

export function Time({ at }: { readonly at: string | null }) {
  return at === null ? (
    <span>–</span>
  ) : (
    <time dateTime={at} title={at}>
      {ago(at, Date.now())}
    </time>
  );
}

/** A commit by its short hash and subject; the whole hash on hover. */
export function Commit({ sha, subject }: { readonly sha: string | null; readonly subject?: string | null }) {
  if (sha === null) return <span>–</span>;
  return (
    <span>
      <code title={sha}>{shortHash(sha)}</code> {visible(subject ?? "")}
    </span>
  );
}

export function Problem({ error }: { readonly error: Error | undefined }) {
  if (error === undefined) return null;
  const hint = error instanceof RequestError ? error.hint : null;
  return (
    <p class="problem" role="alert">
      {visible(error.message)}
      {hint === null ? null : <em> {visible(hint)}</em>}
    </p>
  );
}

/** What the server says that every reader has to know, in its own words. */
export function Warnings({ status }: { readonly status: StatusJson }) {
  return (
    <>
      {status.warnings.map((line) => (
        <p key={line} class="problem">
          {visible(line)}
        </p>
      ))}
    </>
  );
}

/** A button that asks once more before it acts, and shows what went wrong. */
export function Action({
  label,
  confirm,
  run,
  done,
  disabled,
}: {
  readonly label: string;
  readonly confirm?: string;
  readonly run: () => Promise<unknown>;
  readonly done: () => void;
  readonly disabled?: boolean;
}) {
  const [asking, setAsking] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error>();
  const act = async (): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      await run();
      done();
    } catch (failure) {
      setError(failure instanceof Error ? failure : new Error(String(failure)));
    }
    setBusy(false);
    setAsking(false);
  };
  return (
    <span class="action">
      {asking ? (
        <>
          <button type="button" class="strong" disabled={busy} onClick={() => void act()}>
            {confirm}
          </button>
          <button type="button" disabled={busy} onClick={() => setAsking(false)}>
            Cancel
          </button>
        </>
      ) : (
        <button
          type="button"
          disabled={busy || disabled === true}
          onClick={() => (confirm === undefined ? void act() : setAsking(true))}
        >
          {label}
        </button>
      )}
      <Problem error={error} />
    </span>
  );
}

export function Facts({ rows }: { readonly rows: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
