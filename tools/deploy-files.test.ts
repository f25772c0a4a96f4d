/** What watches nops in production names only metrics, labels and pages that exist. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { createGlob } from "../model/glob.ts";
import { createMetrics, type MetricsSnapshot } from "../telemetry/metrics.ts";

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly summary: string; readonly runbook_url: string };
}

const read = (path: string): string => readFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)), "utf8");
const rules = (parse(read("deploy/prometheus-rules.yml")) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
);
const dashboard = JSON.parse(read("deploy/grafana-dashboard.json")) as {
  panels: { title: string; targets: { expr: string }[] }[];
};
const jobFile = read("deploy/nops.nomad.hcl");
const panels = dashboard.panels.flatMap((panel) => panel.targets.map(({ expr }) => ({ title: panel.title, expr })));

const snapshot: MetricsSnapshot = {
  deploymentsByState: { applying: 1 },
  oldestActiveSeconds: { applying: 1 },
  waiting: [{ namespace: "default", job: "web", waiting: "approval", sinceSeconds: 1 }],
  lastSuccessSeconds: { git: 1 },
  jobs: [{ namespace: "default", job: "web", policy: "auto", drift: true, paused: true, blocked: true, invalidMeta: true }],
  unparsedFiles: 1,
  skippedJobs: 1,
  orphanJobs: 1,
  databaseBytes: 1,
  walBytes: 1,
  auditHead: { sequence: 1, hash: "a" },
  queueDepth: { drift: 1 },
};

/** Name → labels of every series that a process with everything going on shows. */
async function series(): Promise<Map<string, Set<string>>> {
  const metrics = createMetrics("1.0.0", () => Promise.resolve(snapshot));
  metrics.nomadRequest("plan", "200", 1);
  metrics.gitFetch("main", false, 1);
  metrics.webhook("main", "accepted");
  metrics.deploymentEnded("completed", "auto");
  metrics.step("applying", 1);
  metrics.hookRun("pre", "succeeded");
  metrics.detection(1);
  metrics.eventStreamReconnect();
  metrics.notificationFailed("webhook");
  metrics.jobError("drift");
  const found = new Map<string, Set<string>>();
  for (const [, name = "", labels = ""] of (await metrics.render()).body.matchAll(/^(nops_\w+)(?:\{([^}]*)\})? /gm)) {
    const known = found.get(name) ?? new Set();
    for (const [, label = ""] of labels.matchAll(/(\w+)=/g)) known.add(label);
    found.set(name, known);
  }
  return found;
}

const known = await series();

/** Labels that an expression uses: in selectors, and in `by (…)`. */
function labelsOf(expression: string): string[] {
  const selected = [...expression.matchAll(/(\w+)=~?"|(\w+)!~?="/g)].map((found) => found[1] ?? found[2] ?? "");
  const grouped = [...expression.matchAll(/by \(([^)]*)\)/g)].flatMap((found) => (found[1] ?? "").split(/,\s*/));
  return [...selected, ...grouped];
}

function unknownIn(expression: string): string[] {
  const names = [...expression.matchAll(/nops_\w+/g)].map((found) => found[0]);
  const labels = new Set(names.flatMap((name) => [...(known.get(name) ?? [])]));
  return [
    ...(names.length === 0 ? ["no metric of nops"] : []),
    ...names.filter((name) => !known.has(name)),
    ...labelsOf(expression).filter((label) => !labels.has(label)),
  ];
}

describe("alerts", () => {
  it.each(rules)("$alert asks for what is there", ({ expr }) => {
    expect(unknownIn(expr)).toEqual([]);
  });

  const anchors = [...read("docs/operations.md").matchAll(/^#+ (.+)$/gm)].map(
    ([, title = ""]) => `docs/operations.md#${title.toLowerCase().replaceAll(" ", "-")}`,
  );

  it.each(rules)("$alert leads to a page that says what to do", ({ annotations }) => {
    expect(anchors).toContain(annotations.runbook_url);
  });
});

describe("Grafana dashboard", () => {
  it.each(panels)("$title asks for what is there", ({ expr }) => {
    expect(unknownIn(expr)).toEqual([]);
  });
});

describe("deploy/Dockerfile", () => {
  const lines = read("deploy/Dockerfile").replaceAll("\\\n", " ").split("\n");

  it("brings no tool of development back once it has removed them", () => {
    const [, after = ""] = lines.join("\n").split("npm prune --omit=dev");
    const installs = after.match(/npm (?:install|ci)[^&\n]*/g) ?? [];
    expect(installs.length).toBeGreaterThan(0);
    for (const install of installs) expect(install).toContain("--omit=dev");
  });

  it("runs as a user without rights, and leaves out what is not source", () => {
    expect(lines.findLast((line) => line.startsWith("USER"))).toBe("USER nops");
    const ignored = read("deploy/Dockerfile.dockerignore").split("\n");
    for (const path of [".git", "**/node_modules", "data"]) expect(ignored).toContain(path);
  });
});

describe("deploy/nops.service", () => {
  const unit = read("deploy/nops.service");
  const { files } = JSON.parse(read("package.json")) as { files: readonly string[] };

  it.each([...unit.matchAll(/node_modules\/nops\/(\S+)/g)].map(([, path = ""]) => path))("%s comes with the package", (path) => {
    expect(files.some((pattern) => createGlob(pattern)(path) || path.startsWith(`${pattern}/`))).toBe(true);
  });
});

describe("charts/nops", () => {
  const defaults = new Map(
    [...read("charts/nops/variables.hcl").matchAll(/variable "(\w+)" \{[^}]*?default\s*=\s*(.+)$/gm)].map(
      ([, name = "", value = ""]) => [name, value] as const,
    ),
  );
  /** The pack's template with its defaults, and variables of the job file where both have them. */
  const rendered = read("charts/nops/templates/nops.nomad.tpl")
    .replace(/<<-NOPS_CONFIG\n(.*)\nNOPS_CONFIG/, "$1")
    .replaceAll(/\[\[ var "(\w+)" \. [^\]]*\]\]|\[\[ var "(\w+)" \. \]\]/g, (_, quoted?: string, plain?: string) => {
      const name = quoted ?? plain ?? "";
      return jobFile.includes(`var.${name}`) ? `var.${name}` : (defaults.get(name) ?? `no default: ${name}`);
    });

  it("takes the text of nops.yml as it is, whatever HCL would read into it", () => {
    expect(read("charts/nops/templates/nops.nomad.tpl")).toContain(
      '[[ var "config" . | replace "${" "$${" | replace "%{" "%%{" ]]',
    );
  });

  it("is the same job as deploy/nops.nomad.hcl", () => {
    expect(rendered.trim()).toBe(jobFile.slice(jobFile.indexOf('job "nops"')).trim());
  });
});

it.each([
  ["nops_job_driftt", ["nops_job_driftt"]],
  ['nops_job_drift{job="x"}', ["job"]],
  ["sum by (phases) (nops_hook_runs_total)", ["phases"]],
  ["up", ["no metric of nops"]],
])("finds what is wrong in %s", (expression, wrong) => {
  expect(unknownIn(expression)).toEqual(wrong);
});
