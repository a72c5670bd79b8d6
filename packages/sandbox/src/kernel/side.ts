// The two sides of the sandbox: the MoR and Stripe.
export type Side = 'mor' | 'stripe';
