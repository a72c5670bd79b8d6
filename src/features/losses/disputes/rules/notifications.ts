// The notifications about disputes.
import { currency, customerFacts, nameOf, number, time, whenNamed } from '../../../../core/books/rules/notice-facts.js';
import { amountLeft } from '../../../../shared/domain/amount-left.js';
import { disputedOf } from '../../../../shared/domain/dispute-sum.js';
import { type LaneState } from '../../../../shared/domain/model.js';
import { type MorObjectRow, objectId, wantsEvidence } from '../../../../shared/domain/mor-object.js';
import { type Notice } from '../../../../shared/domain/notification.js';
import { count, type Data, orNull, text, word } from '../../../../shared/domain/notification-fields.js';
import {
  amountLeftField,
  chargeId,
  currencyOrNull,
  CUSTOMER,
  invoiceId,
  notification,
  ofInvoice,
  page,
  paymentId,
  see,
  soon,
  sum,
} from '../../../../shared/domain/notification-parts.js';

const DISPUTE = {
  dispute_id: text(
    "The MoR's id of the dispute; where it gave none, the id of the payment or of the event.",
    'dp_sample',
  ),
  payment_id: orNull(paymentId("The MoR's `pay_…` of the disputed payment; null: not known.")),
  processor_charge_id: chargeId,
  invoice_id: invoiceId,
  ...CUSTOMER,
  amount: orNull(count('The disputed amount in smallest units; null: not known.', 2990)),
  currency: currencyOrNull,
  console: page('/console/disputes/obj_sample'),
};

type DisputeFacts = Data<typeof DISPUTE>;

const disputed = (dispute: DisputeFacts): string =>
  `${dispute.payment_id === null ? 'a payment' : `payment ${dispute.payment_id}`} of ${sum(dispute)}${ofInvoice(dispute)}`;

export const disputeNotifications = {
  'dispute.opened': notification(
    'The bank of a customer disputes a payment, or goes on with the dispute after an outcome',
    { ...DISPUTE, due_at: soon('The deadline for evidence; null: the MoR gave none.') },
    (d) => `A bank disputes ${disputed(d)}.${d.due_at === null ? '' : ` The evidence is due by ${d.due_at}.`}${see(d)}`,
  ),
  'dispute.closed': notification(
    'A dispute is decided. A later decision is another notification',
    {
      ...DISPUTE,
      outcome: word(['won', 'lost'], "`lost`: the customer's bank took the amount.", 'lost'),
      amount_left: amountLeftField(0),
    },
    (d) => `The dispute about ${disputed(d)} is ${d.outcome}.${see(d)}`,
  ),
};

declare module '../../../../shared/domain/notification.js' {
  interface FeatureNotifications {
    readonly 'dispute.opened': (typeof disputeNotifications)['dispute.opened'];
    readonly 'dispute.closed': (typeof disputeNotifications)['dispute.closed'];
  }
}

function disputeFacts(after: LaneState, object: MorObjectRow): DisputeFacts {
  const payment = after.payments.find((p) => p.id === object.paymentRowId);
  const { amount } = disputedOf(after, object);
  return {
    dispute_id: objectId(object),
    payment_id: payment === undefined ? null : nameOf(payment),
    processor_charge_id: payment?.processorChargeId ?? null,
    invoice_id: object.invoiceId,
    ...customerFacts(after),
    amount: number(amount?.minor ?? null),
    currency: currency(amount?.currency ?? null),
    console: `/console/disputes/${encodeURIComponent(object.id)}`,
  };
}

type DisputeStatus = 'open' | 'won' | 'lost' | null;

/**
 * Where the dispute stands for the backend. Null: not known, or its outcome is unclear and a person decides. A request
 * for evidence after an outcome opens the dispute again.
 */
function statusOf(object: MorObjectRow | undefined): DisputeStatus {
  if (object === undefined || object.kind !== 'dispute') return null;
  if (wantsEvidence(object)) return 'open';
  return object.status === 'won' || object.status === 'lost' ? object.status : null;
}

/**
 * Reports each change of a dispute's standing. The subject has the time of the MoR's event: the bank may decide again,
 * and each decision is a notification of its own. A repeat under another event id changes nothing.
 */
function disputes(before: LaneState, after: LaneState): readonly Notice[] {
  return after.objects.flatMap((o): Notice[] => {
    const status = statusOf(o);
    if (status === null || status === statusOf(before.objects.find((x) => x.id === o.id))) return [];
    const { saidAt = '', outcomeAt = '' } = o.detail;
    const facts = disputeFacts(after, o);
    if (status === 'open') {
      const subject = `${o.invoiceId}:${objectId(o)}:open:${saidAt}`;
      return [{ type: 'dispute.opened', subject, data: { ...facts, due_at: time(o.deadline) } }];
    }
    const data = { ...facts, outcome: status, amount_left: number(amountLeft(after)) };
    return [{ type: 'dispute.closed', subject: `${o.invoiceId}:${objectId(o)}:${status}:${outcomeAt}`, data }];
  });
}

export const tellDisputes = (before: LaneState, after: LaneState): readonly Notice[] =>
  whenNamed(before, after, disputes);
