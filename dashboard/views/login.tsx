/** Coming in: by the ways that the server offers. */
import { useState } from "preact/hooks";
import { api, useToken } from "../api.ts";
import { Problem } from "../components.tsx";
import { go } from "../location.ts";
import { methods, noticeText, refreshSession, takeToken } from "../session.ts";

/** The path to go on to, as the link asked for it. The server says what becomes of it. */
function wantedNext(): string {
  return new URLSearchParams(location.search).get("next") ?? "/";
}

/** To the provider: no form, since `form-action` of our own policy would stop the redirect to another site. */
function leave(): void {
  location.assign(`/auth/oidc?next=${encodeURIComponent(wantedNext())}`);
}

export function Login() {
  const notice = noticeText(location.search);
  return (
    <section class="login">
      <h2>Log in</h2>
      {notice === undefined ? null : <p role="status">{notice}</p>}
      {methods.value.includes("local") ? <PasswordForm /> : null}
      {methods.value.includes("nomad") ? <NomadForm /> : null}
      {methods.value.includes("oidc") ? (
        <p>
          <button type="button" onClick={leave}>
            Log in with single sign-on
          </button>
        </p>
      ) : null}
      {methods.value.includes("token") ? <TokenForm /> : null}
    </section>
  );
}

/** Runs a login; a failure stays on the page, a success leads on. */
function useLogin(): {
  readonly error: Error | undefined;
  readonly busy: boolean;
  readonly run: (login: () => Promise<string>) => void;
} {
  const [error, setError] = useState<Error | undefined>(undefined);
  const [busy, setBusy] = useState(false);
  const run = (login: () => Promise<string>): void => {
    setBusy(true);
    login()
      .then(async (next) => {
        // A token of this tab would go before the cookie.
        useToken("");
        await refreshSession();
        go(next);
      })
      .catch((problem: unknown) => setError(problem instanceof Error ? problem : new Error(String(problem))))
      .finally(() => setBusy(false));
  };
  return { error, busy, run };
}

function PasswordForm() {
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const { error, busy, run } = useLogin();
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    setPassword("");
    run(async () => (await api.loginLocal(name, password, wantedNext())).next);
  };
  return (
    <form onSubmit={submit}>
      <label>
        Name{" "}
        <input
          name="username"
          autocomplete="username"
          required
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
      </label>
      <label>
        Password{" "}
        <input
          name="password"
          type="password"
          autocomplete="current-password"
          required
          value={password}
          onInput={(event) => setPassword(event.currentTarget.value)}
        />
      </label>
      <button type="submit" disabled={busy}>
        Log in
      </button>
      <Problem error={error} />
    </form>
  );
}

function NomadForm() {
  const [value, setValue] = useState("");
  const { error, busy, run } = useLogin();
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    setValue("");
    run(async () => (await api.loginNomad(value, wantedNext())).next);
  };
  return (
    <form onSubmit={submit}>
      <label>
        Nomad token (secret ID){" "}
        <input
          type="password"
          autocomplete="off"
          required
          value={value}
          onInput={(event) => setValue(event.currentTarget.value)}
        />
      </label>
      <button type="submit" disabled={busy}>
        Log in with Nomad
      </button>
      <Problem error={error} />
    </form>
  );
}

function TokenForm() {
  const [value, setValue] = useState("");
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    setValue("");
    void takeToken(value).then(() => go("/"));
  };
  return (
    <form onSubmit={submit}>
      <label>
        API token{" "}
        <input
          type="password"
          autocomplete="off"
          required
          value={value}
          onInput={(event) => setValue(event.currentTarget.value)}
        />
      </label>
      <button type="submit">Use in this tab</button>
    </form>
  );
}
