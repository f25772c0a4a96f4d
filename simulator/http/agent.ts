import { collectGarbage } from "../operations/gc.ts";
import { permissionDenied, Refusal } from "../refusal.ts";
import { allow, flag, inThisRegion, isUint64, number, readOptions, record, text } from "./input.ts";
import type { Call, Reply } from "./message.ts";
import type { Service } from "./service.ts";
import { type Fields, shapedBody, shapes } from "./shapes.ts";

const rpcAddress = "127.0.0.1:4647";

/** Throws Refusal: 400 for a bad query, 500 for another region. */
function plainRead(service: Service, call: Call): void {
  readOptions(call.request);
  inThisRegion(call, service.region);
}

/** `GET /v1/status/leader`. */
export function leader(service: Service, call: Call): Reply {
  allow(call, "GET");
  plainRead(service, call);
  return { json: rpcAddress };
}

/** `GET /v1/status/peers`. */
export function peers(service: Service, call: Call): Reply {
  allow(call, "GET");
  plainRead(service, call);
  return { json: [rpcAddress] };
}

export function regions(service: Service, call: Call): Reply {
  allow(call, "GET");
  readOptions(call.request);
  return { json: [service.region] };
}

/** `GET /v1/agent/health`: that of its server and its client, or of one of them. */
export function health(_service: Service, call: Call): Reply {
  allow(call, "GET");
  readOptions(call.request);
  const types = call.request.query.getAll("type");
  const ok = { ok: true, message: "ok" };
  const asked = (type: string) => types.length === 0 || types.includes(type);
  return { json: { ...(asked("client") ? { client: ok } : {}), ...(asked("server") ? { server: ok } : {}) } };
}

/** `GET /v1/agent/members`. */
export function members(service: Service, call: Call): Reply {
  allow(call, "GET");
  if (!call.access.node("read")) throw permissionDenied();
  return {
    json: { ServerName: "simulator", ServerRegion: service.region, ServerDC: service.datacenter, Members: [member(service)] },
  };
}

/** `GET /v1/agent/self`. */
export function agentSelf(service: Service, call: Call): Reply {
  allow(call, "GET");
  if (!call.access.agent("read")) throw permissionDenied();
  const [Version = "", VersionPrerelease = ""] = service.version.split("-");
  return {
    json: {
      config: {
        Region: service.region,
        Datacenter: service.datacenter,
        NodeName: "simulator",
        ACL: { Enabled: service.acls, TokenTTL: 30_000_000_000, PolicyTTL: 30_000_000_000 },
        Server: { Enabled: true, BootstrapExpect: 1 },
        Client: { Enabled: true },
        Version: { Version, VersionPrerelease, VersionMetadata: "", Revision: "", BuildDate: "0001-01-01T00:00:00Z" },
      },
      member: member(service),
      stats: {
        nomad: { server: "true", leader: "true", leader_addr: "127.0.0.1:4647", bootstrap: "true", known_regions: "1" },
        runtime: { version: "", kernel_name: "linux", arch: "amd64" },
      },
    },
  };
}

function member(service: Service): unknown {
  return {
    Name: `simulator.${service.region}`,
    Addr: "127.0.0.1",
    Port: 4648,
    Tags: { region: service.region, dc: service.datacenter, role: "nomad", build: service.version, port: "4647", bootstrap: "1" },
    Status: "alive",
    ProtocolMin: 1,
    ProtocolMax: 5,
    ProtocolCur: 2,
    DelegateMin: 2,
    DelegateMax: 5,
    DelegateCur: 4,
  };
}

/** `PUT /v1/system/gc`. */
export function garbageCollection(service: Service, call: Call): Reply {
  manage(call);
  collectGarbage(service);
  return {};
}

/** `PUT /v1/system/reconcile/summaries`: they are never wrong here. */
export function reconciliation(_service: Service, call: Call): Reply {
  manage(call);
  return {};
}

function manage(call: Call): void {
  allow(call, "PUT");
  readOptions(call.request);
  if (!call.access.management) throw permissionDenied();
}

/** `/v1/operator/scheduler/configuration`. */
export function schedulerConfiguration(service: Service, call: Call): Reply {
  allow(call, "GET", "PUT", "POST");
  if (call.request.method !== "GET") return configure(service, call);
  readOptions(call.request);
  if (!call.access.operator("read")) throw permissionDenied();
  const current = service.state.scheduler_config.get("");
  const index = current?.ModifyIndex ?? 0;
  const json = { SchedulerConfig: current, Index: index, LastContact: 0, KnownLeader: true, NextToken: "" };
  return { json, index, read: true };
}

function configure(service: Service, call: Call): Reply {
  const { state } = service;
  const body = configurationOf(call);
  const algorithm = text(body, "SchedulerAlgorithm");
  if (!["", "binpack", "spread"].includes(algorithm)) throw new Refusal(400, `invalid scheduler algorithm: ${algorithm}`);
  const cas = call.request.query.get("cas");
  if (cas !== null && !isUint64(cas)) {
    const why = /^\d+$/.test(cas) ? "value out of range" : "invalid syntax";
    throw new Refusal(400, `Error parsing cas value: strconv.ParseUint: parsing ${JSON.stringify(cas)}: ${why}`);
  }
  if (!call.access.operator("write")) throw permissionDenied();
  const current = state.scheduler_config.get("");
  const preemption = record(body, "PreemptionConfig") ?? {};
  const updated = cas === null || Number(cas) === current?.ModifyIndex;
  const index = state.write("SchedulerConfigSet", (tx) => {
    if (!updated) return tx.index;
    tx.put("scheduler_config", {
      SchedulerAlgorithm: algorithm || "binpack",
      PreemptionConfig: {
        SystemSchedulerEnabled: flag(preemption, "SystemSchedulerEnabled"),
        SysBatchSchedulerEnabled: flag(preemption, "SysBatchSchedulerEnabled"),
        BatchSchedulerEnabled: flag(preemption, "BatchSchedulerEnabled"),
        ServiceSchedulerEnabled: flag(preemption, "ServiceSchedulerEnabled"),
      },
      MemoryOversubscriptionEnabled: flag(body, "MemoryOversubscriptionEnabled"),
      RejectJobRegistration: flag(body, "RejectJobRegistration"),
      PauseEvalBroker: flag(body, "PauseEvalBroker"),
      NodeLimitForFeasibilityChecks: number(body, "NodeLimitForFeasibilityChecks"),
      CreateIndex: current?.CreateIndex ?? tx.index,
      ModifyIndex: tx.index,
    });
    return tx.index;
  });
  if (updated) service.engine.paused = flag(body, "PauseEvalBroker");
  return { json: { Updated: updated, Index: index }, index };
}

function configurationOf(call: Call): Fields {
  try {
    return shapedBody(call.request, shapes.schedulerConfiguration);
  } catch (error) {
    throw error instanceof Refusal ? new Refusal(400, `Error parsing scheduler config: ${error.message}`) : error;
  }
}
