/** How fast the simulator answers, over HTTP and in process, beside what a real server needs (nomad-api §17). */
import { Agent, request } from "node:http";
import { systemClock } from "../../cmd/system-clock.ts";
import { createSimulator, type Simulator } from "../../simulator/server.ts";

export interface SpeedFigure {
  readonly what: string;
  /** Milliseconds. */
  readonly median: number;
  /** Of processor time spent per round, which other programs on the machine lengthen less. */
  readonly cpu: number;
  readonly bound: number;
  readonly within: boolean;
}

const listedJobs = 10_000;
/** A simulation plans by the million: what counts is the time once the code is compiled. */
const manyRounds = 10_000;
const httpRounds = 2_000;

function jobOf(id: string, command = "/bin/true") {
  const task = { Name: "t", Driver: "raw_exec", Config: { command }, Resources: { CPU: 50, MemoryMB: 32 } };
  return { ID: id, Name: id, Type: "service", TaskGroups: [{ Name: "g", Count: 1, Tasks: [task] }] };
}

function hclOf(id: string): string {
  return `job "${id}" {
  group "g" {
    count = 1
    task "t" {
      driver = "raw_exec"
      config { command = "/bin/true" }
      resources {
        cpu    = 50
        memory = 32
      }
    }
  }
}
`;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

async function figure(what: string, bound: number, rounds: number, work: (round: number) => unknown): Promise<SpeedFigure> {
  const spent: number[] = [];
  const before = process.cpuUsage();
  for (let round = 0; round < rounds; round++) {
    const started = performance.now();
    await work(round);
    spent.push(performance.now() - started);
  }
  // The first rounds are those in which code is compiled.
  const typical = median(spent.slice(Math.floor(rounds / 5)));
  const { user, system } = process.cpuUsage(before);
  const rounded = (ms: number) => Math.round(ms * 1000) / 1000;
  return { what, median: rounded(typical), cpu: rounded((user + system) / 1000 / rounds), bound, within: typical <= bound };
}

type Send = (method: string, path: string, body?: object) => Promise<unknown>;

function sender(address: string, agent: Agent): Send {
  return (method, path, body) =>
    new Promise((resolve, reject) => {
      const outgoing = request(`${address}${path}`, { method, agent }, (incoming) => {
        const parts: Buffer[] = [];
        incoming.on("data", (part: Buffer) => parts.push(part));
        incoming.on("end", () => {
          const text = Buffer.concat(parts).toString("utf8");
          if (incoming.statusCode === 200) resolve(JSON.parse(text));
          else reject(new Error(`${method} ${path}: ${incoming.statusCode} ${text}`));
        });
      });
      outgoing.on("error", reject);
      outgoing.end(body === undefined ? undefined : JSON.stringify(body));
    });
}

async function overHttp(simulator: Simulator, send: Send): Promise<SpeedFigure[]> {
  const planned = jobOf("planned");
  await send("PUT", "/v1/jobs", { Job: planned });
  const small = [
    await figure("http parse", 1.3, httpRounds, (i) => send("PUT", "/v1/jobs/parse", { JobHCL: hclOf(`parsed-${i}`) })),
    await figure("http plan", 1.3, httpRounds, (i) =>
      send("PUT", "/v1/job/planned/plan", { Job: jobOf("planned", `/bin/${i}`), Diff: true }),
    ),
    await figure("http register", 1.3, httpRounds, (i) => send("PUT", "/v1/jobs", { Job: jobOf(`registered-${i}`) })),
  ];
  for (let i = 0; i < listedJobs; i++) {
    const job = jobOf(`listed-${i}`);
    simulator.register({ ...job, TaskGroups: job.TaskGroups.map((group) => ({ ...group, Count: 0 })) });
  }
  const list = await figure(`http list of ${listedJobs} jobs`, 194, 15, () => send("GET", "/v1/jobs?prefix=listed-&meta=true"));
  return [...small, list];
}

async function inProcess(): Promise<SpeedFigure[]> {
  const simulator = createSimulator();
  try {
    simulator.register(jobOf("planned"));
    simulator.advance(100);
    return [
      await figure("plan in process, new text", 0.1, manyRounds, (i) => simulator.plan(jobOf("planned", `/bin/${i}`))),
      await figure("plan in process, known text", 0.1, 2_000, () => simulator.plan(jobOf("planned", "/bin/false"))),
      await figure("register in process, new job", 0.1, 2_000, (i) => simulator.register(jobOf(`new-${i}`))),
      await figure("register in process, unchanged job", 0.1, 2_000, () => simulator.register(jobOf("planned"))),
      await figure("register in process, changed job", 0.1, 2_000, (i) => simulator.register(jobOf("planned", `/bin/${i}`))),
    ];
  } finally {
    await simulator.close();
  }
}

/** Medians of small jobs. */
export async function benchSimulator(): Promise<SpeedFigure[]> {
  const simulator = createSimulator({ clock: systemClock });
  const { address } = await simulator.listen();
  const agent = new Agent({ keepAlive: true });
  try {
    return [...(await overHttp(simulator, sender(address, agent))), ...(await inProcess())];
  } finally {
    agent.destroy();
    await simulator.close();
  }
}
