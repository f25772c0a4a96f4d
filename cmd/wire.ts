/**
 * Builds the running operator from its parts; the only place where ports meet adapters (design §2).
 *
 * Order of start: configuration's secrets, lock, database, Nomad and git (nothing is contacted yet), controllers, HTTP.
 * Order of stop: `/readyz` says so, controllers drain, notifications, HTTP, git, Nomad, database, lock.
 */
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { type Listening, listen } from "../api/listen.ts";
import { createApi } from "../api/server.ts";
import { createOperator } from "../controllers/manager.ts";
import type { Operator } from "../controllers/operator.ts";
import type { NomadPort, NomadWatchPort, StorePort } from "../controllers/ports.ts";
import type { Timer } from "../model/clock.ts";
import type { Log } from "../model/log.ts";
import { Redactor } from "../model/redact.ts";
import { createNomadClient } from "../nomad/client.ts";
import { createNomadWatch } from "../nomad/watch.ts";
import { databasePath } from "../store/backup.ts";
import { openStore, type Store } from "../store/open.ts";
import { createLog } from "../telemetry/log.ts";
import { createMetrics, type Metrics } from "../telemetry/metrics.ts";
import { Notifier } from "../telemetry/notifier.ts";
import { usesHttps } from "./config/auth-checks.ts";
import type { Config } from "./config/schema.ts";
import type { CommandIo } from "./io.ts";
import { configuredPeople } from "./login/configured.ts";
import { createAuthenticator } from "./operator/authenticator.ts";
import { createCommands } from "./operator/commands.ts";
import { startEventLog } from "./operator/event-log.ts";
import { createGit } from "./operator/git.ts";
import { metricsSnapshot } from "./operator/metrics-snapshot.ts";
import { NomadContact } from "./operator/nomad-contact.ts";
import { nomadOptions } from "./operator/nomad-options.ts";
import { createProbes } from "./operator/probes.ts";
import { createQueries } from "./operator/queries.ts";
import { receiversOf } from "./operator/receivers.ts";
import { startRetention } from "./operator/retention.ts";
import { type SecretFile, secretFile } from "./operator/secret-file.ts";
import { operatorSettings } from "./operator/settings.ts";
import { createWebhooks } from "./operator/webhooks.ts";
import { version } from "./version.ts";

export interface WireOptions {
  readonly config: Config;
  readonly io: CommandIo;
  readonly readOnly: boolean;
  readonly log: Log;
  readonly redactor: Redactor;
}

/** One nops that holds its database. */
export interface RunningNops {
  /** `http://HOST:PORT`. */
  readonly address: string;
  /** Resolves with the cause when the process cannot go on and has to end (design D15: fail-stop). */
  readonly broken: Promise<Error>;
  /** @param graceMs longest time for passes under way. */
  stop(graceMs: number): Promise<void>;
}

/** Log and redactor come first, so that whatever happens later is told without secrets. */
export function createTelemetry(config: Config, io: CommandIo): { readonly log: Log; readonly redactor: Redactor } {
  const redactor = new Redactor();
  const log = createLog({
    level: config.log.level,
    format: config.log.format,
    write: io.err,
    redact: (text) => redactor.text(text),
  });
  return { log, redactor };
}

/** Opens everything and starts. @throws whatever part cannot be opened; what was opened before is closed again. */
export async function startNops(options: WireOptions): Promise<RunningNops> {
  const opened: (() => Promise<void> | void)[] = [];
  const closeAll = async (): Promise<void> => {
    for (const close of opened.splice(0).reverse()) await close();
  };
  try {
    return await start(options, opened, closeAll);
  } catch (error) {
    await closeAll();
    throw error;
  }
}

async function start(
  options: WireOptions,
  opened: (() => Promise<void> | void)[],
  closeAll: () => Promise<void>,
): Promise<RunningNops> {
  const { config, io, log, redactor } = options;
  const secrets = configuredSecrets(options);
  const store = openEngineStore(options);
  opened.push(() => store.close());
  const eventLog = startEventLog(store, log, (await store.auditHead()).seq);
  opened.push(() => eventLog.stop());
  const contact = new NomadContact(io.clock);
  let metrics: Metrics | undefined;
  const nomad = createNomadClient(
    nomadOptions(config, io, log, (observation) => {
      contact.onRequest(observation);
      metrics?.nomadRequest(observation.operation, String(observation.status ?? "none"), observation.durationMs);
    }),
  );
  opened.push(() => nomad.close());
  const git = createGit(config, io, log);
  opened.push(() => git.close());
  const operator = createOperator({
    nomad: nomad satisfies NomadPort,
    watch: createNomadWatch({
      client: nomad,
      clock: io.clock,
      random: io.random,
      log,
      resyncIntervalMs: config.engine.resync_interval,
      onState: (state) => contact.onStream(state),
    }) satisfies NomadWatchPort,
    git,
    store: store satisfies StorePort,
    clock: io.clock,
    random: io.random,
    log,
    redactor,
    settings: operatorSettings(config, await modeOf(options, store)),
    onPass: ({ loop, durationMs, ending }) => {
      if (loop === "drift") metrics?.detection(durationMs);
      if (ending === "error" || ending === "terminal") metrics?.jobError(loop);
    },
  });
  metrics = createMetrics(version, () => metricsSnapshot(store, operator, io.clock.now()));
  const server = await startServer({ ...options, store, operator, contact, metrics, secrets }, opened);
  const notifier = startNotifier(options, store, metrics);
  opened.push(() => notifier.stop());
  opened.push(startRetention(config, store, io.clock, log));
  await operator.start();
  return {
    address: server.address,
    broken: server.broken,
    stop: async (graceMs) => {
      server.announceStop();
      await operator.stop(graceMs);
      await closeAll();
    },
  };
}

interface ConfiguredSecrets {
  readonly bootstrap: SecretFile | undefined;
  readonly metrics: SecretFile | undefined;
  readonly onSecret: (secret: string) => void;
}

/** Reads each secret once, so that a missing file stops the start and not the first request. */
function configuredSecrets({ config, io, redactor }: WireOptions): ConfiguredSecrets {
  const onSecret = (secret: string): void => redactor.learnValues("configuration", [secret]);
  const open = (path: string | undefined): SecretFile | undefined => {
    const file = path === undefined ? undefined : secretFile(resolve(io.workingDirectory, path), onSecret);
    file?.read();
    return file;
  };
  return { bootstrap: open(config.auth.bootstrap_token_file), metrics: open(config.http.metrics_token_file), onSecret };
}

function openEngineStore({ config, io, log, redactor }: WireOptions): Store {
  return openStore({
    path: databasePath(resolve(io.workingDirectory, config.data_dir)),
    clock: io.clock,
    random: io.random,
    log,
    redact: (text) => redactor.text(text),
  });
}

async function modeOf({ readOnly, log }: WireOptions, store: Store) {
  if (readOnly) return "read_only";
  const restored = await store.restored();
  if (restored === undefined) return "normal";
  log.error("the database was restored from a backup: nops only looks until a person accepts it", {
    cause: restored.message,
    cure: "nops restore --accept, then restart nops",
  });
  return "restored_database";
}

const notifyAfterMs = 100;

function startNotifier({ config, io, log, redactor }: WireOptions, store: Store, metrics: Metrics): Notifier {
  const notifier = new Notifier({
    queue: store,
    receivers: receiversOf(config, io, (secret) => redactor.learnValues("configuration", [secret])),
    publicUrl: config.http.public_url,
    clock: io.clock,
    log,
    onFailure: (receiver) => metrics.notificationFailed(receiver),
  });
  // Events come in bursts; one look at the outbox serves them all.
  let looking: Timer | undefined;
  store.onEvents(() => {
    if (looking !== undefined) return;
    looking = io.clock.setTimer(notifyAfterMs, () => {
      looking = undefined;
      notifier.wake();
    });
  });
  notifier.wake();
  return notifier;
}

interface ServerParts extends WireOptions {
  readonly store: Store;
  readonly operator: Operator;
  readonly contact: NomadContact;
  readonly metrics: Metrics;
  readonly secrets: ConfiguredSecrets;
}

async function startServer(parts: ServerParts, opened: (() => Promise<void> | void)[]) {
  const { config, io, log, redactor, store, operator, contact, metrics, secrets } = parts;
  const stopping = new AbortController();
  const probes = createProbes({
    store,
    operator,
    contact,
    metrics,
    clock: io.clock,
    metricsToken: secrets.metrics,
    isStopping: () => stopping.signal.aborted,
  });
  // Its timer would keep a process alive whose address is taken.
  opened.push(() => probes.stop());
  const people = configuredPeople({ config, io, log, store, onSecret: secrets.onSecret });
  const app = createApi({
    queries: createQueries(config, store, operator, contact),
    commands: createCommands(operator),
    authenticator: createAuthenticator({
      findToken: (secret) => store.findToken(secret),
      acceptsTokens: config.auth.mode.includes("token"),
      session: people.session,
      bootstrap: secrets.bootstrap,
      anonymousRead: config.auth.anonymous_read,
    }),
    logins: people.logins,
    secureCookies: usesHttps(config.http.public_url),
    trustedProxies: config.http.trusted_proxies,
    probes,
    webhooks: createWebhooks(
      config,
      io,
      (repository, afterMs) => operator.fetch(repository, undefined, afterMs),
      secrets.onSecret,
    ),
    redact: (text) => redactor.text(text),
    reportError: (error, route) => log.error("a request failed", { error, route }),
    dashboardDir: dashboardFolder(),
    allowedHosts: allowedHosts(config),
    stopping: stopping.signal,
  });
  const { host, port } = splitListen(config.http.listen);
  const server: Listening = await listen(app, host, port);
  opened.push(() => {
    stopping.abort();
    return server.close(2_000);
  });
  return { address: server.address, broken: probes.broken, announceStop: () => stopping.abort() };
}

/** `host:port`, `[v6]:port` or `:port`. */
export function splitListen(text: string): { readonly host: string; readonly port: number } {
  const at = text.lastIndexOf(":");
  const host = text.slice(0, at).replace(/^\[|\]$/g, "");
  return { host: host === "" ? "0.0.0.0" : host, port: Number(text.slice(at + 1)) };
}

/** With a public address only its host counts, and the address it listens on (S31). */
function allowedHosts(config: Config): readonly string[] {
  if (config.http.public_url === undefined) return [];
  return [new URL(config.http.public_url).host.toLowerCase(), config.http.listen.toLowerCase()];
}

/** The built dashboard beside the built program; absent when the program runs from sources that were not built. */
function dashboardFolder(): string | undefined {
  const here = dirname(fileURLToPath(import.meta.url));
  return [join(here, "../dashboard"), join(here, "../dist/dashboard")].find((folder) => existsSync(join(folder, "assets")));
}
