/** Nomad: reachable, its version and known faults, the rights of the token, the event stream, the clock. */
import { messageOf, NomadError } from "../../model/errors.ts";
import { silentLog } from "../../model/log.ts";
import { createNomadClient, type NomadClient } from "../../nomad/client.ts";
import { knownRaces, parseNomadVersion } from "../../nomad/version.ts";
import { createNomadWatch } from "../../nomad/watch.ts";
import type { Config } from "../config/schema.ts";
import type { CommandIo } from "../io.ts";
import { nomadOptions } from "../operator/nomad-options.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

const skewWarnMs = 5_000;
const streamPatienceMs = 5_000;

export async function checkNomad(config: Config, io: CommandIo): Promise<readonly Finding[]> {
  const client = createNomadClient(nomadOptions(config, io));
  try {
    const leader = await client.statusLeader();
    if (leader === "")
      return [
        fail("nomad", `${config.nomad.address} answers, but the cluster has no leader`, "bring the servers back to a quorum"),
      ];
    const findings: Finding[] = [ok("nomad", `${config.nomad.address} answers, leader ${leader}`)];
    findings.push(...(await checkAgent(client, io)));
    for (const namespace of config.nomad.namespaces) findings.push(...(await checkNamespace(client, namespace, config, io)));
    findings.push(...(await checkExcessRights(client)));
    return findings;
  } catch (error) {
    return [fail("nomad", messageOf(error), cureOf(error, config))];
  } finally {
    client.close();
  }
}

function cureOf(error: unknown, config: Config): string {
  if (error instanceof NomadError && error.kind === "not_permitted")
    return "give nops a token: nomad.token_file (see deploy/policy.hcl for the rights)";
  return `check nomad.address (${config.nomad.address}) and that the agent runs`;
}

async function checkAgent(client: NomadClient, io: CommandIo): Promise<Finding[]> {
  try {
    const agent = await client.agentSelf();
    const version = parseNomadVersion(agent.version);
    const findings: Finding[] = [
      ok(
        "version",
        `Nomad ${agent.version || "of unknown version"}, region ${agent.region}, ACLs ${agent.aclEnabled ? "on" : "off"}`,
      ),
    ];
    for (const race of version === undefined ? [] : knownRaces(version))
      findings.push(warn("version", `${race.message} (${race.code})`, `upgrade Nomad to ${race.fixedIn} or newer`));
    if (agent.date !== undefined && Math.abs(agent.date - io.clock.now()) > skewWarnMs) {
      findings.push(
        warn(
          "clock",
          `this host and Nomad differ by ${Math.round(Math.abs(agent.date - io.clock.now()) / 1000)} s`,
          "synchronise the clocks, since time-outs and windows follow them",
        ),
      );
    }
    return findings;
  } catch (error) {
    if (error instanceof NomadError && error.kind === "not_permitted") {
      return [
        warn(
          "version",
          "the token may not read the agent, so the server's version is unknown",
          'optional: agent { policy = "read" } in the policy',
        ),
      ];
    }
    throw error;
  }
}

const probeJob = 'job "nops-doctor-probe" { group "g" { task "t" { driver = "raw_exec" } } }';

/** Asks for each right by a harmless call: reads, a parse, a plan of a job that is never registered, a register that cannot match. */
async function checkNamespace(client: NomadClient, namespace: string, config: Config, io: CommandIo): Promise<Finding[]> {
  const check = `namespace ${namespace}`;
  const findings: Finding[] = [];
  const attempt = async (right: string, call: () => Promise<unknown>): Promise<void> => {
    try {
      await call();
    } catch (error) {
      if (error instanceof NomadError && error.kind === "not_permitted")
        findings.push(fail(check, `the token lacks ${right}`, "add it to the policy: deploy/policy.hcl lists what nops needs"));
      else if (!(error instanceof NomadError) || !["conflict", "refused", "not_found"].includes(error.kind)) throw error;
    }
  };
  await attempt("list-jobs", () => client.listJobs(namespace));
  await attempt("read-job", () => client.readJob(`${namespace}/nops-doctor-probe` as never));
  let spec: Awaited<ReturnType<NomadClient["parse"]>> | undefined;
  await attempt("parse-job", async () => {
    spec = await client.parse({ format: "hcl2", source: probeJob, variables: "" }, namespace);
  });
  const job = spec === undefined ? undefined : { ...spec, Namespace: namespace };
  if (job !== undefined) {
    await attempt("plan-job or submit-job", () => client.plan(job));
    // No job has this index, so nothing is ever registered; Nomad checks the right first.
    await attempt("register-job or submit-job", () =>
      client.register(job, Number.MAX_SAFE_INTEGER, { source: probeJob, format: "hcl2", variables: "" }),
    );
  }
  await attempt("dispatch-job", () => client.dispatch(`${namespace}/nops-doctor-probe` as never, "nops-doctor", {}));
  findings.push(...(await checkStream(client, namespace, check, config, io)));
  return findings.length === 0 ? [ok(check, "every right nops needs, event stream open")] : findings;
}

/** The stream answers 200 before it looks at rights, so only a first line proves it (nomad-api §8). */
async function checkStream(
  client: NomadClient,
  namespace: string,
  check: string,
  config: Config,
  io: CommandIo,
): Promise<Finding[]> {
  const controller = new AbortController();
  const connected = new Promise<boolean>((resolve) => {
    const timer = io.clock.setTimer(streamPatienceMs, () => resolve(false));
    const watch = createNomadWatch({
      client,
      clock: io.clock,
      random: io.random,
      log: silentLog,
      onState: (state) => {
        if (!state.connected && state.error === undefined) return;
        timer.cancel();
        resolve(state.connected);
      },
    });
    watch.watch(namespace, () => undefined, controller).catch(() => resolve(false));
  });
  const open = await connected;
  controller.abort();
  return open
    ? []
    : [
        warn(
          check,
          "the event stream does not open",
          `nops falls back to listing every 30 s; ${config.nomad.token_file === undefined ? "check the agent" : "the token needs read-job in the namespace"}`,
        ),
      ];
}

/** Rights that nops never uses make a stolen token worse. */
async function checkExcessRights(client: NomadClient): Promise<Finding[]> {
  const token = await client.aclTokenSelf().catch(() => undefined);
  if (token?.Type === "management")
    return [warn("rights", "the token is a management token", "use a client token or workload identity with deploy/policy.hcl")];
  const policies = await client.aclPolicySelf().catch(() => []);
  const excess = ["alloc-exec", "alloc-node-exec", "sentinel-override", 'policy = "write"', "purge-job"];
  return policies.flatMap((policy) =>
    excess
      .filter((right) => policy.Rules?.includes(right))
      .map((right) => warn("rights", `policy ${policy.Name} grants ${right}, which nops never uses`, "leave it out")),
  );
}
