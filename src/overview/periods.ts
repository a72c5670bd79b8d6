// How far back the first page looks, and so how far back the figures of days are counted.

/** Days; the first one is shown to whoever asks for none. */
export const PERIODS = [30, 90] as const;
