import { permissionDenied } from "../refusal.ts";
import type { AclPolicy, AclToken } from "../state/cluster-types.ts";
import { terminal } from "../state/facts.ts";
import type { State } from "../state/state.ts";
import { type Access, unknownToken, unrestricted } from "./access.ts";
import { compileAccess, type Workload } from "./compile.ts";
import { type Claims, Identities, workloadOf } from "./identity.ts";
import { type Rules, readRules } from "./rules.ts";

/** Who sends a request: a token, a workload, or nobody. */
export type Sender =
  | { readonly kind: "token"; readonly token: AclToken }
  | { readonly kind: "workload"; readonly workload: Workload; readonly claims: Claims }
  | { readonly kind: "anonymous" }
  | { readonly kind: "unknown" };

/** Resolves secrets and workload identities to what they allow. */
export class Authenticator {
  readonly identities = new Identities();
  readonly #state: State;
  readonly #now: () => number;
  readonly #enabled: boolean;
  readonly #compiled = new Map<string, Rules>();
  readonly #access = new Map<string, { readonly index: number; readonly access: Access }>();

  constructor(state: State, enabled: boolean, now: () => number) {
    this.#state = state;
    this.#enabled = enabled;
    this.#now = now;
  }

  /** The secret of a request: `X-Nomad-Token` before `Authorization: Bearer` (nomad-api §9.1). */
  secretOf(headers: Readonly<Record<string, string | undefined>>): string {
    const own = (headers["x-nomad-token"] ?? "").trim();
    if (own !== "") return own;
    const found = /^bearer\s+(.+)$/i.exec(headers["authorization"] ?? "");
    return found?.[1]?.trim() ?? "";
  }

  sender(secret: string): Sender {
    if (secret === "") return { kind: "anonymous" };
    const token = this.#state.acl_token.by("secret", secret)[0];
    if (token !== undefined) {
      const expires = token.ExpirationTime === null ? Number.POSITIVE_INFINITY : Date.parse(token.ExpirationTime);
      return expires > this.#now() ? { kind: "token", token } : { kind: "unknown" };
    }
    const claims = secret.includes(".") ? this.identities.own(secret, this.#now()) : undefined;
    const alloc =
      typeof claims?.["nomad_allocation_id"] === "string" ? this.#state.allocs.get(claims["nomad_allocation_id"]) : undefined;
    if (claims === undefined || alloc === undefined || terminal(alloc)) return { kind: "unknown" };
    return { kind: "workload", workload: workloadOf(claims, alloc), claims };
  }

  /** What the sender of a request may do. */
  access(headers: Readonly<Record<string, string | undefined>>): Access {
    if (!this.#enabled) return unrestricted;
    const secret = this.secretOf(headers);
    const index = this.#state.indexOf("acl_token", "acl_policy", "acl_roles", "allocs");
    const cached = this.#access.get(secret);
    if (cached !== undefined && cached.index === index && !secret.includes(".")) return this.#checkExpiry(secret, cached.access);
    const access = this.#resolve(this.sender(secret));
    if (this.#access.size > 500) this.#access.clear();
    this.#access.set(secret, { index, access });
    return access;
  }

  #checkExpiry(secret: string, access: Access): Access {
    return access.unknown || this.sender(secret).kind !== "unknown" ? access : unknownToken;
  }

  #resolve(sender: Sender): Access {
    if (sender.kind === "unknown") return unknownToken;
    if (sender.kind === "token" && sender.token.Type === "management")
      return { ...unrestricted, tokenId: sender.token.AccessorID };
    const rules = this.policiesOf(sender).flatMap((policy) => this.#rules(policy));
    const workload = sender.kind === "workload" ? sender.workload : undefined;
    return compileAccess(rules, sender.kind === "token" ? sender.token.AccessorID : "", workload);
  }

  #rules(policy: AclPolicy): Rules[] {
    let rules = this.#compiled.get(policy.Rules);
    if (rules === undefined) {
      try {
        rules = readRules(policy.Rules);
      } catch {
        return [];
      }
      this.#compiled.set(policy.Rules, rules);
    }
    return [rules];
  }

  /** The policies that apply to a sender: its own, those of its roles, those of its job. */
  policiesOf(sender: Sender): AclPolicy[] {
    const { state } = { state: this.#state };
    const named = (names: readonly string[]) => names.flatMap((name) => state.acl_policy.get(name) ?? []);
    if (sender.kind === "anonymous") return named(["anonymous"]);
    if (sender.kind === "token") {
      const roles = (sender.token.Roles ?? []).flatMap((link) => state.acl_roles.get(link.ID) ?? []);
      return named([
        ...new Set([...(sender.token.Policies ?? []), ...roles.flatMap((role) => role.Policies.map((one) => one.Name))]),
      ]);
    }
    if (sender.kind === "workload") return state.acl_policy.sorted().filter((policy) => attached(policy, sender.workload));
    return [];
  }

  /** The sender, where an unknown one is refused. Throws Refusal (403). */
  known(headers: Readonly<Record<string, string | undefined>>): Sender {
    const sender = this.sender(this.secretOf(headers));
    if (sender.kind === "unknown") throw permissionDenied();
    return sender;
  }
}

function attached(policy: AclPolicy, workload: Workload): boolean {
  const rule = policy.JobACL;
  if (rule === null || rule.Namespace !== workload.namespace) return false;
  if (rule.JobID === "") return true;
  if (rule.JobID !== workload.jobId) return false;
  if (rule.Group !== "" && rule.Group !== workload.group) return false;
  return rule.Task === "" || rule.Task === workload.task;
}
