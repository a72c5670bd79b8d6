// Items about disputes and alerts. Items about lost money are in features/losses/returns/rules/loss.ts.
import { disputedOf } from '../../../../shared/domain/dispute-sum.js';
import { type LaneRows } from '../../../../shared/domain/model.js';
import { type PaymentRow } from '../../../../shared/domain/payment-row.js';
import { asksAfterOutcome, type MorObjectRow, objectId } from '../../../../shared/domain/mor-object.js';
import { paymentName } from '../../../../shared/domain/payment-name.js';
import { type Holds, itemRule } from '../../../../engine/items.js';
import { ALERT_TIMEOUT_MS } from './limits.js';

/**
 * An item's `subject` is the dispute's id and stage. So a request for evidence after a win or a loss gets its own item.
 */
export const disputeItems = itemRule(
  {
    'evidence-due': 'the MoR wants other evidence, or the dispute is decided',
    'evidence-returned': 'the MoR wants other evidence, or the dispute is decided',
    'outcome-unclear': 'the outcome is clear, or the MoR has reopened the dispute',
  },
  function* (lane) {
    for (const o of lane.objects) {
      if (o.kind !== 'dispute') continue;
      const dispute = objectId(o);
      const { stage, outcome = null, outcomeHeardAt } = o.detail;
      const wanted = stage !== undefined && asksAfterOutcome(o) ? stage : o.status;
      if (wanted === 'action_needed' || wanted === 'revision_requested') yield askForEvidence(lane, o, wanted);
      const about = {
        kind: 'dispute',
        about: o,
        subject: `${dispute}:decided`,
        since: timeOf(outcomeHeardAt),
      } as const;
      if (o.status === 'decided') yield { ...about, fact: { code: 'outcome-unclear', dispute, outcome } };
    }
  },
);

function timeOf(heardAt: string | undefined): Date | null {
  return heardAt === undefined ? null : new Date(heardAt);
}

type Asked = Holds<'evidence-due' | 'evidence-returned'>;

/**
 * Makes the item for a request for evidence. If the request came after an outcome, the item's fact contains that
 * outcome. The fact then differs from the earlier item's, so a person's answer to the earlier item does not cover this
 * item.
 */
function askForEvidence(lane: LaneRows, object: MorObjectRow, stage: 'action_needed' | 'revision_requested'): Asked {
  const { outcome, reviewerNote = null, saidHeardAt } = object.detail;
  const dispute = objectId(object);
  const afterOutcome = asksAfterOutcome(object) ? (outcome ?? 'not given') : null;
  const asked = { dispute, until: object.deadline?.toISOString() ?? null, afterOutcome, url: object.url };
  const about = { kind: 'dispute', about: object, dueAt: object.deadline, since: timeOf(saidHeardAt) } as const;
  if (stage === 'action_needed')
    return { ...about, subject: dispute, fact: { code: 'evidence-due', ...asked, ...disputedOf(lane, object) } };
  const fact = { code: 'evidence-returned', ...asked, note: reviewerNote } as const;
  return { ...about, subject: `${dispute}:revision`, fact };
}

const ALERT_CLEARS = {
  'alert-received': 'the alert was handled',
  'alert-handled': 'the refund is recorded, or the alert was handled without a refund',
};

/**
 * Opens an item for an alert. Crossbill books nothing here, because a refund for the alert arrives as its own
 * `payment.refunded`.
 */
export const alertItems = itemRule(ALERT_CLEARS, function* (lane) {
  for (const o of lane.objects) {
    if (o.kind !== 'alert') continue;
    const alert = objectId(o);
    const p = lane.payments.find((x) => x.id === o.paymentRowId);
    const payment = p === undefined ? null : paymentName(p);
    const about = { kind: 'dispute', about: o } as const;
    if (o.status === 'received') {
      const fact = { code: 'alert-received', alert, payment, until: o.deadline?.toISOString() ?? null } as const;
      // The prefix keeps the alert's item apart from a dispute's. If both events name only the payment, alert and
      // dispute have the same id.
      yield { ...about, subject: `alert:${alert}`, dueAt: o.deadline, fact: { ...fact, ...disputedOf(lane, o) } };
    }
    const { refunded = null } = o.detail;
    if (o.status !== 'handled' || refunded === false || isRefunded(lane, o, p)) continue;
    const fact = { code: 'alert-handled', alert, payment, refunded: refunded === true } as const;
    yield { ...about, subject: `alert:${alert}:outcome`, fact };
  }
});

/**
 * True if the ledger has a refund for this alert. A refund from long before the alert does not count: it had another
 * reason.
 */
function isRefunded(lane: LaneRows, object: MorObjectRow, payment: PaymentRow | undefined): boolean {
  if (payment !== undefined && payment.amount !== null && payment.amountRefunded >= payment.amount) return true;
  const since = object.createdAt.getTime() - ALERT_TIMEOUT_MS;
  return lane.refunds.some(
    ({ status, paymentRowId, succeededAt }) =>
      status === 'succeeded' &&
      (payment === undefined || paymentRowId === payment.id) &&
      (succeededAt === null || succeededAt.getTime() >= since),
  );
}
