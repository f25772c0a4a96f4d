/**
 * A request that the server refuses. The message is the whole body of the answer, in Nomad's own words, because
 * clients tell errors apart by their text (nomad-api §11).
 */
export class Refusal extends Error {
  readonly status: number;
  /** `X-Nomad-Index` of the answer, for the few errors that carry one. */
  readonly index: number | undefined;
  /** The answer of a read that looked: it tells of the leader too. */
  readonly read: boolean;

  constructor(status: number, message: string, index?: number, read = false) {
    super(message);
    this.status = status;
    this.index = index;
    this.read = read;
  }
}

/** 404 of a read, which looked and found nothing at `index`. */
export function notFound(message: string, index: number): Refusal {
  return new Refusal(404, message, index, true);
}

/** 403: the token does not reach this far, or is not known at all (nomad-api §9.3). */
export function permissionDenied(): Refusal {
  return new Refusal(403, "Permission denied");
}
