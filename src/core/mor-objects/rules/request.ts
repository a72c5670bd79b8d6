// Requests for proforma invoices and payment links: their checks, the stored call, and the withdrawal.
import { showMoney } from '../../../shared/domain/money.js';
import { type CallKind } from '../../../shared/domain/call-row.js';
import { type LaneRows } from '../../../shared/domain/model.js';
import { isOver, isPayable } from '../../../shared/domain/status.js';
import {
  heardAt,
  isLiveProforma,
  isPayableLink,
  type MorObjectRow,
  newMorObject,
} from '../../../shared/domain/mor-object.js';
import { type InvoiceFacts } from '../../../shared/domain/ports/billing-platform.js';
import { type CallFailure, type WireRequest } from '../../../shared/domain/ports/call.js';
import { showTime } from '../../../shared/domain/show-time.js';
import { type Call } from '../../../engine/call.js';
import { refuse, type Result } from '../../../engine/commanded.js';
import { isUnsent, type Lane } from '../../../engine/lane.js';
import { applyLateRead } from '../../books/rules/invoice-facts.js';
import { isOfSharedCharge, moneyAnnounced, moneyOnItsWay, moneyUndecided } from '../../books/rules/open-money.js';
import { awaitsRetry } from '../../books/rules/awaited-verdict.js';

/** The code of a request that Crossbill refused or withdrew: the invoice needs no further payment. */
export const NOT_PAYABLE = 'invoice_not_payable';

export type ObjectRequest = {
  readonly kind: 'proforma' | 'payment_link';
  /** Our id, new for every request. The idempotency key comes from this id, not from the body. */
  readonly id: string;
  /**
   * The bytes to send; for a link they contain the key. Null: the request is incomplete, so Crossbill can only return
   * an existing object.
   */
  readonly wire: WireRequest | null;
  /** The due date of a proforma invoice. Null for a link: the MoR sets its end. */
  readonly until: Date | null;
  /** The invoice from a read of Stripe that began at `askedAt`. */
  readonly facts: InvoiceFacts;
  readonly askedAt: Date;
  readonly by: string;
};

/** The live proforma invoice, or the link the customer can pay. Null: none. */
export function findOpenObject<R extends MorObjectRow>(
  { objects }: { readonly objects: readonly R[] },
  kind: ObjectRequest['kind'],
  { now }: { readonly now: Date },
): R | null {
  return objects.findLast((o) => (kind === 'proforma' ? isLiveProforma(o) : isPayableLink(o, now))) ?? null;
}

/** Why a request for a link or a proforma invoice would be refused now, for the page before its form. Null: it would not. */
export function whyNotNow(
  rows: Pick<LaneRows, 'invoice' | 'payments' | 'objects' | 'reviews'>,
  now: Date,
): string | null {
  const { invoice: i, payments } = rows;
  if (i !== null && (isOver(i.platformStatus) || i.amountRemaining === 0n))
    return `the invoice is ${i.platformStatus}, so there is nothing to pay`;
  return moneyOnItsWay(payments) ?? moneyAnnounced(rows) ?? chargeAwaited(rows, now) ?? moneyUndecided(rows);
}

/** Stores the request with its key and bytes. If the invoice already has a live object, returns that object instead. */
export function requestObject(lane: Lane, req: ObjectRequest): Result<MorObjectRow> {
  const { kind, id, wire, facts, by, until } = req;
  // During the read at `askedAt` a worker may have marked the invoice, or an event may have arrived.
  applyLateRead(lane, facts, req.askedAt);
  const what = kind === 'proforma' ? 'proforma invoice' : 'payment link';
  const { amountRemaining: minor, currency } = facts;
  const status = lane.invoice?.platformStatus ?? facts.status;
  if (isOver(status) || minor <= 0n)
    return refuse(409, NOT_PAYABLE, `The invoice is ${status}: there is nothing to pay with a ${what}.`);
  const there = findOpenObject(lane, kind, lane);
  if (there !== null) return { ok: true, value: { ...there } };
  if (lane.invoice?.amountRemaining !== minor)
    return refuse(409, 'invoice_changed', 'The amount due has just changed: send the request again.');
  const coming = moneyOnItsWay(lane.payments) ?? moneyAnnounced(lane) ?? chargeAwaited(lane, lane.now);
  if (coming !== null)
    return refuse(
      409,
      NOT_PAYABLE,
      `Crossbill makes no ${what} now: ${coming}. Once that is settled, ask again for the amount still due.`,
    );
  const undecided = moneyUndecided(lane);
  if (undecided !== null) return refuse(409, NOT_PAYABLE, `Crossbill makes no ${what} now: ${undecided}.`);
  if (wire === null) return refuse(400, 'invalid_request', 'The request is not complete.');
  const { invoiceId } = facts;
  const own = { id, kind, invoiceId, status: 'REQUESTED', amount: minor, currency, deadline: until };
  const object = newMorObject(lane.now, own);
  askFor(lane, object, wire);
  lane.log('person', `${by} asked for a ${what} of ${showMoney({ minor, currency })}`, id);
  return { ok: true, value: object };
}

/** Stores the call with its key and bytes, and a row for the future object. Nobody answers an unsent call. */
export function askFor(lane: Lane, object: MorObjectRow, wire: WireRequest): void {
  const kind = `create_${object.kind}` as CallKind; // the feature of the object brings the call
  const row = lane.add('objects', object);
  if (isUnsent(lane.request({ peer: 'mor', kind, subject: object.id, wire }))) row.status = 'REFUSED';
}

/**
 * Returns a sentence for the API's caller if Crossbill has asked the MoR to charge the invoice again and still awaits
 * the verdict: a bank debit takes days. Null: Crossbill awaits no verdict, or the verdict is overdue, so a person
 * decides.
 */
function chargeAwaited(lane: Pick<LaneRows, 'invoice' | 'payments'>, now: Date): string | null {
  const by = lane.invoice?.expectedBy ?? null;
  if (!awaitsRetry(lane) || by === null || by.getTime() <= now.getTime()) return null;
  return `the MoR may be charging the invoice again; its answer is due by ${showTime(by)}`;
}

/** Records the deletion of a proforma invoice after our request. */
export function objectDeleted(lane: Lane, id: string, by: string): Result<MorObjectRow> {
  const o = lane.findObject(id);
  if (o === undefined) return refuse(404, 'not_found', 'There is no such proforma invoice.');
  if (o.status !== 'DELETED') {
    Object.assign(o, { status: 'DELETED', readDueAt: null, updatedAt: lane.now });
    lane.log('person', `${by} deleted proforma invoice ${o.number ?? o.morId ?? ''}`, o);
  }
  return { ok: true, value: { ...o } };
}

// ---- Requests without an object

/** Records a missing reply of the MoR. The engine sends the request again; the API's caller stops waiting. */
export function applySilence(lane: Lane, { object: o }: Call): void {
  if (o?.status !== 'REQUESTED') return;
  o.detail = { ...o.detail, unanswered: true };
  o.updatedAt = lane.now;
}

/** Records the MoR's final refusal. The caller gets the refusal, and the invoice shows it. */
export function applyRefusal(lane: Lane, { object: o }: Call, { status, code, message, errors }: CallFailure): void {
  if (o === undefined || o.morId !== null) return;
  o.detail = { ...o.detail, refusal: { status, code, message, errors } };
  Object.assign(o, { status: 'REFUSED', updatedAt: lane.now });
}

/**
 * Withdraws a request for a link or a proforma invoice before the MoR's reply, if the customer would pay twice.
 * Reasons: the invoice is over, another amount is due, or money for the invoice is announced, under way or undecided.
 * The MoR may have made the object before the withdrawal, so an item warns a person (`mayStand`).
 */
export const requestUnwanted = {
  unwanted: (lane: Lane, { object: o }: Call): string | null => {
    // The MoR announced a payment on the object, so the object exists: keep the request. A repeat of the request has
    // the same key, so the MoR returns the object's id, and Crossbill can read the object.
    if (o !== undefined && heardAt(o) !== null) return null;
    const status = lane.invoice?.platformStatus ?? 'unknown';
    if (isOver(status)) return `the invoice is ${status}`;
    return moneyOnItsWay(lane.payments) ?? moneyUndecided(lane) ?? moneyAnnounced(lane) ?? otherAmount(lane, o);
  },
  takenBack: (lane: Lane, { row, object: o }: Call, why: string): void => {
    if (o === undefined || o.morId !== null) return;
    const refusal = { status: 409, code: NOT_PAYABLE, message: `Crossbill withdrew the request: ${why}.`, errors: [] };
    // `attempts` counts only recorded tries. Even at 0 the first try may be under way, or a process may have died
    // before it recorded the try.
    const mayStand = row.attempts > 0 || row.createdAt < lane.now;
    o.detail = { ...o.detail, refusal, ...(mayStand ? { mayStand } : {}) };
    // `REPLACED` lets Crossbill request another automatic link later: for the amount then due, or after a person has
    // decided about a charge shared by two invoices.
    const isAsked = lane.reviews.some((r) => r.status === 'open' && isOfSharedCharge(r));
    o.status = (why === OTHER_AMOUNT || isAsked) && o.detail.automatic === true ? 'REPLACED' : 'REFUSED';
    o.updatedAt = lane.now;
  },
};

const OTHER_AMOUNT = 'another amount is due now';

/**
 * Returns the reason to withdraw the request if the customer would pay another amount than is due now. Null: the amount
 * is right.
 */
function otherAmount({ invoice }: LaneRows, object: Pick<MorObjectRow, 'amount'> | undefined): string | null {
  const amount = object?.amount ?? null;
  const due = isPayable(invoice) ? (invoice?.amountRemaining ?? null) : null;
  return amount === null || due === null || amount === due ? null : OTHER_AMOUNT;
}
