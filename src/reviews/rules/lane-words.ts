// The sentences of items about a lane itself, and about events that no subject takes in.
import { type Words } from '../../domain/fact.js';
import { aboutSecondBody } from '../../domain/events/same-event.js';

export const laneWords: Words<'lane-stuck' | 'payment-elsewhere' | 'second-body'> = {
  'lane-stuck': (f) => ({
    summary: `the next step of ${f.lane} cannot be decided or written down: ${f.why}`,
    proposal: 'The log of the daemon has the whole error: report it. It is tried again every hour.',
  }),
  'payment-elsewhere': (f) => ({
    summary: `event ${f.event} names payment ${f.payment} for this invoice; it is recorded for ${f.invoice}`,
    proposal: 'Ask the MoR which invoice the payment is for. What was recorded first stands.',
  }),
  'second-body': (f) => ({
    summary: `event ${f.event} (${f.type}) came a second time with another body; the first one is in force`,
    proposal: aboutSecondBody(f.type),
  }),
};
