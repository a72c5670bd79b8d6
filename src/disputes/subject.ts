// Disputes, alerts and returned debits join the engine.
import { asReview, asRule } from '../engine/adapter.js';
import { type Subject } from '../engine/subject.js';
import { returnItems } from '../returns/rules/return-items.js';
import { creditItems, takeLossChoice } from '../returns/rules/credit-loss.js';
import { takeAlert, takeDispute } from './rules/dispute-event.js';
import { settleDisputes } from './rules/settle-disputes.js';

const KINDS: ReadonlySet<string> = new Set(['dispute', 'alert', 'debit_return']);

export const disputes = {
  when: (lane) => lane.objects.some((o) => KINDS.has(o.kind)),
  events: {
    'dispute.action_needed': takeDispute,
    'dispute.revision_requested': takeDispute,
    'dispute.outcome': takeDispute,
    'pre_chargeback_alert.received': takeAlert,
    'pre_chargeback_alert.outcome': takeAlert,
  },
  rest: [asRule(settleDisputes)],
  items: [returnItems, creditItems],
  choices: { dispute: asReview(takeLossChoice), debit_returned: asReview(takeLossChoice) },
} satisfies Subject;
