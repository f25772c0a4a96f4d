/** Where in a file a message is about, told once: as `file:line: message` for people, as a field for programs. */

export interface Placed {
  /** From 1; absent when the message is about no one place. */
  readonly line?: number;
  readonly message: string;
}

/**
 * How a message may begin: with its file, with a line alone, or as Nomad tells of the text that it was sent. Nomad calls that text
 * `input.hcl`, and its lines are the file's, since nothing is put before it.
 */
const beginnings = [
  /^line (\d+): /,
  /^(?:cannot parse the job file: )?(?:Failed to parse job: )?input\.hcl:(\d+),\d+(?:-(?:\d+,)?\d+)?: /,
] as const;

/** Takes the place off the beginning of a message about `file`. */
export function placed(file: string, message: string): Placed {
  const own = `${file}:`;
  const known = message.startsWith(own) ? /^(\d+): /.exec(message.slice(own.length)) : null;
  if (known !== null) return { line: Number(known[1]), message: message.slice(own.length + known[0].length) };
  for (const beginning of beginnings) {
    const found = beginning.exec(message);
    if (found !== null) return { line: Number(found[1]), message: message.slice(found[0].length) };
  }
  return { message };
}

/** `file:line: message`, whatever place the message itself begins with. */
export function withPlace(file: string, text: string, line?: number): string {
  const { line: own, message } = placed(file, text);
  const at = line ?? own;
  return `${file}${at === undefined ? "" : `:${at}`}: ${message}`;
}
