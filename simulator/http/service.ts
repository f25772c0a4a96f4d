import type { Authenticator } from "../acl/authenticator.ts";
import type { EventBroker } from "../events/broker.ts";
import type { Faults } from "../faults.ts";
import type { Operations } from "../operations/context.ts";
import type { Drainer } from "../operations/nodes.ts";
import type { Periodic } from "../operations/periodic.ts";
import type { Clients } from "../tasks/client.ts";
import type { LockTimers } from "../variables/locks.ts";
import type { BlockingQueries } from "./blocking.ts";

/** What routes work with. */
export interface Service extends Operations {
  readonly clients: Clients;
  readonly broker: EventBroker;
  readonly periodic: Periodic;
  readonly drainer: Drainer;
  readonly blocking: BlockingQueries;
  readonly version: string;
  readonly datacenter: string;
  readonly acls: boolean;
  readonly faults: Faults;
  readonly locks: LockTimers;
  readonly authenticator: Authenticator;
  /** Id of the key that signs workload identities. */
  readonly signingKeyId: string;
  /** Whether faults may be switched over HTTP. */
  readonly control: boolean;
  readonly setNodeSilent: (id: string, silent: boolean) => void;
}
