function cpu() { const u = process.cpuUsage(); return (u.user+u.system)/1000; }
import { createSimulator } from "../../simulator/server.ts";
import { openStore } from "../../store/open.ts";
import { VirtualClock } from "../../simulator/clock.ts";
import { SeededRandom } from "../../testkit/fake-clock.ts";
import { jobKey } from "../../model/job-key.ts";
function bench(name: string, n: number, f: (i: number) => void) { for (let i=0;i<n/5;i++) f(i); const t=cpu(); for (let i=0;i<n;i++) f(i+n); console.log(name, ((cpu()-t)/n*1000).toFixed(1),"us"); }
const clock = new VirtualClock();
const sim = createSimulator({ clock, seed: 1 });
const job = (n: string, v: number) => ({ ID: n, Name: n, Type: "service", Meta: { nops_managed: "true", v: String(v) }, TaskGroups: [{ Name: "main", Count: 1, Tasks: [{ Name: "main", Driver: "docker", Config: { image: "x:1" } }] }] });
sim.register(job("a",0) as never);
clock.advance(60000);
bench("plan", 2000, (i) => { sim.plan(job("a", i) as never); });
bench("plan same", 2000, (i) => { sim.plan(job("a", 0) as never); });
bench("admit", 2000, (i) => { sim.admit(job("a", i) as never); });
bench("register", 300, (i) => { sim.register(job("b"+(i%3), i) as never); clock.advance(20000); });
bench("newsim", 60, () => { createSimulator({ clock: new VirtualClock(), seed: 1 }); });
const store = openStore({ path: ":memory:", clock, random: new SeededRandom(7) });
const key = jobKey("default","a");
let t = cpu();
for (let i=0;i<5000;i++) await store.jobFacts(key); console.log("jobFacts", (cpu()-t)/5000*1000);
t = cpu(); for (let i=0;i<5000;i++) await store.activeDeployments(); console.log("active", (cpu()-t)/5000*1000);
t = cpu(); for (let i=0;i<3000;i++) await store.saveVerdict(key, {specHash:"x", targetHash:"y", jobModifyIndex: i, drift:"drift", diff: undefined, failedPlacements:{}, warnings:"", plannedAt:"2030-01-01T00:00:00.000Z"}); console.log("saveVerdict", (cpu()-t)/3000*1000);
t = cpu(); for (let i=0;i<3000;i++) await store.saveJobFiles("main", "a".repeat(40), [{file:"a", keys:[key]}]); console.log("saveJobFiles", (cpu()-t)/3000*1000);
t = cpu(); for (let i=0;i<1000;i++) { await store.pauseJob(key, {name:"ann",kind:"person",identity:"x"}, "r"); await store.resumeJob(key, {name:"ann",kind:"person",identity:"x"}); } console.log("pause+resume", (cpu()-t)/1000*1000);
t = cpu(); for (let i=0;i<30;i++) openStore({ path: ":memory:", clock, random: new SeededRandom(7) }); console.log("open", (cpu()-t)/30*1000);
const c = store.serialize();
t = cpu(); for (let i=0;i<30;i++) openStore({ path: ":memory:", clock, random: new SeededRandom(7), contents: c }); console.log("openFrom", (cpu()-t)/30*1000, c.length);
t = cpu(); for (let i=0;i<20000;i++) await new Promise(r=>setImmediate(r)); console.log("immediate", (cpu()-t)/20000*1000);
