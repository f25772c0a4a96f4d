/** The dashboard: navigation, token, and the view of the present path. */
import { render } from "preact";
import { useState } from "preact/hooks";
import { followEvents, tokenWanted, useToken } from "./api.ts";
import { Link } from "./components.tsx";
import { path } from "./location.ts";
import { changes } from "./resource.ts";
import { routeOf } from "./route.ts";
import { Deployment } from "./views/deployment.tsx";
import { Deployments } from "./views/deployments.tsx";
import { Job } from "./views/job.tsx";
import { Jobs } from "./views/jobs.tsx";
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
        <TokenForm />
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
    case "lost":
      return <p class="problem">There is no such page.</p>;
  }
}

function TokenForm() {
  const [value, setValue] = useState("");
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    useToken(value);
    setValue("");
  };
  return (
    <form onSubmit={submit}>
      <label>
        {tokenWanted.value ? <strong>A token is needed</strong> : "Token"}{" "}
        <input type="password" autocomplete="off" value={value} onInput={(event) => setValue(event.currentTarget.value)} />
      </label>
      <button type="submit">Use</button>
    </form>
  );
}

const root = document.getElementById("app");
if (root !== null) {
  render(<App />, root);
  void followEvents(() => {
    changes.value += 1;
  }, new AbortController().signal);
}
