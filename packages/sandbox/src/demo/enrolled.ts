// Decides in the demo which customers' renewals the MoR collects.

/** The merchant's metadata on customers moved to the MoR. */
export const ENROLLED = { collected_by: 'mor' } as const;
/** The daemon's `ENROLMENT` setting for this metadata. */
export const ENROLMENT = 'metadata:collected_by=mor';
