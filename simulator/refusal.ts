/**
 * A request that the server refuses. The message is the whole body of the answer, in Nomad's own words, because
 * clients tell errors apart by their text (nomad-api §11).
 */
export class Refusal extends Error {
  readonly status: number;
  /** `X-Nomad-Index` of the answer, for the few errors that carry one. */
  readonly index: number | undefined;

  constructor(status: number, message: string, index?: number) {
    super(message);
    this.status = status;
    this.index = index;
  }
}

/** 403: the token does not reach this far, or is not known at all (nomad-api §9.3). */
export function permissionDenied(): Refusal {
  return new Refusal(403, "Permission denied");
}
