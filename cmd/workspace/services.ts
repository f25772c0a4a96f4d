import { InvalidRequestError } from "../../model/errors.ts";
import { listServices, previewToggle, type ToggleOutcome, toggleService } from "../../workspace/app/services.ts";
import type { CommandIo } from "../io.ts";
import { paintState, printJson, table } from "../output.ts";
import { inWorkspace, type WorkspaceFlags } from "./host.ts";

export async function listCommand(flags: WorkspaceFlags, io: CommandIo): Promise<void> {
  await inWorkspace(io, flags, async (session) => {
    const services = listServices(session);
    if (flags.json === true) return printJson(io, { services });
    const rows = services.map((row) => [row.name, row.type, row.enabled ? "yes" : "no", row.required ? "yes" : "no", row.status]);
    io.out(
      table(["SERVICE", "TYPE", "ENABLED", "REQUIRED", "STATUS"], rows, (cell, column) =>
        column === 4 ? paintState(io.colour.out, cell) : cell,
      ),
    );
  });
}

interface ToggleFlags extends WorkspaceFlags {
  readonly apply?: boolean;
  readonly printPlan?: boolean;
  readonly skipHooks?: boolean;
}

export async function toggleCommand(
  verb: "enable" | "disable",
  name: string | undefined,
  flags: ToggleFlags,
  io: CommandIo,
): Promise<void> {
  await inWorkspace(io, flags, async (session) => {
    const service = name ?? (await choose(session, verb));
    if (service === undefined) return;
    const enabled = verb === "enable";
    const outcome =
      flags.printPlan === true
        ? previewToggle(session, service, enabled)
        : await toggleService(session, service, enabled, { apply: flags.apply === true, skipHooks: flags.skipHooks === true });
    if (flags.json === true) return printJson(io, outcome);
    io.err(describe(outcome, flags));
  });
}

type Session = Parameters<typeof toggleService>[0];

async function choose(session: Session, verb: "enable" | "disable"): Promise<string | undefined> {
  const candidates = listServices(session).filter((row) => !row.required && row.enabled !== (verb === "enable"));
  if (!session.host.prompt.interactive) {
    throw new InvalidRequestError(`name the service to ${verb}`, {
      code: "service_needed",
      hint: candidates.length === 0 ? "there is none" : candidates.map((row) => row.name).join(", "),
    });
  }
  return session.host.prompt.select(
    `Which service to ${verb}?`,
    candidates.map((row) => ({ value: row.name, label: row.name })),
  );
}

function describe(outcome: ToggleOutcome, flags: ToggleFlags): string {
  const lines = [`${outcome.service} is ${outcome.enabled ? "enabled" : "disabled"}${outcome.changed ? "" : " already"}`];
  if (outcome.notes !== undefined) lines.push(outcome.notes);
  if (flags.printPlan === true)
    lines[0] = `${outcome.service}: would be ${outcome.enabled ? "enabled" : "disabled"}; then: ${outcome.requires}`;
  else if (outcome.noted)
    lines.push(
      `${outcome.requires} is now pending; run \`${outcome.requires === "deploy" ? "nops deploy run" : "nops restart"}\``,
    );
  else if (flags.apply !== true && outcome.requires !== "none" && outcome.changed)
    lines.push("run `nops deploy run` to bring it about");
  return `${lines.join("\n")}\n`;
}
