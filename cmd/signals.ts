/** Process signals: the first asks to finish, the second ends at once (reliability §5). */

/** Aborts on the first SIGINT or SIGTERM; a second one ends the process at once with 130. */
export function interruption(): AbortSignal {
  const controller = new AbortController();
  const onSignal = (signal: NodeJS.Signals): void => {
    if (controller.signal.aborted) process.exit(130);
    controller.abort(new Error(`stopped by ${signal}`));
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  return controller.signal;
}
