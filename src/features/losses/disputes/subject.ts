// The engine's table for disputes and alerts: the rule for each event, call, item and choice.
import { type Subject } from '../../../engine/subject.js';
import { nameDisputed, takeAlert, takeDispute } from './rules/dispute.js';
import { alertItems, disputeItems } from './rules/items.js';

export const disputes = {
  when: (lane) => lane.objects.some((o) => o.kind === 'dispute' || o.kind === 'alert'),
  events: {
    'dispute.action_needed': takeDispute,
    'dispute.revision_requested': takeDispute,
    'dispute.outcome': takeDispute,
    'pre_chargeback_alert.received': takeAlert,
    'pre_chargeback_alert.outcome': takeAlert,
  },
  rest: [nameDisputed],
  items: [disputeItems, alertItems],
} satisfies Subject;
