// A person enters the MoR's id of a payment.
import { type Lane } from '../../../engine/lane.js';
import { type Result, refuse, type Refusal } from '../../../engine/commanded.js';
import { type PaymentRow } from '../../../shared/domain/payment-row.js';

/** Gives a payment the MoR's id, as a person entered it. The database refuses one id for payments of two invoices. */
export function identifyPayment(lane: Lane, id: string, paymentId: string, by: string): Result<PaymentRow> {
  const p = lane.findPayment(id);
  if (p === undefined) return refuse(404, 'payment_not_found', 'There is no such payment.');
  if (p.paymentId === paymentId) return { ok: true, value: p };
  if (p.paymentId !== null)
    return refuse(409, 'payment_already_identified', `This payment is already named ${p.paymentId}.`, 'payment_id');
  const holder = lane.payments.find((x) => x.paymentId === paymentId);
  if (holder !== undefined) return idTaken(paymentId, holder);
  Object.assign(p, { paymentId, identifiedBy: by });
  lane.log('person', `${by} named this payment ${paymentId}`, p);
  return { ok: true, value: p };
}

/** Refuses `paymentId`: another payment, `holder`, already has this id. */
export function idTaken(paymentId: string, holder: Pick<PaymentRow, 'id' | 'invoiceId'>): Refusal {
  const message = `${paymentId} is the id of payment ${holder.id} of invoice ${holder.invoiceId} already.`;
  return refuse(409, 'payment_id_taken', message, 'payment_id');
}
