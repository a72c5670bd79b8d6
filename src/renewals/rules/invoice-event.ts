// What Stripe says of an invoice: its facts, and whether a verdict of the MoR is expected.
import { type LaneState } from '../../domain/model.js';
import { type Applied, done, ignored, type InvoiceEvent } from '../../domain/lane/event.js';
import { addMessage, type Ctx } from '../../domain/lane/change.js';
import { standingOf, takeMetadata } from '../../enrolment/rules/enrolment.js';
import { askAgain, takeEvent } from '../../domain/lane/facts.js';
import { isOver, SIGNUP_REASON } from '../../domain/status.js';
import { showMoney } from '../../domain/money.js';
import { takeAttemptAsked } from '../../retries/rules/take-refusal.js';

export function applyInvoice(s: LaneState, e: InvoiceEvent, ctx: Ctx): Applied {
  let state = takeEvent(s, ctx, e.type === 'invoice.deleted' ? { ...e.facts, status: 'deleted' } : e.facts, e.at);
  if (e.type === 'invoice.payment_attempt_required') state = takeAttemptAsked(state, ctx);
  state = takeMetadata(state, e.facts, ctx);
  const standing = standingOf(state, ctx);
  // Older than what we know, by its second or by our clock: Stripe is asked what is so now.
  if (e.facts.amountOverpaid > 0n && state.invoice?.amountOverpaid !== e.facts.amountOverpaid)
    state = askAgain(state, ctx);
  const signup = e.facts.billingReason === SIGNUP_REASON;
  const relayed = state.messages.some((m) => m.kind === 'relay_event' && m.subject === e.eventId);
  // Delivered late: to relay it now would have the MoR charge what was paid or given up meanwhile.
  const over = state.invoice !== null && isOver(state.invoice.platformStatus);
  if (e.type === 'invoice.created' && !signup && ctx.settings.relay && !relayed && !over && standing !== 'outside') {
    state = addMessage(state, ctx, {
      peer: 'relay',
      kind: 'relay_event',
      subject: e.eventId,
      wire: { method: 'POST', path: '', body: e.raw },
    });
  }
  if (standing === 'outside') return { state, verdict: ignored('not enrolled') };
  if (e.type !== 'invoice.created') return { state, verdict: done() };
  if (signup) return { state, verdict: ignored('paid at signup, not a renewal') };
  if (e.facts.amountDue === 0n) return { state, verdict: ignored('nothing is due') };
  if (standing === 'unknown') return { state, verdict: done('whether its customer is enrolled is looked up') };
  const due = showMoney({ minor: e.facts.amountDue, currency: e.facts.currency });
  return { state, verdict: done(`the MoR's verdict is expected for ${due}`) };
}
