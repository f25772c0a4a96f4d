import { type AdmitContext, AdmissionError, type Admitted, type ApiJob, type ServerJob, type Validation } from "./types.ts";

/** API form to server form, with everything the server adds and refuses. */
export function admitJob(_apiJob: ApiJob, _context: AdmitContext): Admitted {
  throw new AdmissionError("not written yet");
}

/** The answer of `/v1/validate/job`. */
export function validateJob(_apiJob: ApiJob, _context: AdmitContext): Validation {
  throw new AdmissionError("not written yet");
}

/** Refuses transitions that register forbids. Throws AdmissionError (500). */
export function checkJobUpdate(_old: ServerJob | undefined, _next: ServerJob): void {
  throw new AdmissionError("not written yet");
}

/** Whether a register of `next` over `old` makes a new version. */
export function specChanged(_old: ServerJob, _next: ServerJob): boolean {
  throw new AdmissionError("not written yet");
}
