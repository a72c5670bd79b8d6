// Which of the two peers a request is for.
export type Side = 'mor' | 'stripe';
