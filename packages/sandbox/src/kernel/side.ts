// The receiver of a request.
export type Side = 'mor' | 'stripe';
