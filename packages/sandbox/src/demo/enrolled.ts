// Whose renewals the MoR collects in the demo.

/** What the merchant writes on those who were moved to the MoR. */
export const ENROLLED = { collected_by: 'mor' } as const;
/** The daemon's setting. */
export const ENROLMENT = 'metadata:collected_by=mor';
