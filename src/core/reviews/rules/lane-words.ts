// Sentences of the engine's own items: a failing lane, a payment of another invoice.
import { type Words } from '../../../shared/domain/fact.js';

export const laneWords: Words<'lane-stuck' | 'payment-elsewhere'> = {
  'lane-stuck': (f) => ({
    summary: `Crossbill cannot decide or store the next step of ${f.lane}: ${f.why}`,
    proposal:
      "If a newer release wrote the log, start that release. If not, the daemon's log has the whole error: report it to Crossbill's maintainers. Crossbill tries again every hour.",
  }),
  'payment-elsewhere': (f) => ({
    summary: `event ${f.event} says payment ${f.payment} is for this invoice, but Crossbill recorded the payment for invoice ${f.invoice}`,
    proposal: 'Ask the MoR which invoice the payment is for. Crossbill keeps its first record.',
  }),
};
