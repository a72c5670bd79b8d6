// Chooses the renewals for the MoR in the demo.

/** The merchant's mark on customers moved to the MoR. */
export const ENROLLED = { collected_by: 'mor' } as const;
/** The daemon's setting. */
export const ENROLMENT = 'metadata:collected_by=mor';
