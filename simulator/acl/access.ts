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
  agent: () => true,
  operator: () => true,
  hostVolume: () => true,
  variable: () => true,
  namespace: () => true,
};

/** A token that nobody has. */
export const unknownToken: Access = {
  management: false,
  tokenId: "",
  ns: () => false,
  anyNs: () => false,
  node: () => false,
  agent: () => false,
  operator: () => false,
  hostVolume: () => false,
  variable: () => false,
  namespace: () => false,
  unknown: true,
};
