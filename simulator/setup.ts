import type { Operations } from "./operations/context.ts";
import { type NodeOptions, newNode } from "./operations/node-facts.ts";
import { textHash } from "./state/facts.ts";

/** What a fresh server has: its default namespace, node pools and configuration, and the nodes that joined. */
export function setUp(ops: Operations & { readonly version: string }, nodes: number | readonly NodeOptions[]): void {
  const { state } = ops;
  state.write("Setup", (tx) => {
    tx.put("scheduler_config", {
      SchedulerAlgorithm: "binpack",
      PreemptionConfig: {
        SystemSchedulerEnabled: true,
        SysBatchSchedulerEnabled: false,
        BatchSchedulerEnabled: false,
        ServiceSchedulerEnabled: false,
      },
      MemoryOversubscriptionEnabled: false,
      RejectJobRegistration: false,
      PauseEvalBroker: false,
      NodeLimitForFeasibilityChecks: 0,
      CreateIndex: tx.index,
      ModifyIndex: tx.index,
    });
    tx.put("namespaces", {
      Name: "default",
      Description: "Default shared namespace",
      Quota: "",
      Capabilities: null,
      NodePoolConfiguration: null,
      VaultConfiguration: null,
      ConsulConfiguration: null,
      Meta: null,
      Hash: textHash("default"),
      CreateIndex: tx.index,
      ModifyIndex: tx.index,
    });
    for (const [Name, Description] of [
      ["all", "Node pool with all nodes in the cluster."],
      ["default", "Default node pool."],
    ] as const) {
      tx.put("node_pools", {
        Name,
        Description,
        Meta: null,
        SchedulerConfiguration: null,
        NodeIdentityTTL: 86_400_000_000_000,
        Hash: null,
        CreateIndex: tx.index,
        ModifyIndex: tx.index,
      });
    }
  });
  const list = typeof nodes === "number" ? Array.from({ length: nodes }, (): NodeOptions => ({})) : nodes;
  for (const options of list) {
    state.write("NodeRegister", (tx) =>
      tx.put("nodes", { ...newNode(ops, options, ops.version), CreateIndex: tx.index, ModifyIndex: tx.index }),
    );
  }
  // A real server has written evaluations and jobs tables before the first request asks for their index.
  state.write("Setup", (tx) => {
    for (const name of ["jobs", "job_summary", "evals", "allocs", "deployment", "job_version", "variables"] as const)
      tx.touch(name);
  });
}
