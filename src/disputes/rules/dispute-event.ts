// What the MoR says of a dispute or of an alert that comes before one.
import { type LaneState, type PaymentRow } from '../../domain/model.js';
import { idsIn, type MorServiceEvent } from '../../domain/events/mor-service-event.js';
import { dashboardIn, deadlineIn, idNamed, sumIn, textNamed } from '../../mor-objects/rules/channel-fields.js';
import { isJsonObject } from '../../domain/events/json-body.js';
import { asksAfterOutcome, type MorObjectRow } from '../../domain/mor-object.js';
import { type DisputeOutcome, outcomeIn, refundedIn } from './outcome.js';
import { type Ctx, putObject } from '../../engine/change.js';
import { type Applied, done } from '../../engine/event.js';
import { objectOf, paymentNamed } from '../../mor-objects/rules/mor-object.js';
import { DISPUTE_NAMES_MOST } from '../../policy.js';
import { showTime } from '../../domain/show-time.js';

/** What an event about a dispute or an alert is about: its own id, else the payment it names, else the event. */
function entityOf(
  s: LaneState,
  e: MorServiceEvent,
  kind: 'dispute' | 'alert',
  payment: PaymentRow | null,
  ...names: string[]
): string {
  const named = idNamed(e.data, ...names);
  if (named !== null) return named;
  const inside = e.data['dispute'] ?? e.data['alert'];
  const within = isJsonObject(inside) ? idNamed(inside, 'id') : null;
  const own = typeof e.data['id'] === 'string' ? idNamed({ id: e.data['id'] }, 'id') : null;
  if (within !== null || own !== null) return within ?? own ?? e.eventId;
  if (payment === null) return e.eventId;
  // By our id of its payment, if the payment had no other when the first event came.
  const known = s.objects.some((o) => o.kind === kind && o.morId === payment.id);
  return known ? payment.id : (payment.paymentId ?? payment.id);
}

/** Of two outcomes the later one counts, in whatever order they came; words that are not understood overrule none that were. */
function overrules(o: MorObjectRow, outcome: DisputeOutcome, at: Date): boolean {
  const before = o.detail.outcomeAt === undefined ? -Infinity : new Date(o.detail.outcomeAt).getTime();
  const isClear = o.status === 'won' || o.status === 'lost';
  if (outcome === 'decided') return !isClear && at.getTime() >= before;
  if (!isClear) return true;
  // Of the same moment: a loss comes before it is taken back.
  return at.getTime() > before || (at.getTime() === before && outcome === 'won');
}

/** Words that were not clear ended nothing if evidence was asked for after them. A win or a loss stands until another is told. */
function standing(o: MorObjectRow, outcome: DisputeOutcome): MorObjectRow {
  const { stage } = o.detail;
  return { ...o, status: outcome === 'decided' && stage !== undefined && asksAfterOutcome(o) ? stage : outcome };
}

export function applyDispute(s: LaneState, e: MorServiceEvent, ctx: Ctx): Applied {
  const payment = paymentNamed(s, new Set(idsIn(e.data)));
  const morId = entityOf(s, e, 'dispute', payment, 'disputeId', 'dispute_id');
  const o = objectOf(s, 'dispute', morId, ctx);
  const at = e.createdAt ?? ctx.now;
  const base = withPayment(o, payment, e, ctx);
  if (e.kind === 'dispute.outcome') {
    const { outcome, said } = outcomeIn(e.data);
    if (!overrules(o, outcome, at))
      return {
        state: putObject(s, base),
        verdict: done(`dispute ${morId} is ${o.status}: this outcome changes nothing`),
      };
    const row = standing({ ...base, detail: { ...base.detail, outcome: said, outcomeAt: at.toISOString() } }, outcome);
    return { state: putObject(s, row), verdict: done(`dispute ${morId} is decided: ${said ?? 'no outcome given'}`) };
  }
  return applyWanted(s, e, { o, base, at });
}

/** Evidence is wanted. What is older than the outcome is kept beside it, as the outcome may turn out to be an older one. */
function applyWanted(
  s: LaneState,
  e: MorServiceEvent,
  { o, base, at }: { readonly o: MorObjectRow; readonly base: MorObjectRow; readonly at: Date },
): Applied {
  const morId = base.morId ?? base.id;
  const late = done(`late: dispute ${morId} is ${o.status}`);
  if (o.detail.saidAt !== undefined && o.detail.saidAt > at.toISOString())
    return { state: putObject(s, base), verdict: late };
  const stage = e.kind === 'dispute.action_needed' ? 'action_needed' : 'revision_requested';
  const deadline = deadlineIn(e.data) ?? o.deadline;
  const reviewerNote = textNamed(e.data, 'reviewerNote', 'note', 'reviewNote') ?? o.detail.reviewerNote ?? null;
  const detail = { ...base.detail, reviewerNote, stage, saidAt: at.toISOString() } as const;
  const told: MorObjectRow = { ...base, deadline, detail };
  const outcome = outcomeOf(o);
  if (outcome === null)
    return { state: putObject(s, { ...told, status: stage }), verdict: wantedUntil(morId, deadline) };
  const verdict = asksAfterOutcome(told) ? wantedUntil(morId, deadline) : late;
  return { state: putObject(s, standing(told, outcome)), verdict };
}

/** What became of it so far, though it may have gone on since. Null: nothing yet. */
function outcomeOf({ status, detail }: MorObjectRow): DisputeOutcome | null {
  if (status === 'won' || status === 'lost') return status;
  return detail.outcomeAt === undefined ? null : 'decided';
}

function wantedUntil(morId: string, deadline: Date | null): Applied['verdict'] {
  const until = deadline === null ? 'no deadline given' : `until ${showTime(deadline)}`;
  return done(`dispute ${morId}, ${until}; the invoice stays as it is`);
}

const PAYMENT_NAMES = [
  ...['paymentId', 'paymentReference', 'payment', 'pspReference', 'processorChargeId', 'chargeId', 'charge'],
  ...['processorPaymentIntentId', 'paymentIntentId', 'paymentIntent'],
] as const;

function withPayment(o: MorObjectRow, payment: PaymentRow | null, e: MorServiceEvent, ctx: Ctx): MorObjectRow {
  const at = (e.createdAt ?? ctx.now).toISOString();
  const named = PAYMENT_NAMES.flatMap((name) => idNamed(e.data, name) ?? []);
  const names = [...new Set([...(o.detail.names ?? []), ...named])].sort().slice(0, DISPUTE_NAMES_MOST);
  const row: MorObjectRow = {
    ...o,
    paymentRowId: o.paymentRowId ?? payment?.id ?? null,
    url: dashboardIn(e.data) ?? o.url,
    detail: { ...o.detail, names },
    updatedAt: ctx.now,
  };
  // The amount that was said last counts, in whatever order it came.
  const amount = sumIn(e.data);
  const { amountAt = '', unread } = o.detail;
  if (typeof amount === 'string') {
    const isOlder = unread !== undefined && (at < unread.at || (at === unread.at && amount < unread.said));
    return isOlder ? row : { ...row, detail: { ...row.detail, unread: { said: amount, at } } };
  }
  if (amount === null || at < amountAt || (at === amountAt && amount.minor < (o.amount ?? 0n))) return row;
  return { ...row, amount: amount.minor, currency: amount.currency, detail: { ...row.detail, amountAt: at } };
}

export function applyAlert(s: LaneState, e: MorServiceEvent, ctx: Ctx): Applied {
  const payment = paymentNamed(s, new Set(idsIn(e.data)));
  const morId = entityOf(s, e, 'alert', payment, 'alertId', 'alert_id', 'preChargebackAlertId');
  const o = objectOf(s, 'alert', morId, ctx);
  const base = withPayment(o, payment, e, ctx);
  if (e.kind === 'pre_chargeback_alert.outcome') {
    const refunded = refundedIn(e.data);
    const row: MorObjectRow = { ...base, status: 'handled', detail: { ...base.detail, refunded } };
    const what = refunded === true ? 'the payment was refunded' : refunded === false ? 'not refunded' : 'handled';
    return { state: putObject(s, row), verdict: done(`alert ${morId}: ${what}`) };
  }
  const status = o.status === 'handled' ? o.status : 'received';
  const row: MorObjectRow = { ...base, status, deadline: deadlineIn(e.data) ?? o.deadline };
  return { state: putObject(s, row), verdict: done(`alert ${morId}; the invoice stays as it is`) };
}
