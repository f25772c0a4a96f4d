import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { InvalidRequestError } from "../model/errors.ts";
import { isRefusedAddress } from "./address.ts";

/** Where a repository is. `display` is fit for messages: it never holds a user name or password. */
export type GitLocation =
  | {
      readonly kind: "http";
      /** Without user part and without a slash at the end. */
      readonly url: string;
      readonly secure: boolean;
      /** From the URL's user part; a token file wins over it. */
      readonly username: string | undefined;
      readonly password: string | undefined;
      readonly display: string;
    }
  | {
      readonly kind: "ssh";
      readonly user: string;
      readonly host: string;
      readonly port: number;
      /** As the server's shell gets it, unquoted. */
      readonly path: string;
      readonly display: string;
    }
  | {
      readonly kind: "local";
      /** Absolute. */
      readonly path: string;
      readonly display: string;
    };

const hostPattern = /^(?:[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?\.?|\[[0-9A-Fa-f:.]+\])$/;
const userPattern = /^[A-Za-z0-9_][A-Za-z0-9_.+-]*$/;

/**
 * Reads the URL of a repository: https, http, ssh (also as `user@host:path`), file, or a plain path (relative ones from the
 * working directory). Refuses whatever git would run as a program or take for an option, other schemes, addresses of metadata
 * services, and queries (reliability S44). Nothing is contacted.
 *
 * @throws InvalidRequestError `invalid_repository_url`; its message never repeats a user part.
 */
export function parseRepositoryUrl(text: string): GitLocation {
  if (text.trim() === "") throw refuse("the URL is empty");
  if (/[\p{Cc}]/u.test(text)) throw refuse("the URL holds a control character");
  if (text.startsWith("-")) throw refuse("the URL begins with a hyphen, like an option");
  const helper = /^([A-Za-z0-9+.-]+)::/.exec(text);
  if (helper) throw refuse(`"${helper[1] ?? ""}::" would run a program`);
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):\/\//.exec(text)?.[1]?.toLowerCase();
  if (scheme === "http" || scheme === "https") return readHttp(text);
  if (scheme === "ssh") return readSsh(text);
  if (scheme === "file") return readFile(text);
  if (scheme !== undefined) throw refuse(`the scheme "${scheme}" is not supported`);
  const colon = text.indexOf(":");
  const slash = text.indexOf("/");
  if (colon > 0 && (slash < 0 || colon < slash)) return readScp(text.slice(0, colon), text.slice(colon + 1));
  return { kind: "local", path: resolve(text), display: resolve(text) };
}

function refuse(why: string): InvalidRequestError {
  return new InvalidRequestError(`the repository URL cannot be used: ${why}`, {
    code: "invalid_repository_url",
    hint: "use https://host/path, ssh://git@host/path, git@host:path, file:///path or the path of a repository",
  });
}

function parse(text: string): URL {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw refuse("it is malformed");
  }
  if (url.search !== "" || url.hash !== "") throw refuse("it holds a query or fragment; a token belongs into token_file");
  return url;
}

function checkHost(host: string): void {
  if (!hostPattern.test(host)) throw refuse("the host name is malformed");
  if (isRefusedAddress(host)) throw refuse(`${host} is a link-local, metadata or unusable address`);
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw refuse("its user part is malformed");
  }
}

function readHttp(text: string): GitLocation {
  const url = parse(text);
  checkHost(url.hostname);
  const username = url.username === "" ? undefined : decode(url.username);
  const password = url.password === "" ? undefined : decode(url.password);
  url.username = "";
  url.password = "";
  const plain = url.href.replace(/\/+$/, "");
  if (url.pathname === "/") throw refuse("it names no repository on the host");
  return { kind: "http", url: plain, secure: url.protocol === "https:", username, password, display: plain };
}

function readSsh(text: string): GitLocation {
  const url = parse(text);
  if (url.password !== "") throw refuse("ssh takes no password; use ssh_key_file");
  // ssh://host/~user/x means a path below a home, which the server's shell resolves.
  const path = decode(url.pathname).replace(/^\/~/, "~");
  return ssh(decode(url.username), url.hostname, url.port === "" ? 22 : Number(url.port), path);
}

function readScp(authority: string, path: string): GitLocation {
  const at = authority.lastIndexOf("@");
  return ssh(authority.slice(0, Math.max(0, at)), authority.slice(at + 1), 22, path);
}

function ssh(user: string, host: string, port: number, path: string): GitLocation {
  checkHost(host);
  const name = user === "" ? "git" : user;
  if (!userPattern.test(name)) throw refuse("the ssh user is malformed");
  if (path === "" || path === "/") throw refuse("it names no repository on the host");
  if (path.startsWith("-")) throw refuse("the path begins with a hyphen, like an option");
  if (/\p{Cc}/u.test(path)) throw refuse("the path holds a control character");
  const bare = host.startsWith("[") ? host.slice(1, -1) : host;
  const display = `ssh://${host}${port === 22 ? "" : `:${port}`}/${path.replace(/^\//, "")}`;
  return { kind: "ssh", user: name, host: bare, port, path, display };
}

function readFile(text: string): GitLocation {
  const url = parse(text);
  if (url.host !== "" && url.host !== "localhost") throw refuse("a file URL names no host: write file:///path");
  url.host = "";
  let path: string;
  try {
    path = fileURLToPath(url);
  } catch {
    throw refuse("it is malformed");
  }
  return { kind: "local", path, display: path };
}
