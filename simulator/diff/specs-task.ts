import { type Rec, rec, str } from "../jobspec/values.ts";
import { type Child, keyed, type Match, matched, type ObjectSpec, one, placed, textSet } from "./object-diff.ts";
import { affinities, config, constraints, IDENTITY, identities, logs, RESOURCES, simple, volumeMounts } from "./specs-common.ts";
import { services } from "./specs-service.ts";

const ARTIFACT: ObjectSpec = { name: "Artifact", table: "TaskArtifact", byFields: true };
const VAULT: ObjectSpec = { name: "Vault", table: "Vault" };
const SECRET: ObjectSpec = { name: "Secret", table: "Secret", whole: true };
const WAIT: ObjectSpec = { name: "Template", table: "WaitConfig", whole: true };
const CHANGE_SCRIPT: ObjectSpec = { name: "ChangeScript", table: "ChangeScript", children: [textSet("Args")] };

const TEMPLATE: ObjectSpec = {
  name: "Template",
  table: "Template",
  ifSet: ["Uid", "Gid"],
  children: [one("Wait", () => WAIT), one("ChangeScript", () => CHANGE_SCRIPT)],
};

const ACTION: ObjectSpec = { name: "Action", table: "Action", children: [textSet("Args")] };

const sameDestination: Match = (template, _index, others, taken) =>
  others.findIndex((other, i) => taken[i] !== true && str(other, "DestPath") === str(template, "DestPath"));

const cron: Child = simple("Cron", "TaskScheduleCron", "Schedule");

const schedule: Child = (before, after, contextual) => cron(rec(before, "Schedule"), rec(after, "Schedule"), contextual);

function artifactKey(artifact: Rec): string {
  return str(artifact, "RelativeDest") || JSON.stringify(artifact);
}

/** Everything below a task; `lifecycle`, the task's own `restart` and a CSI plugin are blind spots (nomad-api §2.4). */
export const TASK_CHILDREN: readonly Child[] = [
  constraints,
  affinities,
  config,
  one("Resources", () => RESOURCES),
  logs,
  simple("DispatchPayload", "DispatchPayloadConfig"),
  keyed("Artifacts", artifactKey, () => ARTIFACT),
  services,
  one("Vault", () => VAULT),
  keyed(
    "Secrets",
    (secret) => str(secret, "Name"),
    () => SECRET,
  ),
  simple("Consul", "Consul"),
  matched("Templates", sameDestination, () => TEMPLATE),
  one("Identity", () => IDENTITY),
  identities,
  placed("Actions", () => ACTION),
  volumeMounts,
  schedule,
];
