// A person or the merchant's backend gives a payment the MoR's id.
import { Injectable } from '@nestjs/common';
import { type PaymentRow } from '../../shared/domain/payment-row.js';
import { ReadModel } from '../../engine/read-model.js';
import { NotUnique } from '../../engine/lane.repository.js';
import { LaneChanges } from '../../engine/lane-changes.js';
import { type Refusal, refuse, type Result } from '../../engine/commanded.js';
import { identifyPayment, idTaken } from '../books/rules/identify-payment.js';

/** PostgreSQL's name for the constraint `payment.payment_id unique`. */
const PAYMENT_ID_UNIQUE = 'payment_payment_id_key';

@Injectable()
export class PaymentsService {
  constructor(
    private readonly lanes: LaneChanges,
    private readonly books: ReadModel,
  ) {}

  /**
   * `id`: our own id of the payment, or its present `pay_…`. `paymentId` is unique over all invoices. If another
   * payment already has `paymentId`, the refusal names that payment.
   */
  async identify(id: string, paymentId: string, by: string): Promise<Result<PaymentRow>> {
    const found = await this.books.payment(id);
    if (found === null) return refuse(404, 'payment_not_found', 'There is no such payment.');
    const { id: rowId, invoiceId } = found.payment;
    try {
      return await this.lanes.change(invoiceId, (lane) => identifyPayment(lane, rowId, paymentId, by));
    } catch (e) {
      const taken = await paymentIdTaken(this.books, e, paymentId);
      if (taken === null) throw e;
      return taken;
    }
  }
}

/** Returns the refusal for error `error`: a payment of another invoice already has `paymentId`. Null: a different error. */
export async function paymentIdTaken(books: ReadModel, error: unknown, paymentId: string): Promise<Refusal | null> {
  if (!(error instanceof NotUnique) || error.constraint !== PAYMENT_ID_UNIQUE) return null;
  const holder = await books.payment(paymentId);
  return holder === null ? null : idTaken(paymentId, holder.payment);
}
