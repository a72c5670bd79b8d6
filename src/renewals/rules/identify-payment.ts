// A payment gets the MoR's id, by which alone it can be refunded there: from a person, a signup's completion, or the MoR's `payment.captured`.
import { idsIn, type MorServiceEvent } from '../../domain/events/mor-service-event.js';
import { type LaneState, type PaymentRow } from '../../domain/model.js';
import { sameMoney } from '../../domain/money.js';
import { type Commanded, type Refusal, refuse } from '../../domain/lane/commanded.js';
import { amountIn } from '../../channels/rules/channel-fields.js';
import { type Ctx, note, putPayment } from '../../domain/lane/change.js';
import { proven } from '../../lane/rules/settle.js';

/** Names a payment for good. The same id again changes nothing; the database keeps an id from naming two payments of two invoices. */
export function identifyPayment(
  s: LaneState,
  paymentRowId: string,
  paymentId: string,
  by: string,
  ctx: Ctx,
): Commanded<PaymentRow> {
  const p = s.payments.find((x) => x.id === paymentRowId);
  if (p === undefined) return refuse(404, 'payment_not_found', 'There is no such payment.');
  if (p.paymentId === paymentId) return { ok: true, state: s, value: p };
  if (p.paymentId !== null) {
    const message = `This payment is known as ${p.paymentId} already.`;
    return refuse(409, 'payment_already_identified', message, 'payment_id');
  }
  const holder = s.payments.find((x) => x.paymentId === paymentId);
  if (holder !== undefined) return idTaken(paymentId, holder);
  const row: PaymentRow = { ...p, paymentId, identifiedBy: by };
  const said = `${by} named this payment ${paymentId}`;
  return { ok: true, state: note(putPayment(s, row), ctx, 'person', said, p.id), value: row };
}

/** Another payment has this id: which one. */
export function idTaken(paymentId: string, holder: Pick<PaymentRow, 'id' | 'invoiceId'>): Refusal {
  const message = `${paymentId} is the id of payment ${holder.id} of invoice ${holder.invoiceId} already.`;
  return refuse(409, 'payment_id_taken', message, 'payment_id');
}

/** The MoR's id of the payment that a `payment.captured` is about; null: it names none, or more than one. */
export function capturedId(e: MorServiceEvent): string | null {
  if (e.kind !== 'payment.captured') return null;
  const named = [...new Set(idsIn(e.data))].filter((id) => id.startsWith('pay_'));
  return named.length === 1 ? (named[0] ?? null) : null;
}

/**
 * What a `payment.captured` tells of a payment whose charge it names, or of the one on the link it names: the MoR's id, and of a
 * signup's, where it names the amount too, that the money is there. Another amount proves nothing.
 */
export function learnFromCapture(s: LaneState, e: MorServiceEvent, paymentId: string | null, ctx: Ctx): LaneState {
  const ids = new Set(idsIn(e.data));
  const isNamed = (id: string | null): boolean => id !== null && ids.has(id);
  const p = s.payments.find(
    (x) => isNamed(x.processorChargeId) || (x.origin === 'payment_link' && isNamed(x.reference)),
  );
  if (p === undefined) return s;
  // The MoR's own word counts more than a person's.
  const isOpen = paymentId !== null && (p.paymentId === null || p.identifiedBy !== null);
  const isFree = isOpen && !s.payments.some((x) => x.id !== p.id && x.paymentId === paymentId);
  const row: PaymentRow = isFree ? { ...p, paymentId, identifiedBy: null } : p;
  const state = putPayment(s, row);
  const amount = amountIn(e.data);
  const isProof = row.mark === 'proving' && row.amount !== null && amount !== null && isNamed(row.processorChargeId);
  if (!isProof || !sameMoney(amount, { minor: row.amount ?? 0n, currency: row.currency })) return state;
  return proven(state, row, ctx, 'the MoR captured it');
}
