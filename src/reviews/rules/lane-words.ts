// Sentences of the engine's own items: a failing lane, a payment of another invoice.
import { type Words } from '../../domain/fact.js';

export const laneWords: Words<'lane-stuck' | 'payment-elsewhere'> = {
  'lane-stuck': (f) => ({
    summary: `the next step of ${f.lane} cannot be decided or written down: ${f.why}`,
    proposal: 'The log of the daemon has the whole error: report it. Crossbill tries again every hour.',
  }),
  'payment-elsewhere': (f) => ({
    summary: `event ${f.event} names payment ${f.payment} for this invoice; it is recorded for ${f.invoice}`,
    proposal: 'Ask the MoR which invoice the payment is for. The first record stands.',
  }),
};
