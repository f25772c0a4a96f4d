/** The configuration of `nops serve` (contract §2): every key, its type, its default, and what it means. */
import { z } from "zod";
import { parseDuration } from "../../model/duration.ts";
import { policies } from "../../model/policy.ts";
import { auth } from "./auth-schema.ts";
import { optionalText, textList } from "./parts.ts";

/** What is said when no repository is named at all. */
export const noRepository = "at least one repository is needed (--git-url names one)";

const text = z.string();
const name = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, "must be 1 to 64 letters, digits, '-' or '_', starting with a letter or digit");

/** What editors know of a duration. */
export const durationPattern = "^(\\d+(\\.\\d+)?(ns|us|µs|ms|s|m|h))+$";

/** A duration as Nomad writes it (`90s`, `1h30m`), in ms. */
function duration(byDefault: string) {
  return z
    .string()
    .refine((value) => (parseDuration(value) ?? 0) > 0, { message: 'must be a positive duration such as "90s" or "1h30m"' })
    .meta({ pattern: durationPattern })
    .transform((value) => parseDuration(value) ?? 0)
    .prefault(byDefault);
}

const nomad = z.strictObject({
  address: text.default("http://127.0.0.1:4646").describe("Address of Nomad's API: http, https or unix socket"),
  namespaces: textList.min(1).default(["default"]).describe("Namespaces that nops may manage"),
  region: optionalText.describe("Region; empty: the agent's own"),
  token_file: optionalText.describe("File with Nomad's token; read again when it changes"),
  login_auth_method: optionalText.describe("Auth method by which a workload identity is exchanged for a token"),
  ui_url: optionalText.describe("Address of Nomad's UI for links; empty: no links"),
  ca_cert: optionalText.describe("File with the certificate authority of Nomad's API"),
  client_cert: optionalText.describe("File with the client certificate"),
  client_key: optionalText.describe("File with the client certificate's key"),
  tls_server_name: optionalText.describe("Name expected in Nomad's certificate"),
  tls_skip_verify: z.boolean().default(false).describe("Do not verify Nomad's certificate; for tests only"),
});

const repository = z.strictObject({
  name: name.describe("Name by which nops calls the repository"),
  url: text.min(1, "must not be empty").describe("https, ssh or file URL, or a path to a repository"),
  branch: text.min(1).default("main").describe("Branch to follow"),
  path: text.default("").describe("Sub-directory with the job files"),
  poll_interval: duration("1m").describe("How often to look at the branch"),
  token_file: optionalText.describe("File with the token for https"),
  username: text.default("git").describe("User sent with the token"),
  ssh_key_file: optionalText.describe("Private key for ssh"),
  known_hosts_file: optionalText.describe("Known hosts; required for ssh"),
  allowed_signers_file: optionalText.describe(
    "SSH keys that may sign: only a commit signed by one is deployed; empty: any commit is",
  ),
  webhook_secret_file: optionalText.describe("Secret of the forge's webhook"),
  namespaces: textList.default([]).describe("Namespaces the repository may use; empty: all of nomad.namespaces"),
  files: textList.default([]).describe("Patterns of job files; empty: what ends in .nomad, .hcl, .job or .json and holds a job"),
  ignore: textList.default([]).describe("Patterns of files to pass over"),
  var_files: textList.default([]).describe("Variable files or patterns; later ones win"),
  variables: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
    .default({})
    .describe("Variable values"),
  environment_variables: z.boolean().default(false).describe("Take NOMAD_VAR_* of the nops process"),
  managed: z.enum(["meta", "all"]).default("meta").describe('meta: only jobs with nops_managed = "true"; all: every job file'),
  default_policy: z.enum(policies).default("none").describe("Policy of jobs that name none"),
});

const http = z.strictObject({
  listen: text
    .regex(/^\[?[^\s]*\]?:\d{1,5}$/, 'must be HOST:PORT, such as "127.0.0.1:8080"')
    .default("127.0.0.1:8080")
    .describe("Address of API, dashboard and webhooks"),
  public_url: optionalText.describe("Address under which people reach nops"),
  trusted_proxies: textList.default([]).describe("Addresses whose X-Forwarded-* headers count"),
  metrics_token_file: optionalText.describe("Token that /metrics asks for; empty: open"),
});

const approval = z.strictObject({
  required: z.int().min(1).max(10).default(1).describe("How many different people have to approve"),
  author_may_approve: z.boolean().default(true).describe("Whether the commit's author may approve"),
  min_policy: z.record(z.string(), z.enum(policies)).default({}).describe("Namespace pattern to the laxest policy allowed there"),
});

const engine = z.strictObject({
  resync_interval: duration("10m").describe("How often all live jobs are listed as a safety net"),
  replan_interval: duration("1h").describe("How often everything is planned again"),
  apply_timeout: duration("10m").describe("Longest time for a register and its health"),
  hook_timeout: duration("5m").describe("Longest run of a hook that sets no nops_timeout"),
  concurrency: z.int().min(1).max(24).default(16).describe("Calls to Nomad in flight"),
  max_new_deployments_per_cycle: z.int().min(0).default(0).describe("Automatic deployments one commit may start; 0: any number"),
});

const mailAddress = text.regex(/^[^\s@<>,;]+@[^\s@<>,;]+$/, "must be a mail address such as ops@example.com");

const notification = z
  .strictObject({
    type: z.enum(["webhook", "slack", "discord", "ntfy", "gotify", "email"]).describe("Kind of receiver"),
    url_file: text.min(1).describe("File with the receiver's URL; of email: smtp:// or smtps://, with user and password"),
    token_file: optionalText.describe("File with the receiver's token; not for email"),
    from: mailAddress.optional().describe("Mail address of the sender; email needs it, others refuse it"),
    to: z.array(mailAddress).default([]).describe("Mail addresses that are told; email needs them, others refuse them"),
    events: z
      .array(z.enum(["pending_approval", "failed", "promotion_wait", "completed"]))
      .default(["pending_approval", "failed", "promotion_wait", "completed"])
      .describe("What to tell of"),
    namespaces: textList.default([]).describe("Namespace patterns; empty: all"),
  })
  .superRefine(({ type, from, to, token_file: tokenFile }, context) => {
    const complain = (path: string, message: string) => context.addIssue({ code: "custom", path: [path], message });
    const mail = type === "email";
    if (mail && from === undefined) complain("from", "is needed for email: the sender's address");
    if (mail && to.length === 0) complain("to", "is needed for email: a list of addresses");
    if (mail && tokenFile !== undefined)
      complain("token_file", "is not for email: user and password stand in the URL of url_file");
    if (!mail && from !== undefined) complain("from", "is for email only");
    if (!mail && to.length > 0) complain("to", "is for email only");
  });

/** The whole file. Every section may be left out. */
export const configSchema = z.strictObject({
  data_dir: text.min(1).default("./data").describe("Folder of database, lock and git caches; created with mode 0700"),
  nomad: nomad.prefault({}),
  repositories: z.array(repository).min(1, noRepository).describe("Git repositories with job files"),
  http: http.prefault({}),
  auth: auth.prefault({}),
  approval: approval.prefault({}),
  engine: engine.prefault({}),
  windows: z
    .strictObject({
      time_zone: text
        .default("UTC")
        .refine(isTimeZone, "must be an IANA time zone such as Europe/Rome")
        .describe("IANA zone of windows that name none"),
    })
    .prefault({}),
  notifications: z.array(notification).default([]).describe("Receivers of notifications"),
  retention: z
    .strictObject({
      deployments: z.int().min(0).default(0).describe("Days to keep ended deployments; 0: for ever"),
      events: z.int().min(0).default(0).describe("Days to keep events; 0: for ever"),
    })
    .prefault({}),
  log: z
    .strictObject({
      level: z.enum(["debug", "info", "warn", "error"]).default("info").describe("Least important lines to write"),
      format: z.enum(["json", "text"]).default("json").describe("One JSON object a line, or text for people"),
    })
    .prefault({}),
});

/** A configuration that passed every check; durations in ms. */
export type Config = z.output<typeof configSchema>;
export type RepositoryConfig = Config["repositories"][number];

function isTimeZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}
