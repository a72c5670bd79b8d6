// What Stripe says of an invoice: its facts, and whether a verdict of the MoR is expected.
import { type LaneState } from '../../domain/model.js';
import { type Applied, done, ignored, type InvoiceEvent } from '../../engine/event.js';
import { addMessage, type Ctx, note } from '../../engine/change.js';
import { standingOf, takeMetadata } from '../../enrolment/rules/enrolment.js';
import { askAgain, takeEvent } from '../../engine/facts.js';
import { isOver, SIGNUP_REASON } from '../../domain/status.js';
import { showMoney } from '../../domain/money.js';
import { awaitsRelay } from './relay.js';
import { takeAttemptAsked } from '../../retries/rules/refusal.js';
import { decide } from '../../engine/adapter.js';

export function applyInvoice(s: LaneState, e: InvoiceEvent, ctx: Ctx): Applied {
  let state = takeEvent(s, ctx, e.type === 'invoice.deleted' ? { ...e.facts, status: 'deleted' } : e.facts, e.at);
  if (e.type === 'invoice.payment_attempt_required') state = decide(state, ctx, (lane) => takeAttemptAsked(lane, e.at));
  state = takeMetadata(state, e.facts, ctx);
  const standing = standingOf(state, ctx);
  // Older than what we know, by its second or by our clock: Stripe is asked what is so now.
  const overpaid = e.facts.amountOverpaid ?? 0n;
  if (overpaid > 0n && state.invoice?.amountOverpaid !== overpaid) state = askAgain(state, ctx);
  const signup = e.facts.billingReason === SIGNUP_REASON;
  if (e.type === 'invoice.created' && !signup && ctx.settings.relay && standing !== 'outside')
    state = relayOnce(state, e, ctx);
  if (standing === 'outside') return { state, verdict: ignored('not enrolled') };
  if (e.type !== 'invoice.created') return { state, verdict: done() };
  if (signup) return { state, verdict: ignored('paid at signup, not a renewal') };
  if (e.facts.amountDue === 0n) return { state, verdict: ignored('nothing is due') };
  if (standing === 'unknown') return { state, verdict: done('whether its customer is enrolled is looked up') };
  const due = showMoney({ minor: e.facts.amountDue, currency: e.facts.currency });
  return { state, verdict: done(`the MoR's verdict is expected for ${due}`) };
}

function relayOnce(s: LaneState, e: InvoiceEvent, ctx: Ctx): LaneState {
  const relayed = s.messages.some((m) => m.kind === 'relay_event' && m.subject === e.eventId);
  // Delivered late: to relay it now would have the MoR charge what was paid or given up meanwhile.
  if (relayed || (s.invoice !== null && isOver(s.invoice.platformStatus))) return s;
  const trail = s.invoice?.retries ?? null;
  // Relayed, it would be a retry beside those of the schedule, which does not know that the MoR was asked.
  if (trail !== null && trail.ended === null && ctx.settings.retrySchedule !== null)
    return note(
      decide(s, ctx, (lane) => takeAttemptAsked(lane, e.at)),
      ctx,
      'decision',
      'not relayed: the schedule of retries says when the MoR charges it again',
      e.eventId,
    );
  if (awaitsRelay(s))
    return note(
      s,
      ctx,
      'decision',
      'not relayed: the MoR was asked to charge it before, and has not answered',
      e.eventId,
    );
  const wire = { method: 'POST', path: '', body: e.raw } as const;
  return addMessage(s, ctx, { peer: 'relay', kind: 'relay_event', subject: e.eventId, wire });
}
