/** Where in the app a person is, as a path, so that a link can be shared. */

export type Route =
  | { readonly view: "overview" }
  | { readonly view: "jobs" }
  | { readonly view: "deployments" }
  | { readonly view: "job"; readonly namespace: string; readonly job: string }
  | { readonly view: "deployment"; readonly id: string }
  | { readonly view: "events" }
  | { readonly view: "status" }
  | { readonly view: "login" }
  | { readonly view: "lost" };

/** The view that a path means. */
export function routeOf(pathname: string): Route {
  const parts = pathname
    .split("/")
    .filter((part) => part !== "")
    .map(decode);
  const [first, second, third] = parts;
  if (first === undefined) return { view: "overview" };
  if (first === "jobs" && second !== undefined && third !== undefined) return { view: "job", namespace: second, job: third };
  if (first === "deployments" && second !== undefined) return { view: "deployment", id: second };
  if (parts.length > 1) return { view: "lost" };
  switch (first) {
    case "jobs":
    case "deployments":
    case "events":
    case "status":
    case "login":
      return { view: first };
    default:
      return { view: "lost" };
  }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function jobPath(namespace: string, job: string): string {
  return `/jobs/${encodeURIComponent(namespace)}/${encodeURIComponent(job)}`;
}
