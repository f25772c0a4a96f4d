import { num, type Rec, rec, str } from "../jobspec/values.ts";
import { flattenAny } from "./flatten.ts";
import { type Child, keyed, type Match, matched, type ObjectSpec, one, textSet } from "./object-diff.ts";
import { IDENTITY } from "./specs-common.ts";
import { CONNECT } from "./specs-connect.ts";

const HEADER: ObjectSpec = { name: "Header", table: "ServiceCheck", flat: flattenAny };
const CHECK_RESTART: ObjectSpec = { name: "CheckRestart", table: "CheckRestart" };

const stated: Child = one("Header", () => HEADER);

/** An empty header map is an absent one. */
const header: Child = (before, after, contextual) => {
  const holder = (check: Rec | undefined): Rec => {
    const map = rec(check, "Header");
    return { Header: map !== undefined && Object.keys(map).length > 0 ? map : undefined };
  };
  return stated(holder(before), holder(after), contextual);
};

const CHECK: ObjectSpec = { name: "Check", table: "ServiceCheck", children: [header, one("CheckRestart", () => CHECK_RESTART)] };

const WEIGHTS: ObjectSpec = {
  name: "Weights",
  table: "ServiceWeights",
  flat: (weights) =>
    ["Passing", "Warning"].filter((key) => num(weights, key) > 0).map((key) => [key, String(num(weights, key))] as const),
};

const SERVICE: ObjectSpec = {
  name: "Service",
  table: "Service",
  children: [
    textSet("CanaryTags"),
    textSet("Tags"),
    keyed(
      "Checks",
      (check) => str(check, "Name"),
      () => CHECK,
    ),
    one("Connect", () => CONNECT),
    one("Identity", () => IDENTITY),
    one("Weights", () => WEIGHTS),
  ],
};

/** Services have no sure key: the name counts most, then the port, then the place. */
const resembles: Match = (service, index, others, taken) => {
  let [best, found] = [2, -1];
  for (const [i, other] of others.entries()) {
    if (taken[i] === true) continue;
    let score = i === index ? 1 : 0;
    if (str(service, "PortLabel") === str(other, "PortLabel")) score += 2;
    if (str(service, "Name") === str(other, "Name")) score += 3;
    if (score > best) [best, found] = [score, i];
  }
  return found;
};

export const services: Child = matched("Services", resembles, () => SERVICE);
