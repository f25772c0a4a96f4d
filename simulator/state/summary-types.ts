/** How many allocations of each group a job has by client status, in the form of Nomad's API. */

export interface GroupSummary {
  readonly Queued: number;
  readonly Complete: number;
  readonly Failed: number;
  readonly Running: number;
  readonly Starting: number;
  readonly Lost: number;
  readonly Unknown: number;
}

export interface JobSummary {
  readonly JobID: string;
  readonly Namespace: string;
  readonly Summary: Readonly<Record<string, GroupSummary>>;
  readonly Children: { readonly Pending: number; readonly Running: number; readonly Dead: number };
  readonly CreateIndex: number;
  readonly ModifyIndex: number;
}
