/** The dashboard: navigation, who is there, and the view of the present path. */
import { effect } from "@preact/signals";
import { render } from "preact";
import { useState } from "preact/hooks";
import { followEvents, loginWanted } from "./api.ts";
import { Link } from "./components.tsx";
import { visible } from "./format.ts";
import { go, path } from "./location.ts";
import { changes } from "./resource.ts";
import { routeOf } from "./route.ts";
import { loadMethods, loginPath, logOut, methods, peopleLogIn, refreshSession, session, takeToken } from "./session.ts";
import { Deployment } from "./views/deployment.tsx";
import { Deployments } from "./views/deployments.tsx";
import { Job } from "./views/job.tsx";
import { Jobs } from "./views/jobs.tsx";
import { Login } from "./views/login.tsx";
import { Events, Status } from "./views/operations.tsx";
import { Overview } from "./views/overview.tsx";

const views = [
  ["/", "Overview"],
  ["/jobs", "Jobs"],
  ["/deployments", "Deployments"],
  ["/events", "Events"],
  ["/status", "Status"],
] as const;

function App() {
  return (
    <>
      <header>
        <h1>
          <Link to="/">nops</Link>
        </h1>
        <nav aria-label="Views">
          {views.map(([to, word]) => (
            <Link key={to} to={to} current={path.value === to}>
              {word}
            </Link>
          ))}
        </nav>
        <Who />
      </header>
      <main>
        <View />
      </main>
    </>
  );
}

function View() {
  const route = routeOf(path.value);
  switch (route.view) {
    case "overview":
      return <Overview />;
    case "jobs":
      return <Jobs />;
    case "deployments":
      return <Deployments />;
    case "job":
      return <Job namespace={route.namespace} job={route.job} />;
    case "deployment":
      return <Deployment id={route.id} />;
    case "events":
      return <Events />;
    case "status":
      return <Status />;
    case "login":
      return <Login />;
    case "lost":
      return <p class="problem">There is no such page.</p>;
  }
}

/** Who is logged in, and the way in or out. */
function Who() {
  const { value } = session;
  const out = (): void => {
    const way = peopleLogIn();
    void logOut().then(() => (way ? go("/login?notice=logged_out") : undefined));
  };
  if (value !== undefined && value.method !== "anonymous")
    return (
      <p class="who">
        <span title={visible(value.identity)}>{visible(value.name)}</span>{" "}
        <button type="button" onClick={out}>
          {value.method === "token" ? "Forget token" : "Log out"}
        </button>
      </p>
    );
  if (peopleLogIn())
    return (
      <p class="who">
        <Link to={loginPath(path.value)}>Log in</Link>
      </p>
    );
  return methods.value.includes("token") ? <TokenForm /> : null;
}

function TokenForm() {
  const [value, setValue] = useState("");
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    void takeToken(value);
    setValue("");
  };
  return (
    <form onSubmit={submit}>
      <label>
        {loginWanted.value ? <strong>A token is needed</strong> : "Token"}{" "}
        <input type="password" autocomplete="off" value={value} onInput={(event) => setValue(event.currentTarget.value)} />
      </label>
      <button type="submit">Use</button>
    </form>
  );
}

/** Whoever has to log in is led there, and comes back here afterwards. */
effect(() => {
  if (!loginWanted.value || !peopleLogIn() || path.value === "/login") return;
  const ended = session.peek() !== undefined;
  session.value = undefined;
  go(loginPath(path.value, ended ? "session_ended" : undefined));
});

const root = document.getElementById("app");
if (root !== null) {
  void loadMethods();
  void refreshSession();
  render(<App />, root);
  void followEvents(() => {
    changes.value += 1;
  }, new AbortController().signal);
}
