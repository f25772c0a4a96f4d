import { Refusal } from "../refusal.ts";

/** What the sender of a request may do. */
export interface Access {
  readonly management: boolean;
  /** Accessor of the token, "" for none, anonymous and workload identities; stored as NomadTokenID of registered jobs. */
  readonly tokenId: string;
  /** Any of the capabilities in the namespace. */
  ns(namespace: string, ...capabilities: readonly string[]): boolean;
  /** Any of the capabilities in any namespace; asked for `namespace=*`. */
  anyNs(...capabilities: readonly string[]): boolean;
  node(level: "read" | "write"): boolean;
  nodePool(pool: string, operation: "read" | "write" | "delete"): boolean;
  agent(level: "read" | "write"): boolean;
  operator(level: "read" | "write"): boolean;
  /** Whether a host volume may be mounted. */
  hostVolume(name: string, write: boolean): boolean;
  variable(namespace: string, path: string, operation: "list" | "read" | "write" | "destroy"): boolean;
  /** Whether the namespace may be seen at all. */
  namespace(namespace: string): boolean;
  /** The token is not known at all: everything is refused. */
  readonly unknown?: boolean;
}

/** With ACLs off everybody may do everything. */
export const unrestricted: Access = {
  management: true,
  tokenId: "",
  ns: () => true,
  anyNs: () => true,
  node: () => true,
  nodePool: () => true,
  agent: () => true,
  operator: () => true,
  hostVolume: () => true,
  variable: () => true,
  namespace: () => true,
};

/** What may be done in a region that this server knows no way to: nothing, and that is what it says. */
export function inRegion(region: string, own: string, access: Access): Access {
  if (region === own) return access;
  const nowhere = (): never => {
    throw new Refusal(500, "No path to region");
  };
  return {
    get management(): never {
      return nowhere();
    },
    tokenId: "",
    ns: nowhere,
    anyNs: nowhere,
    node: nowhere,
    nodePool: nowhere,
    agent: nowhere,
    operator: nowhere,
    hostVolume: nowhere,
    variable: nowhere,
    namespace: nowhere,
  };
}

/** A token that nobody has. */
export const unknownToken: Access = {
  management: false,
  tokenId: "",
  ns: () => false,
  anyNs: () => false,
  node: () => false,
  nodePool: () => false,
  agent: () => false,
  operator: () => false,
  hostVolume: () => false,
  variable: () => false,
  namespace: () => false,
  unknown: true,
};
