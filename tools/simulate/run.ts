/** `npm run simulate -- --seed N --seconds S`: plays histories one after another and says what it found. Exit code 1: a rule was broken. */
import { parseArgs } from "node:util";
import { campaign, explainFailure } from "./campaign.ts";

const { values } = parseArgs({
  options: { seed: { type: "string" }, seconds: { type: "string" }, histories: { type: "string" }, reached: { type: "boolean" } },
});
const seed = Number(values.seed ?? 1);
const seconds = Number(values.seconds ?? 30);
const most = Number(values.histories ?? Number.POSITIVE_INFINITY);
if (!Number.isInteger(seed) || !(seconds > 0) || !(most > 0)) {
  process.stderr.write("usage: npm run simulate -- [--seed N] [--seconds S] [--histories H] [--reached]\n");
  process.exit(2);
}

const cpu = process.cpuUsage();
const begun = performance.now();
const result = await campaign({ seed, goOn: (played) => played < most && performance.now() - begun < seconds * 1_000 });
const wall = (performance.now() - begun) / 1_000;
const used = process.cpuUsage(cpu);
const busy = (used.user + used.system) / 1_000_000;
const perMinute = (count: number, over: number): string => Math.round((count / over) * 60).toLocaleString("en");
process.stdout.write(
  `${result.histories} histories from seed ${seed}, ${result.calls} calls, ${result.lives} processes, ${result.crashes} crashes in ${wall.toFixed(1)} s (${busy.toFixed(1)} s of one core)\n` +
    `${perMinute(result.crashes, wall)} crashes a minute; ${perMinute(result.crashes, busy)} a minute of one core\n`,
);
if (values.reached === true) {
  const table = (counts: ReadonlyMap<string, number>): string =>
    [...counts]
      .toSorted(([, a], [, b]) => b - a)
      .map(([name, count]) => `${String(count).padStart(8)}  ${name}\n`)
      .join("");
  process.stdout.write(`moves:\n${table(result.reached)}deaths at:\n${table(result.deaths)}`);
}
if (result.failed !== undefined) {
  process.stdout.write(`${await explainFailure(result.failed)}\n`);
  process.exit(1);
}
process.stdout.write("0 violations\n");
