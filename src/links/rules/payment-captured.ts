// The MoR says that a payment was captured (`payment.captured`): on a link of ours, or by card.
import { type LaneState, type PaymentRow } from '../../domain/model.js';
import { idsIn, type MorServiceEvent } from '../../domain/events/mor-service-event.js';
import { type Ctx, messageKey, putObject, putPayment, sendAgain } from '../../engine/change.js';
import { type Applied, done } from '../../engine/event.js';
import {
  backInPlay,
  closeAsked,
  has,
  isTakenBack,
  objectOf,
  paymentNamed,
} from '../../mor-objects/rules/mor-object.js';
import { notConfirmed } from '../../mor-objects/rules/withdraw.js';
import { amountIn, idNamed, timeNamed } from '../../mor-objects/rules/channel-fields.js';
import { announcedAt, announcedOn, isSameMoney, type MorObjectRow, type Observation } from '../../domain/mor-object.js';
import { sameMoney } from '../../domain/money.js';
import { nameFirst } from './settle-announced.js';
import { proven } from '../../signups/rules/prove-charge.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * `payment.captured`: on a link of ours it is kept as one more announcement, and the link is read to confirm the first. A card payment is recorded by its own event
 * of Document 3; here only the MoR's uuid of it is kept.
 */
export function applyCaptured(s: LaneState, e: MorServiceEvent, ctx: Ctx): Applied {
  const ids = new Set(idsIn(e.data));
  const link = s.objects.find(
    (o) => o.kind === 'payment_link' && (has(ids, o.morId) || ids.has(messageKey('create_payment_link', o.id, 1))),
  );
  if (link !== undefined) {
    const x = observationIn(e, ctx);
    const isOpen = link.paymentRowId === null;
    const row: MorObjectRow = {
      ...link,
      detail: { ...link.detail, observed: [...(link.detail.observed ?? []), x] },
      readDueAt: isOpen ? ctx.now : link.readDueAt,
      readAttempts: 0,
    };
    const kept = putObject(s, row);
    // Whoever settles an item about this link from now on knows of the payment (withdraw.ts): one of before is asked afresh, after the read.
    const news = announcedAt(row) === null ? kept : closeAsked(kept, row, `${notConfirmed(row)}: it is read now`, ctx);
    const [first] = announcedOn(row);
    const isFirst = first !== undefined && (first.eventId === x.eventId || isSameMoney(first, x));
    const state = capture(askIfTakenBack(news, row, ctx), e, isFirst ? link.paymentRowId : null, ctx);
    return {
      state: nameFirst(state, row, ctx),
      verdict: done(isOpen ? 'the link is read to confirm it' : 'the payment on this link is already recorded'),
    };
  }
  const payment = paymentNamed(s, ids);
  return {
    state: capture(s, e, payment?.id ?? null, ctx),
    verdict: done('a card payment: its own payment.* event counts'),
  };
}

function observationIn(e: MorServiceEvent, ctx: Ctx): Observation {
  const amount = amountIn(e.data);
  return {
    source: 'event',
    eventId: e.eventId,
    charge: idNamed(e.data, 'pspReference', 'processorChargeId', 'chargeId', 'psp_reference'),
    paymentId: capturedId(e),
    amount: amount?.minor.toString() ?? null,
    currency: amount?.currency ?? null,
    at: (timeNamed(e.data, 'capturedAt') ?? e.createdAt ?? ctx.now).toISOString(),
    heardAt: ctx.now.toISOString(),
  };
}

/** Its request was taken back unanswered, and the MoR had made it: the same key brings it, now that it exists. */
function askIfTakenBack(s: LaneState, o: MorObjectRow, ctx: Ctx): LaneState {
  if (o.morId !== null || o.paymentRowId !== null || !isTakenBack(o)) return s;
  const asked = putObject(s, { ...backInPlay(o), updatedAt: ctx.now });
  return sendAgain(asked, (m) => m.kind === 'create_payment_link' && m.subject === o.id, ctx);
}

function capture(s: LaneState, e: MorServiceEvent, paymentRowId: string | null, ctx: Ctx): LaneState {
  const morId = idNamed(e.data, 'paymentId', 'payment_id');
  if (morId === null || !UUID.test(morId)) return s;
  const o = objectOf(s, 'capture', morId, ctx);
  if (o.status === 'CAPTURED' && o.paymentRowId === paymentRowId) return s;
  return putObject(s, { ...o, status: 'CAPTURED', paymentRowId, updatedAt: ctx.now });
}

/** The MoR's id of the payment that a `payment.captured` is about; null: it names none, or more than one. */
export function capturedId(e: MorServiceEvent): string | null {
  if (e.kind !== 'payment.captured') return null;
  const named = [...new Set(idsIn(e.data))].filter((id) => id.startsWith('pay_'));
  return named.length === 1 ? (named[0] ?? null) : null;
}

/**
 * What a `payment.captured` tells of a payment whose charge it names: the MoR's id, and of a signup's, where it names the amount
 * too, that the money is there. Another amount proves nothing.
 */
export function learnFromCapture(s: LaneState, e: MorServiceEvent, paymentId: string | null, ctx: Ctx): LaneState {
  const ids = new Set(idsIn(e.data));
  const isNamed = (id: string | null): boolean => has(ids, id);
  const p = s.payments.find((x) => isNamed(x.processorChargeId));
  if (p === undefined) return s;
  // The MoR's own word counts more than a person's.
  const isOpen = paymentId !== null && (p.paymentId === null || p.identifiedBy !== null);
  const isFree = isOpen && !s.payments.some((x) => x.id !== p.id && x.paymentId === paymentId);
  const row: PaymentRow = isFree ? { ...p, paymentId, identifiedBy: null } : p;
  const state = putPayment(s, row);
  const amount = amountIn(e.data);
  const isAwaited = row.mark === 'proving' || (isGivenUp(s, row) && !isRefusedSince(row, e));
  const isProof = isAwaited && row.amount !== null && amount !== null && isNamed(row.processorChargeId);
  if (!isProof || !sameMoney(amount, { minor: row.amount ?? 0n, currency: row.currency })) return state;
  return proven(state, row, ctx, 'the MoR captured it');
}

/** Whoever dismissed a charge that the MoR did not know could not know of this: money that was taken is not left aside. */
function isGivenUp(s: LaneState, p: PaymentRow): boolean {
  const isOf = s.reviews.some((r) => r.kind === 'signup_unproven' && r.subject === p.id && r.resolution === 'dismiss');
  return p.mark === 'closed' && p.succeededAt === null && isOf;
}

/** The MoR called it failed after that capture, which was delivered late: its later word counts. */
function isRefusedSince({ verdictAt }: PaymentRow, e: MorServiceEvent): boolean {
  const at = timeNamed(e.data, 'capturedAt') ?? e.createdAt;
  return verdictAt !== null && at !== null && at.getTime() < verdictAt.getTime();
}
