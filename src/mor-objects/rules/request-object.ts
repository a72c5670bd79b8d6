// What the merchant asks for on an invoice: a proforma invoice or a payment link, and taking a proforma invoice back.
import { showMoney } from '../../domain/money.js';
import { type LaneState } from '../../domain/model.js';
import { isOver } from '../../domain/status.js';
import { isLiveProforma, isPayableLink, type MorObjectRow, newMorObject } from '../../domain/mor-object.js';
import { type InvoiceFacts } from '../../domain/ports/billing-platform.js';
import { type WireRequest } from '../../domain/ports/call.js';
import { type Commanded, refuse, refuseInShadow } from '../../engine/commanded.js';
import { askFor, type Ctx, note, putObject } from '../../engine/change.js';
import { takeLateRead } from '../../engine/facts.js';
import { showTime } from '../../domain/show-time.js';
import { awaitsRetry } from '../../engine/payment.js';
import { NOT_PAYABLE } from './withdraw.js';
import { moneyAnnounced, moneyOnItsWay, moneyUndecided } from '../../engine/open-money.js';

export type ObjectRequest = {
  readonly kind: 'proforma' | 'payment_link';
  /** Ours, new for every submission: the key is made of it, never of the body. */
  readonly id: string;
  /** The bytes to send; a link's hold its key. Null: the request is not complete, so nothing new can be made of it. */
  readonly wire: WireRequest | null;
  /** Until when a proforma invoice is to be paid; null: a link, whose end the MoR names. */
  readonly until: Date | null;
  /** The invoice, as it was read when the platform was asked for it at `askedAt`. */
  readonly facts: InvoiceFacts;
  readonly askedAt: Date;
  readonly by: string;
};

/** The live proforma invoice, or the link that can still be paid; null: none. */
export function standing(s: Pick<LaneState, 'objects'>, kind: ObjectRequest['kind'], ctx: Ctx): MorObjectRow | null {
  const live = kind === 'proforma' ? isLiveProforma : (o: MorObjectRow): boolean => isPayableLink(o, ctx.now);
  return s.objects.findLast(live) ?? null;
}

/** Writes the request down with its key and bytes, unless one stands already: then that one is given. */
export function requestObject(s: LaneState, req: ObjectRequest, ctx: Ctx): Commanded<MorObjectRow> {
  if (ctx.settings.shadow === true) return refuseInShadow();
  const { kind, id, wire, facts, by, until } = req;
  // The read, and what else was asked for, took its time: a worker may have marked the invoice meanwhile, or an event have come.
  const read = takeLateRead(s, ctx, facts, req.askedAt);
  const what = kind === 'proforma' ? 'proforma invoice' : 'payment link';
  const { amountRemaining: minor, currency } = facts;
  const status = read.invoice?.platformStatus ?? facts.status;
  if (isOver(status) || minor <= 0n) {
    return refuse(409, NOT_PAYABLE, `The invoice is ${status}: there is nothing to pay with a ${what}.`);
  }
  const there = standing(read, kind, ctx);
  if (there !== null) return { ok: true, state: read, value: there };
  if (read.invoice?.amountRemaining !== minor)
    return refuse(409, 'invoice_changed', 'The amount due changed while the invoice was read: send the request again.');
  const coming = moneyOnItsWay(read.payments) ?? moneyAnnounced(read) ?? chargeAwaited(read, ctx);
  if (coming !== null)
    return refuse(
      409,
      NOT_PAYABLE,
      `No ${what} is made: ${coming}. Once that is settled, ask again for what is still due.`,
    );
  const undecided = moneyUndecided(read);
  if (undecided !== null) return refuse(409, NOT_PAYABLE, `No ${what} is made: ${undecided}.`);
  if (wire === null) return refuse(400, 'invalid_request', 'The request is not complete.');
  const object = newMorObject(ctx.now, {
    id,
    kind,
    invoiceId: facts.invoiceId,
    status: 'REQUESTED',
    amount: minor,
    currency,
    deadline: until,
  });
  const state = askFor(read, object, wire, ctx);
  const said = `${by} asked for a ${what} of ${showMoney({ minor, currency })}`;
  return { ok: true, state: note(state, ctx, 'person', said, id), value: object };
}

/** The MoR may be charging it again, as it was asked to: a debit takes days. When its answer is overdue a person decides. */
function chargeAwaited(s: LaneState, ctx: Ctx): string | null {
  const by = s.invoice?.expectedBy ?? null;
  if (!awaitsRetry(s) || by === null || by.getTime() <= ctx.now.getTime()) return null;
  return `the MoR may be charging it again, and its answer is awaited until ${showTime(by)}`;
}

/** The MoR has deleted a proforma invoice, as we asked. */
export function objectDeleted(s: LaneState, id: string, by: string, ctx: Ctx): Commanded<MorObjectRow> {
  const o = s.objects.find((x) => x.id === id);
  if (o === undefined) return refuse(404, 'not_found', 'There is no such proforma invoice.');
  if (o.status === 'DELETED') return { ok: true, state: s, value: o };
  const gone: MorObjectRow = { ...o, status: 'DELETED', readDueAt: null, updatedAt: ctx.now };
  const said = `${by} deleted proforma invoice ${o.number ?? o.morId ?? ''}`;
  return { ok: true, state: note(putObject(s, gone), ctx, 'person', said, id), value: gone };
}
