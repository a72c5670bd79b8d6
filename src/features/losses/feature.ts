// Money that a bank took back: disputes and returned debits. This is everything the rest of Crossbill gets from this
// folder.
import './facts.js';
import { type EventRow, feature } from '../../feature.js';
import { deadlineIn } from '../../shared/domain/events/payload-fields.js';
import { asksAbout, applyAlert, applyDispute } from './disputes/rules/dispute.js';
import { disputeNotifications, tellDisputes } from './disputes/rules/notifications.js';
import { disputes } from './disputes/subject.js';
import { disputeWords } from './disputes/words.js';
import { returnNotifications, tellReturns } from './returns/rules/notifications.js';
import { returns } from './returns/subject.js';
import { returnWords } from './returns/words.js';

type DisputeType = 'dispute.action_needed' | 'dispute.revision_requested' | 'dispute.outcome';
type AlertType = 'pre_chargeback_alert.received' | 'pre_chargeback_alert.outcome';

const unknown: EventRow<DisputeType | AlertType>['unknown'] = ({ eventId: event, kind: type, data }) => {
  const dueAt = deadlineIn(data);
  const until = dueAt?.toISOString() ?? null;
  return { kind: 'dispute', fact: { code: 'unknown-dispute', event, type, until }, dueAt };
};
const dispute = { apply: applyDispute, unknown };
const alert = { apply: applyAlert, unknown };

export const losses = feature({
  name: 'losses',
  modules: async () => [
    (await import('./returns/returns.module.js')).ReturnsModule,
    (await import('./disputes/disputes.module.js')).DisputesModule,
  ],
  commands: {
    act: [
      {
        name: 'returned',
        about: 'record a debit returned by the bank: books the loss, opens a review item',
        load: async () => (await import('./returns/returned.command.js')).addReturned,
      },
    ],
  },
  lanes: [disputes, returns],
  asksAbout,
  events: {
    'dispute.action_needed': {
      ...dispute,
      secondBody:
        "The MoR may want evidence again, by another deadline: look at the dispute in the MoR's portal at once.",
    },
    'dispute.revision_requested': {
      ...dispute,
      secondBody:
        "The MoR may want better evidence again, with another note and deadline: look at the dispute in the MoR's portal at once.",
    },
    'dispute.outcome': {
      ...dispute,
      secondBody:
        "The dispute may have a second outcome: look at the dispute in the MoR's portal. The ledger keeps the first outcome. If a loss became a win, reverse the loss outside the ledger. If a win became a loss, book the loss outside the ledger.",
    },
    'pre_chargeback_alert.received': {
      ...alert,
      secondBody:
        "The MoR may have sent another alert: look in the MoR's portal at once for an alert without an answer.",
    },
    'pre_chargeback_alert.outcome': alert,
  },
  notifications: { ...disputeNotifications, ...returnNotifications },
  tell: (before, after) => [...tellDisputes(before, after), ...tellReturns(before, after)],
  words: { ...disputeWords, ...returnWords },
  impacts: {
    dispute: 'The bank may take the money back for good, or has taken it already.',
    debit_returned: 'The bank may have taken the money back. Stripe may still show the invoice as paid.',
  },
});
