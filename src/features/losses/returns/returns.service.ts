// A person tells Crossbill that a bank returned a debit. Records the return or undoes it, in the payment's lane.
import { Injectable } from '@nestjs/common';
import { LaneChanges } from '../../../engine/lane-changes.js';
import { refuse, type Result } from '../../../engine/commanded.js';
import { type Lane } from '../../../engine/lane.js';
import { type PaymentRow } from '../../../shared/domain/payment-row.js';
import { type MorObjectRow } from '../../../shared/domain/mor-object.js';
import { ReadModel } from '../../../engine/read-model.js';
import { type NamedRequest } from '../../../shared/domain/request-name.js';
import { returnDebit, type ReturnWord, undoReturn } from './rules/debit.js';

/** The name of the request: API key, Idempotency-Key and the hash of the body. The service adds method and path. */
export type ReturnName = Omit<NamedRequest, 'method' | 'path'>;

@Injectable()
export class ReturnsService {
  constructor(
    private readonly lanes: LaneChanges,
    private readonly books: ReadModel,
  ) {}

  /**
   * Records a returned debit. `id`: `pay_…` or our own id. A repeated request (`name`) returns its earlier record, in
   * the record's present state.
   */
  record(id: string, word: ReturnWord, name: ReturnName): Promise<Result<MorObjectRow>> {
    return this.change(id, 'returned', name, (lane, rowId) => returnDebit(lane, rowId, word));
  }

  undo(id: string, by: string, name: ReturnName): Promise<Result<MorObjectRow>> {
    return this.change(id, 'returned/undo', name, (lane, rowId) => undoReturn(lane, rowId, by));
  }

  /** The newest returned debit of a payment. Null: no such payment, or no record. */
  async find(id: string): Promise<{ readonly row: MorObjectRow; readonly payment: PaymentRow } | null> {
    const found = await this.books.payment(id);
    if (found === null) return null;
    const { payment } = found;
    const row = (await this.books.objects(payment.invoiceId)).findLast(
      (o) => o.kind === 'debit_return' && o.paymentRowId === payment.id,
    );
    return row === undefined ? null : { row, payment };
  }

  private async change(
    id: string,
    action: string,
    name: ReturnName,
    act: (lane: Lane, rowId: string) => Result<MorObjectRow>,
  ): Promise<Result<MorObjectRow>> {
    const found = await this.books.payment(id);
    if (found === null) return refuse(404, 'payment_not_found', 'There is no such payment.');
    const { id: rowId, invoiceId } = found.payment;
    const path = `/v1/payments/${rowId}/${action}`; // our own id never changes
    return this.lanes.change(invoiceId, (lane) => act(lane, rowId), {
      name: { ...name, method: 'POST', path },
      find: (s, made) => s.objects.find((o) => o.id === made),
    });
  }
}
