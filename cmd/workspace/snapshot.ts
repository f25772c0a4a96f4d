import { createSnapshot, removeSnapshot, restoreSnapshot, rollbackSnapshot } from "../../workspace/app/snapshot.ts";
import { currentSnapshot, listSnapshots } from "../../workspace/app/snapshot-store.ts";
import type { CommandIo } from "../io.ts";
import { printJson, table } from "../output.ts";
import { inWorkspace, type WorkspaceFlags } from "./host.ts";

export async function createCommand(name: string, flags: WorkspaceFlags, io: CommandIo): Promise<void> {
  await inWorkspace(io, flags, async (session) => {
    const manifest = await createSnapshot(session, name);
    if (flags.json === true) printJson(io, manifest);
    else io.err(`snapshot "${name}" created\n`);
  });
}

export async function listCommand(flags: WorkspaceFlags, io: CommandIo): Promise<void> {
  await inWorkspace(io, flags, async (session) => {
    const snapshots = listSnapshots(session.host.root);
    const current = currentSnapshot(session.host.root)?.name;
    if (flags.json === true) return printJson(io, { snapshots, current: current ?? null });
    if (snapshots.length === 0) return io.err("no snapshots\n");
    const rows = snapshots.map((one) => [one.name, one.created_at, one.name === current ? "restored last" : ""]);
    io.out(table(["SNAPSHOT", "CREATED AT", ""], rows));
  });
}

export async function restoreCommand(name: string, flags: WorkspaceFlags, io: CommandIo): Promise<void> {
  await inWorkspace(io, flags, (session) => restoreSnapshot(session, name));
}

export async function rollbackCommand(flags: WorkspaceFlags, io: CommandIo): Promise<void> {
  await inWorkspace(io, flags, async (session) => {
    await rollbackSnapshot(session);
    io.err("the last restore is undone\n");
  });
}

export async function removeCommand(name: string, flags: WorkspaceFlags, io: CommandIo): Promise<void> {
  await inWorkspace(io, flags, async (session) => {
    await removeSnapshot(session, name);
    io.err(`snapshot "${name}" removed\n`);
  });
}
