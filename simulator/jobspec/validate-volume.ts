import { goQuote } from "./go-text.ts";
import { flag, isUnset, type Rec, str } from "./values.ts";

const HOST_MODES = new Set(["", "single-node-writer", "single-node-single-writer", "single-node-multi-writer"]);

/** What is wrong with a volume that a group asks for. */
export function volumeProblems(volume: Rec, jobType: string, count: number, canaries: number): string[] {
  const problems: string[] = [];
  const perAlloc = flag(volume, "PerAlloc");
  if (str(volume, "Source") === "") problems.push("volume has an empty source");
  if (perAlloc) {
    if (jobType === "system" || jobType === "sysbatch") problems.push("volume cannot be per_alloc for system or sysbatch jobs");
    if (canaries > 0) problems.push("volume cannot be per_alloc when canaries are in use");
    if (flag(volume, "Sticky")) problems.push("volume cannot be per_alloc and sticky at the same time");
  }
  problems.push(...(str(volume, "Type") === "host" ? hostProblems(volume) : csiProblems(volume, count > 1 && !perAlloc)));
  return problems;
}

function hostProblems(volume: Rec): string[] {
  const mode = str(volume, "AccessMode");
  const problems = isUnset(volume["MountOptions"]) ? [] : ["host volumes cannot have mount options"];
  if (mode === "single-node-reader-only") {
    if (!flag(volume, "ReadOnly")) problems.push(`${mode} volumes must be read-only`);
  } else if (!HOST_MODES.has(mode)) problems.push(`host volumes cannot be mounted with ${mode} access mode`);
  return problems;
}

function csiProblems(volume: Rec, shared: boolean): string[] {
  const problems: string[] = [];
  const [attachment, mode, readOnly] = [str(volume, "AttachmentMode"), str(volume, "AccessMode"), flag(volume, "ReadOnly")];
  if (attachment === "") problems.push("CSI volumes must have an attachment mode");
  if (attachment === "block-device" && !isUnset(volume["MountOptions"])) {
    problems.push("block devices cannot have mount options");
  }
  if (mode === "") problems.push("CSI volumes must have an access mode");
  if ((mode === "single-node-reader-only" || mode === "multi-node-reader-only") && !readOnly) {
    problems.push(`${mode} volumes must be read-only`);
  }
  if (!shared) return problems;
  if (mode === "single-node-reader-only") problems.push(`volume with ${mode} access mode allows only one reader`);
  if (mode === "single-node-writer") problems.push(`volume with ${mode} access mode allows only one reader or writer`);
  if (mode === "multi-node-single-writer" && !readOnly) problems.push(`volume with ${mode} access mode allows only one writer`);
  return problems;
}

const PROPAGATION = new Set(["", "private", "host-to-task", "bidirectional"]);
const LABELS = new Set(["", "z", "Z"]);

/** What is wrong with a mount of a task. */
export function mountProblems(mount: Rec): string[] {
  const problems: string[] = [];
  const [mode, label] = [str(mount, "PropagationMode"), str(mount, "SELinuxLabel")];
  if (str(mount, "Volume") === "") problems.push("volume mount references an empty volume");
  if (!PROPAGATION.has(mode)) problems.push(`volume mount has an invalid propagation mode: ${goQuote(mode)}`);
  if (!LABELS.has(label)) problems.push(`volume mount has an invalid SELinux label: "${label}"`);
  return problems;
}
