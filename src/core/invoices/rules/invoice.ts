// Records events about Stripe's invoice, and opens items about a stuck draft.
import { carries, ruleOf, enrolmentStatus } from '../../../shared/domain/enrolment.js';
import { showMoney } from '../../../shared/domain/money.js';
import { noteAttemptAsked } from '../../../shared/domain/retry.js';
import { SIGNUP_REASON } from '../../../shared/domain/status.js';
import { moveMark } from '../../../shared/domain/payment-row.js';
import { type Lane } from '../../../engine/lane.js';
import { done, ignored, type InvoiceEvent, type EventOutcome } from '../../../engine/event.js';
import { askAgain, requireRead, recordEvent } from '../../books/rules/invoice-facts.js';
import { itemRule } from '../../../engine/items.js';
import { DRAFT_TIMEOUT_MS } from '../../../shared/policy.js';
import { planFirstCharge } from './first-charge.js';
import { relayOnce } from './relay.js';
import { type ChoiceRule } from '../../../engine/commanded.js';

export function applyInvoice(lane: Lane, event: InvoiceEvent): EventOutcome {
  const { facts } = event;
  const before = lane.invoice?.platformStatus ?? 'unknown';
  const now = event.type === 'invoice.deleted' ? ({ ...facts, status: 'deleted' } as const) : facts;
  recordEvent(lane, now, event.at);
  const i = lane.invoice;
  const isCreated = event.type === 'invoice.created';
  if (i !== null) {
    if (isCreated && facts.status === 'draft') i.draftedDue = facts.amountDue;
    if (event.type === 'invoice.payment_attempt_required') i.retries = noteAttemptAsked(i.retries, event.at);
    // The subscription's metadata enrols the invoice at once, without a lookup.
    if (carries(facts.metadata, ruleOf(lane))) i.enrolled = true;
  }
  // The order of two events from the same second is unknown. If this event and our facts differ in the overpaid amount,
  // Crossbill reads the invoice again.
  const overpaid = facts.amountOverpaid ?? 0n;
  if (overpaid > 0n && lane.invoice?.amountOverpaid !== overpaid) askAgain(lane);
  const enrolment = enrolmentStatus(lane);
  const isSignup = facts.billingReason === SIGNUP_REASON;
  planFirstCharge(lane, before);
  if (isCreated && !isSignup && enrolment !== 'outside' && mayRelay(lane)) relayOnce(lane, event);
  if (enrolment === 'outside') return ignored('not enrolled');
  if (!isCreated) return done();
  if (isSignup) return ignored('paid at signup, not a renewal');
  if (facts.amountDue === 0n)
    return ignored(facts.status === 'draft' ? 'nothing is due yet: the final invoice decides' : 'nothing is due');
  if (enrolment === 'unknown') return done('Crossbill checks whether its customer is enrolled');
  const due = showMoney({ minor: facts.amountDue, currency: facts.currency });
  if (lane.invoice?.relayDueAt && facts.status === 'draft')
    return done(`the MoR is asked to charge it once it is final; ${due} now`);
  return done(`the MoR's verdict is expected for ${due}`);
}

/**
 * True if Crossbill relays this event of Stripe. With MOR_RELAY_EVENTS=finalized, another `invoice.created` after a
 * refusal still asks for a retry (Document 3, "What the service does", 5).
 */
function mayRelay({ settings, invoice }: Lane): boolean {
  return settings.relay === 'created' || (settings.relay === 'finalized' && (invoice?.retries ?? null) !== null);
}

const NO_DRAFT = 'the invoice is no longer a draft, or Crossbill tries it again';

/** Items for a draft Stripe could not finalize, and for an unfinalized draft with a waiting payment. */
export const draftItems = itemRule({ 'finalization-failed': NO_DRAFT, 'draft-waits': NO_DRAFT }, function* (lane) {
  const { invoice: i, payments } = lane;
  if (i === null || i.platformStatus !== 'draft') return;
  const item = { kind: 'finalization_failed', about: { id: i.invoiceId } } as const;
  if (i.finalizationError !== null) {
    const fact = { code: 'finalization-failed', invoice: i.invoiceId, said: i.finalizationError } as const;
    const paymentRowId = payments.find((p) => p.mark === 'held' || p.mark === 'waiting')?.id ?? null;
    yield { ...item, paymentRowId, fact };
    return;
  }
  const p = payments.find((x) => x.mark === 'held' && lane.age(x.recordedAt) >= DRAFT_TIMEOUT_MS);
  if (p === undefined || p.amount === null) return;
  const taken = { minor: p.amount, currency: p.currency };
  yield { ...item, paymentRowId: p.id, fact: { code: 'draft-waits', taken, since: p.recordedAt.toISOString() } };
});

/** Carries out a person's choice. After `retry` Crossbill tries every payment waiting for the draft again. */
export const chooseDraft: ChoiceRule = (lane, _, { resolution }) => {
  if (resolution !== 'retry' || lane.invoice === null) return null;
  lane.invoice.finalizationError = null; // otherwise the old error would open the item again
  for (const p of lane.payments) if (p.mark === 'held') moveMark(p, 'waiting');
  requireRead(lane);
  return null;
};
