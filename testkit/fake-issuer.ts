/** An OpenID Connect provider on loopback that signs real tokens, for whoever it is told to be. */
import { createHash, generateKeyPairSync, randomUUID, sign } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

/** How the next answers are. */
export interface IssuerPerson {
  /** Claims of the ID token beside those that every one has. */
  claims: Record<string, unknown>;
  /** What /userinfo answers. */
  userinfo: Record<string, unknown>;
  /** Overwrites registered claims of the ID token: `iss`, `aud`, `exp`, `nonce`. */
  forge: Record<string, unknown>;
  /** Signs with a key that is not published. */
  forgeKey: boolean;
  /** Answers everything with 503. */
  away: boolean;
}

export interface FakeIssuer {
  readonly issuer: string;
  readonly person: IssuerPerson;
  /** What was asked of each path. */
  readonly asked: string[];
  /** Plays the browser at the provider: gives where the provider sends it. */
  authorize(url: string): string;
  close(): Promise<void>;
}

interface Grant {
  readonly nonce: string;
  readonly challenge: string;
  readonly redirect: string;
}

export const issuerClient = { id: "nops", secret: "client-s3cret-value" } as const;

const keys = generateKeyPairSync("rsa", { modulusLength: 2048 });
const foreignKeys = generateKeyPairSync("rsa", { modulusLength: 2048 });

export async function startFakeIssuer(): Promise<FakeIssuer> {
  const person: IssuerPerson = { claims: { sub: "42" }, userinfo: { sub: "42" }, forge: {}, forgeKey: false, away: false };
  const grants = new Map<string, Grant>();
  const asked: string[] = [];
  let issuer = "";
  const server = createServer((request, response) => {
    void (async () => {
      const { pathname } = new URL(request.url ?? "/", issuer);
      asked.push(pathname);
      const [status, body] = person.away ? [503, {}] : await answer(pathname, request);
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    })();
  });
  const answer = async (pathname: string, request: IncomingMessage): Promise<readonly [number, object]> => {
    switch (pathname) {
      case "/.well-known/openid-configuration":
        return [200, discovery(issuer)];
      case "/jwks":
        return [200, { keys: [{ ...keys.publicKey.export({ format: "jwk" }), kid: "k1", alg: "RS256", use: "sig" }] }];
      case "/token":
        return exchange(issuer, person, grants, new URLSearchParams(await textOf(request)));
      case "/userinfo":
        return [200, person.userinfo];
      default:
        return [404, {}];
    }
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    person,
    asked,
    authorize: (url) => {
      const query = new URL(url).searchParams;
      const code = randomUUID();
      const redirect = query.get("redirect_uri") ?? "";
      grants.set(code, { nonce: query.get("nonce") ?? "", challenge: query.get("code_challenge") ?? "", redirect });
      return `${redirect}?${new URLSearchParams({ code, state: query.get("state") ?? "", iss: issuer })}`;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function discovery(issuer: string): object {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    userinfo_endpoint: `${issuer}/userinfo`,
    response_types_supported: ["code"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["RS256"],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["client_secret_post"],
    authorization_response_iss_parameter_supported: true,
  };
}

/** A code is good once, for the verifier and the address that it was made for. */
function exchange(
  issuer: string,
  person: IssuerPerson,
  grants: Map<string, Grant>,
  form: URLSearchParams,
): readonly [number, object] {
  const code = form.get("code") ?? "";
  const grant = grants.get(code);
  grants.delete(code);
  const challenge = createHash("sha256")
    .update(form.get("code_verifier") ?? "")
    .digest("base64url");
  const right =
    grant !== undefined &&
    grant.challenge === challenge &&
    grant.redirect === form.get("redirect_uri") &&
    form.get("client_id") === issuerClient.id &&
    form.get("client_secret") === issuerClient.secret;
  if (!right) return [400, { error: "invalid_grant" }];
  const now = Math.floor(Date.now() / 1_000);
  const claims = {
    iss: issuer,
    aud: issuerClient.id,
    iat: now,
    exp: now + 300,
    nonce: grant.nonce,
    ...person.claims,
    ...person.forge,
  };
  return [200, { access_token: "at", token_type: "Bearer", expires_in: 300, id_token: jwt(claims, person.forgeKey) }];
}

function jwt(claims: object, forged: boolean): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const text = `${part({ alg: "RS256", kid: "k1", typ: "JWT" })}.${part(claims)}`;
  return `${text}.${sign("sha256", Buffer.from(text), forged ? foreignKeys.privateKey : keys.privateKey).toString("base64url")}`;
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return text;
}
