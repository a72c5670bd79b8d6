// A payment gets the MoR's id, by which alone it can be refunded there: from a person, or from a signup's completion.
import { type LaneState, type PaymentRow } from '../../domain/model.js';
import { type Ctx, note, putPayment } from '../../engine/change.js';
import { type Commanded, type Refusal, refuse } from '../../engine/commanded.js';

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
    const message = `This payment is already named ${p.paymentId}.`;
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
