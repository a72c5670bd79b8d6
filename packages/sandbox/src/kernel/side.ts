// The peer that a request goes to.
export type Side = 'mor' | 'stripe';
