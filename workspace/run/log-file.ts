import * as fs from "node:fs";
import { closeSync, openSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { makeFolders } from "../../model/folders.ts";
import { paths } from "../config/paths.ts";
import type { EventSink, RunEvent } from "./events.ts";
import { formatEvent } from "./format.ts";

/** A sink that keeps a run's progress and output in `.nops/logs/`, without colours. */
export interface LogFile {
  readonly sink: EventSink;
  /** Path from the root. */
  readonly file: string;
  close(): void;
}

/** Opens the log of a pipeline, replacing that of its last run. Sub-steps of groups also get a file each (workspace §2). */
export function openLog(root: string, pipeline: string): LogFile {
  const file = `${paths.logs}/${pipeline}.log`;
  const descriptors = new Map<string, number>();
  const write = (path: string, line: string): void => {
    let descriptor = descriptors.get(path);
    if (descriptor === undefined) {
      makeFolders(fs, dirname(join(root, path)), 0o777);
      descriptor = openSync(join(root, path), "w", 0o644);
      descriptors.set(path, descriptor);
    }
    writeSync(descriptor, `${stripVTControlCharacters(line)}\n`);
  };
  return {
    file,
    sink(event) {
      for (const line of formatEvent(event, { colour: false })) write(file, line);
      const own = groupFile(pipeline, event);
      if (own !== undefined && event.event === "step_output") write(own, event.line);
    },
    close() {
      for (const descriptor of descriptors.values()) closeSync(descriptor);
      descriptors.clear();
    },
  };
}

function groupFile(pipeline: string, event: RunEvent): string | undefined {
  if (event.event !== "step_output" || event.group === undefined) return undefined;
  return `${paths.logs}/parallel/${pipeline}/${event.group}/${event.address.replaceAll("/", "_")}.log`;
}
