/** Rings at most once, for whoever listens then or later. What an AbortSignal is for, at a tenth of the cost: every pass listens. */
export class StopBell {
  private readonly listeners = new Set<(reason: Error) => void>();
  private rung: Error | undefined;

  /** Calls back when the bell rings; at once when it has. Returns the way to stop listening. */
  listen(listener: (reason: Error) => void): () => void {
    if (this.rung !== undefined) listener(this.rung);
    else this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  }

  ring(reason: Error): void {
    if (this.rung !== undefined) return;
    this.rung = reason;
    for (const listener of this.listeners) listener(reason);
    this.listeners.clear();
  }
}
