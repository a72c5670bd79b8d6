// Delayed payouts, the example of a feature: an event of the MoR that does not exist, an item with a choice, a page, a
// route, a command and a notification. CONTRIBUTING says how to make a feature of it.
import { type PayoutDelayed } from './facts.js';
import { feature } from '../../feature.js';
import { type Words } from '../../shared/domain/fact.js';
import { acceptDelay, applyDelayed, itemAbout, payoutNotifications, tellDelays } from './rules/payouts.js';

const words: Words<PayoutDelayed['code']> = {
  'payout-delayed': (f) => ({
    summary: `the MoR pays out later than promised (event ${f.event}); its new date: ${f.until ?? 'not known'}`,
    proposal: 'Ask the MoR for the reason, then choose "apply".',
  }),
};

export const payouts = feature({
  name: 'payouts',
  modules: async () => [(await import('./payouts.module.js')).PayoutsModule],
  events: { 'payout.delayed': { apply: applyDelayed, unknown: itemAbout } },
  lanes: [{ choices: { payout_delayed: acceptDelay } }],
  words,
  impacts: { payout_delayed: 'The money comes later. Nothing is lost.' },
  notifications: payoutNotifications,
  tell: tellDelays,
  commands: {
    look: [
      {
        name: 'payouts',
        about: 'the delayed payouts',
        load: async () => (await import('./payouts.command.js')).addPayouts,
      },
    ],
  },
});
