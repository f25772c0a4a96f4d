import { collectGarbage } from "../operations/gc.ts";
import { permissionDenied, Refusal } from "../refusal.ts";
import { allow, bodyOf, flag, record, text } from "./input.ts";
import type { Call, Reply } from "./message.ts";
import type { Service } from "./service.ts";

/** `GET /v1/status/leader` and `/peers`. */
export function status(_service: Service, call: Call, [what = ""]: readonly string[]): Reply {
  allow(call, "GET");
  const address = "127.0.0.1:4647";
  return { json: what === "peers" ? [address] : address };
}

export function regions(service: Service, call: Call): Reply {
  allow(call, "GET");
  return { json: [service.region] };
}

export function health(_service: Service, call: Call): Reply {
  allow(call, "GET");
  const { query } = call.request;
  const type = query.get("type");
  const ok = { ok: true, message: "ok" };
  return { json: type === "server" ? { server: ok } : type === "client" ? { client: ok } : { client: ok, server: ok } };
}

/** `GET /v1/agent/self` and `/members`. */
export function agent(service: Service, call: Call, [what = ""]: readonly string[]): Reply {
  allow(call, "GET");
  if (what === "members") {
    if (!call.access.node("read")) throw permissionDenied();
    return {
      json: { ServerName: "simulator", ServerRegion: service.region, ServerDC: service.datacenter, Members: [member(service)] },
    };
  }
  if (what !== "self") throw new Refusal(404, "");
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

/** `PUT /v1/system/gc` and `/reconcile/summaries`. */
export function system(service: Service, call: Call, [what = ""]: readonly string[]): Reply {
  allow(call, "PUT", "POST");
  if (!call.access.management) throw permissionDenied();
  if (what === "gc") collectGarbage(service);
  else if (what !== "reconcile/summaries") throw new Refusal(404, "");
  return {};
}

/** `/v1/operator/scheduler/configuration`. */
export function schedulerConfiguration(service: Service, call: Call): Reply {
  allow(call, "GET", "PUT", "POST");
  const { state } = service;
  const current = state.scheduler_config.get("");
  if (call.request.method === "GET") {
    if (!call.access.operator("read")) throw permissionDenied();
    const index = current?.ModifyIndex ?? 0;
    return {
      json: { SchedulerConfig: current, Index: index, LastContact: 0, KnownLeader: true, NextToken: "" },
      index,
      read: true,
    };
  }
  if (!call.access.operator("write")) throw permissionDenied();
  const body = bodyOf(call.request);
  const preemption = record(body, "PreemptionConfig") ?? {};
  const index = state.write("SchedulerConfigSet", (tx) => {
    tx.put("scheduler_config", {
      SchedulerAlgorithm: text(body, "SchedulerAlgorithm") || "binpack",
      PreemptionConfig: {
        SystemSchedulerEnabled: flag(preemption, "SystemSchedulerEnabled"),
        SysBatchSchedulerEnabled: flag(preemption, "SysBatchSchedulerEnabled"),
        BatchSchedulerEnabled: flag(preemption, "BatchSchedulerEnabled"),
        ServiceSchedulerEnabled: flag(preemption, "ServiceSchedulerEnabled"),
      },
      MemoryOversubscriptionEnabled: flag(body, "MemoryOversubscriptionEnabled"),
      RejectJobRegistration: flag(body, "RejectJobRegistration"),
      PauseEvalBroker: flag(body, "PauseEvalBroker"),
      CreateIndex: current?.CreateIndex ?? tx.index,
      ModifyIndex: tx.index,
    });
    return tx.index;
  });
  service.engine.paused = flag(body, "PauseEvalBroker");
  return { json: { Updated: true, Index: index }, index };
}
