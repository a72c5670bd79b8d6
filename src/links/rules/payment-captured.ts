// The MoR says that a payment was captured (`payment.captured`): on a link of ours, or by card.
import { type LaneState } from '../../domain/model.js';
import { capturedId, idsIn, type MorServiceEvent } from '../../domain/events/mor-service-event.js';
import { type Ctx, messageKey, putObject, sendAgain } from '../../engine/change.js';
import { type Applied, done } from '../../engine/event.js';
import { backInPlay, closeAsked, isTakenBack, objectOf } from '../../mor-objects/rules/mor-object.js';
import { notConfirmed } from '../../engine/open-money.js';
import { amountIn, idNamed, timeNamed } from '../../domain/events/payload-fields.js';
import {
  announcedAt,
  announcedOn,
  isSameMoney,
  type MorObjectRow,
  type Observation,
  has,
} from '../../domain/mor-object.js';
import { nameFirst } from './settle-announced.js';
import { paymentNamed } from '../../engine/payment.js';

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
