/** Who says go (operator §4). `none` only shows the difference. */
export const policies = ["auto", "approval", "none"] as const;
export type Policy = (typeof policies)[number];

/** The stricter of two policies: auto < approval < none (design D31). */
export function stricterPolicy(a: Policy, b: Policy): Policy {
  return policies.indexOf(a) >= policies.indexOf(b) ? a : b;
}
