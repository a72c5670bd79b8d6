// Records the MoR's events about disputes and about the alerts before them. Document 2 does not show the fields of
// these events.
import { type Mutable } from '../../../../shared/domain/row.js';
import { isObject, type JsonObject } from '@crossbill/mor/read.js';
import { idsIn, type MorServiceEvent } from '../../../../shared/domain/events/mor-service-event.js';
import {
  dashboardIn,
  deadlineIn,
  idNamed,
  named,
  sumIn,
  textNamed,
  wordNamed,
} from '../../../../shared/domain/events/payload-fields.js';
import { type LaneRows } from '../../../../shared/domain/model.js';
import { type PaymentRow } from '../../../../shared/domain/payment-row.js';
import { type ReviewRow } from '../../../../shared/domain/review-row.js';
import { asksAfterOutcome, type MorObjectRow, objectId } from '../../../../shared/domain/mor-object.js';
import { showTime } from '../../../../shared/domain/show-time.js';
import { isCode } from '../../../../shared/domain/foreign-words.js';
import { type Lane } from '../../../../engine/lane.js';
import { done, type EventOutcome } from '../../../../engine/event.js';
import { onlyTaken, paymentNamed } from '../../../../core/books/rules/payment-rows.js';
import { findOrAddObject } from '../../../../core/mor-objects/rules/mor-object.js';
import { DISPUTE_NAMES_MOST } from './limits.js';

/** The id of a dispute or an alert: the first known of its own id, its payment's id and the event's id. */
function entityOf(
  lane: LaneRows,
  event: MorServiceEvent,
  kind: 'dispute' | 'alert',
  payment: PaymentRow | null,
  ...names: string[]
): string {
  const named = idNamed(event.data, ...names);
  if (named !== null) return named;
  const inside = event.data['dispute'] ?? event.data['alert'];
  const within = isObject(inside) ? idNamed(inside, 'id') : null;
  const own = typeof event.data['id'] === 'string' ? idNamed({ id: event.data['id'] }, 'id') : null;
  if (within !== null || own !== null) return within ?? own ?? event.eventId;
  if (payment === null) return event.eventId;
  // An earlier event may have arrived before Crossbill knew the MoR's payment id. That event's dispute then has
  // Crossbill's own payment id as its id, so this event must use the same id.
  const known = lane.objects.some((o) => o.kind === kind && o.morId === payment.id);
  return known ? payment.id : (payment.paymentId ?? payment.id);
}

/**
 * True if this outcome replaces the known one. The later of two outcomes counts, in any order of arrival. An unclear
 * outcome never replaces a clear one.
 */
function overrules(object: MorObjectRow, outcome: DisputeOutcome, at: Date): boolean {
  const before = object.detail.outcomeAt === undefined ? -Infinity : new Date(object.detail.outcomeAt).getTime();
  const isClear = object.status === 'won' || object.status === 'lost';
  if (outcome === 'decided') return !isClear && at.getTime() >= before;
  if (!isClear) return true;
  // If a win and a loss have the same time, the win counts: the bank has reversed the loss, so the loss came first.
  return at.getTime() > before || (at.getTime() === before && outcome === 'won');
}

/**
 * Sets the dispute's status after an outcome. A win or a loss becomes the status. After an unclear outcome, a later
 * request of the MoR for evidence stays the status, because the dispute continues.
 */
function stand(object: Mutable<MorObjectRow>, outcome: DisputeOutcome): void {
  const { stage } = object.detail;
  object.status = outcome === 'decided' && stage !== undefined && asksAfterOutcome(object) ? stage : outcome;
}

export function applyDispute(lane: Lane, event: MorServiceEvent): EventOutcome {
  const payment = paymentNamed(lane, new Set(idsIn(event.data)));
  const morId = entityOf(lane, event, 'dispute', payment, 'disputeId', 'dispute_id');
  const o = findOrAddObject(lane, 'dispute', morId);
  const at = event.createdAt ?? lane.now;
  nameFrom(lane, o, payment, event);
  if (event.kind !== 'dispute.outcome') return applyWanted(lane, o, event, at);
  const { outcome, said } = outcomeIn(event.data);
  if (!overrules(o, outcome, at)) return done(`dispute ${morId} is ${o.status}: this outcome changes nothing`);
  const { outcomeHeardAt: before, saidHeardAt } = o.detail;
  const isRepeat = o.detail.outcome === said && outcomeOf(o) === outcome;
  const outcomeHeardAt = isRepeat ? heardFirst(before, saidHeardAt, lane.now) : lane.now.toISOString();
  o.detail = { ...o.detail, outcome: said, outcomeAt: at.toISOString(), outcomeHeardAt };
  stand(o, outcome);
  const word = said === null ? 'no outcome given' : isCode(said) ? said : o.status;
  return done(`dispute ${morId} is decided: ${word}`);
}

/**
 * Records the MoR's request for evidence. If the dispute has an outcome already, only a request later than the outcome
 * changes its status.
 */
function applyWanted(lane: Lane, object: Mutable<MorObjectRow>, event: MorServiceEvent, at: Date): EventOutcome {
  const morId = object.morId ?? object.id;
  const late = done(`late event: dispute ${morId} is ${object.status}`);
  if (object.detail.saidAt !== undefined && object.detail.saidAt > at.toISOString()) return late;
  const outcome = outcomeOf(object);
  const stage = event.kind === 'dispute.action_needed' ? 'action_needed' : 'revision_requested';
  const reviewerNote =
    textNamed(event.data, 'reviewerNote', 'note', 'reviewNote') ?? object.detail.reviewerNote ?? null;
  object.deadline = deadlineIn(event.data) ?? object.deadline;
  const { saidHeardAt: before, outcomeHeardAt } = object.detail;
  const saidHeardAt =
    object.detail.stage === stage ? heardFirst(before, outcomeHeardAt, lane.now) : lane.now.toISOString();
  const said = { saidAt: at.toISOString(), saidHeardAt };
  object.detail = { ...object.detail, reviewerNote, stage, ...said };
  if (outcome === null) object.status = stage;
  else stand(object, outcome);
  return outcome === null || asksAfterOutcome(object) ? wantedUntil(morId, object.deadline) : late;
}

/**
 * When Crossbill first received this news of the MoR. The same news under another event id is not new, unless other news
 * came in between: a person who dismissed it knew it.
 */
function heardFirst(before: string | undefined, otherNews: string | undefined, now: Date): string {
  return before === undefined || (otherNews !== undefined && otherNews > before) ? now.toISOString() : before;
}

/** The outcome so far, even if the dispute continues. Null: none yet. */
function outcomeOf({ status, detail }: MorObjectRow): DisputeOutcome | null {
  if (status === 'won' || status === 'lost') return status;
  return detail.outcomeAt === undefined ? null : 'decided';
}

function wantedUntil(morId: string, deadline: Date | null): EventOutcome {
  const until = deadline === null ? 'no deadline given' : `due by ${showTime(deadline)}`;
  return done(`evidence for dispute ${morId}, ${until}; the invoice stays as it is`);
}

const PAYMENT_NAMES = [
  ...['paymentId', 'paymentReference', 'payment', 'pspReference', 'processorChargeId', 'chargeId', 'charge'],
  ...['processorPaymentIntentId', 'paymentIntentId', 'paymentIntent'],
] as const;

/** Stores the amount, the payment and the address at the MoR, if the event names them. */
function nameFrom(lane: Lane, object: Mutable<MorObjectRow>, payment: PaymentRow | null, event: MorServiceEvent): void {
  const at = (event.createdAt ?? lane.now).toISOString();
  const named = PAYMENT_NAMES.flatMap((name) => idNamed(event.data, name) ?? []);
  const names = [...new Set([...(object.detail.names ?? []), ...named])].sort().slice(0, DISPUTE_NAMES_MOST);
  object.paymentRowId ??= payment?.id ?? null;
  object.url = dashboardIn(event.data) ?? object.url;
  object.detail = { ...object.detail, names };
  object.updatedAt = lane.now;
  // The latest amount counts, in any order of arrival.
  const amount = sumIn(event.data);
  const { amountAt = '', unread } = object.detail;
  if (typeof amount === 'string') {
    const isOlder = unread !== undefined && (at < unread.at || (at === unread.at && amount < unread.said));
    if (!isOlder) object.detail = { ...object.detail, unread: { said: amount, at } };
    return;
  }
  if (amount === null || at < amountAt || (at === amountAt && amount.minor < (object.amount ?? 0n))) return;
  object.amount = amount.minor;
  object.currency = amount.currency;
  object.detail = { ...object.detail, amountAt: at };
}

export function applyAlert(lane: Lane, event: MorServiceEvent): EventOutcome {
  const payment = paymentNamed(lane, new Set(idsIn(event.data)));
  const morId = entityOf(lane, event, 'alert', payment, 'alertId', 'alert_id', 'preChargebackAlertId');
  const o = findOrAddObject(lane, 'alert', morId);
  nameFrom(lane, o, payment, event);
  if (event.kind === 'pre_chargeback_alert.outcome') {
    const refunded = refundedIn(event.data);
    o.status = 'handled';
    o.detail = { ...o.detail, refunded };
    const what = refunded === true ? 'the payment was refunded' : refunded === false ? 'not refunded' : 'handled';
    return done(`alert ${morId}: ${what}`);
  }
  if (o.status !== 'handled') o.status = 'received';
  o.deadline = deadlineIn(event.data) ?? o.deadline;
  return done(`alert ${morId}; the invoice stays as it is`);
}

/**
 * Connects a dispute with its payment, because the dispute may arrive before the payment. Chooses the payment with one
 * of the dispute's ids. If no payment has such an id, chooses the only payment the MoR took on the invoice.
 */
export function nameDisputed(lane: Lane): void {
  const taken = lane.payments.filter((p) => p.succeededAt !== null);
  for (const o of lane.objects) {
    if (o.kind !== 'dispute' && o.kind !== 'alert') continue;
    const names = o.detail.names ?? [];
    const idsOf = (payment: PaymentRow) => [
      payment.paymentId,
      payment.id,
      payment.processorChargeId,
      payment.processorPaymentIntentId,
    ];
    const own = taken.find((p) => idsOf(p).some((id) => id !== null && names.includes(id)));
    const only = o.paymentRowId === null ? onlyTaken(lane, names) : null;
    o.paymentRowId = (own ?? only)?.id ?? o.paymentRowId;
  }
}

export type DisputeOutcome = 'won' | 'lost' | 'decided';

/**
 * Document 2 does not list the words of an outcome. Only these words end a dispute; for any other word a person
 * decides.
 */
const WON: ReadonlySet<string> = new Set(['won', 'merchant_won']);
const LOST: ReadonlySet<string> = new Set(['lost', 'merchant_lost']);
/** The MoR's own word, and its form as a code: "Merchant won" is `merchant_won`. */
function outcomeWord(data: JsonObject): { readonly said: string | null; readonly code: string } {
  const said = wordNamed(data, 'outcome', 'result', 'resolution', 'status');
  return { said, code: (said ?? '').toLowerCase().replace(/[\s-]+/g, '_') };
}

/**
 * Reads the outcome of a dispute. For an unknown word the outcome is `decided`, and a person decides: a wrong guess
 * would book a loss or close an item. `said`: the MoR's own word.
 */
export function outcomeIn(data: JsonObject): { readonly outcome: DisputeOutcome; readonly said: string | null } {
  const { said, code } = outcomeWord(data);
  if (WON.has(code)) return { outcome: 'won', said };
  return { outcome: LOST.has(code) ? 'lost' : 'decided', said };
}

/**
 * True if the alert's outcome says the payment was refunded. Null if the outcome does not say, or uses an unknown word.
 */
export function refundedIn(data: JsonObject): boolean | null {
  const flag = named(data, ['refunded', 'paymentrefunded'], (value) => (typeof value === 'boolean' ? value : null));
  if (flag !== null) return flag;
  const { code } = outcomeWord(data);
  return code === 'refunded' ? true : code === 'not_refunded' ? false : null;
}

/** True if the item is about this dispute. The item's subject is the dispute's id with its stage (rules/items.ts). */
export function asksAbout({ kind, subject }: ReviewRow, object: MorObjectRow): boolean {
  const name = object.kind === 'alert' ? `alert:${objectId(object)}` : objectId(object);
  return (
    kind === 'dispute' &&
    (object.kind === 'dispute' || object.kind === 'alert') &&
    (subject === name || subject.startsWith(`${name}:`))
  );
}
