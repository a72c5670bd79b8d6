// What the documents leave open and a rehearsal can see. The report lists each, observed or not.

export const FACTS = {
  setup_customer: 'How does a setup intent name its customer, and does the saved method then pay for them?',
  draft_charge: 'When is a renewal charged: while the invoice is a draft, or once it is open?',
  relayed_again: 'Does another invoice.created for a refused invoice start another charge?',
  signatures: 'Which form do the signatures have?',
  charge_lookup: 'What does GET /api/payments/invoice?psp_reference= answer for a charge, and when?',
  unknown_charge: 'What does it answer for a charge that does not exist?',
  refund_ids: 'Which ids do the answer to a refund and its event carry?',
  event_fields: 'Which members do the events have?',
  link_ids: 'Which ids name the payment of a payment link?',
  error_bodies: "Which shape do Document 3's errors have?",
  retry_after: 'Where does the MoR send Retry-After?',
  key_life: 'How long is an Idempotency-Key remembered?',
} as const;

export type Fact = keyof typeof FACTS;
export const FACT_NAMES = Object.keys(FACTS) as readonly Fact[];

/** One observation: codes, counts, ids of the test accounts and names of members. Never a secret, never a person. */
export type Observed = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;
