/**
 * The calls of the features, by kind, each with its reply. Empty here: each feature adds its own with `declare module`,
 * so a deleted folder takes its calls with it.
 */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- the features extend it
export interface FeatureCalls {}
