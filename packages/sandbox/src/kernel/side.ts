// The peer of a request.
export type Side = 'mor' | 'stripe';
