// What a `payment.captured` tells of a payment whose charge it names.
import { idsIn, type MorServiceEvent } from '../../domain/events/mor-service-event.js';
import { type LaneState, type PaymentRow } from '../../domain/model.js';
import { sameMoney } from '../../domain/money.js';
import { type Ctx, putPayment } from '../../engine/change.js';
import { amountIn, timeNamed } from '../../domain/events/payload-fields.js';
import { has } from '../../domain/mor-object.js';
import { proven } from './prove-charge.js';

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
