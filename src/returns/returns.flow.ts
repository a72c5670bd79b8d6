// Debits that banks took back: recorded and undone by a person, one change of the payment's lane each.
import { Injectable } from '@nestjs/common';
import { type Done, LaneChanges } from '../engine/lane-changes.js';
import { type Commanded, refuse } from '../engine/commanded.js';
import { type Ctx } from '../engine/change.js';
import { type LaneState, type PaymentRow } from '../domain/model.js';
import { type MorObjectRow } from '../domain/mor-object.js';
import { ReadModel } from '../engine/read-model.js';
import { type NamedRequest } from '../domain/request-name.js';
import { returnDebit, type ReturnWord, undoReturn } from './return-debit.js';

/** API key, Idempotency-Key and hash of what was asked; the path follows from the payment. */
export type ReturnName = Omit<NamedRequest, 'method' | 'path'>;

@Injectable()
export class ReturnsFlow {
  constructor(
    private readonly lanes: LaneChanges,
    private readonly books: ReadModel,
  ) {}

  /** `id`: `pay_…` or our own. The same `name` again gives the return as it is now. */
  record(id: string, word: ReturnWord, name: ReturnName): Promise<Done<MorObjectRow>> {
    return this.change(id, 'returned', name, (s, rowId, ctx) => returnDebit(s, rowId, word, ctx));
  }

  undo(id: string, by: string, name: ReturnName): Promise<Done<MorObjectRow>> {
    return this.change(id, 'returned/undo', name, (s, rowId, ctx) => undoReturn(s, rowId, by, ctx));
  }

  /** The newest return of a payment; null: no payment, or none was recorded. */
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
    act: (s: LaneState, rowId: string, ctx: Ctx) => Commanded<MorObjectRow>,
  ): Promise<Done<MorObjectRow>> {
    const found = await this.books.payment(id);
    if (found === null) return refuse(404, 'payment_not_found', 'There is no such payment.');
    const { id: rowId, invoiceId } = found.payment;
    const path = `/v1/payments/${rowId}/${action}`; // our own id never changes
    return this.lanes.change(invoiceId, (s, ctx) => act(s, rowId, ctx), {
      name: { ...name, method: 'POST', path },
      find: (s, made) => s.objects.find((o) => o.id === made),
    });
  }
}
