// Stores a refund request from a person or the merchant's backend. One transaction decides and stores it; the workers
// send it.
import { Injectable } from '@nestjs/common';
import { freeText } from '../../shared/masks/card-numbers.js';
import { type RefundRow } from '../../shared/domain/refund-row.js';
import { ReadModel } from '../../engine/read-model.js';
import { type NamedRequest } from '../../shared/domain/request-name.js';
import { LaneChanges } from '../../engine/lane-changes.js';
import { refuse, type Result } from '../../engine/commanded.js';
import { type Lane } from '../../engine/lane.js';
import { refundById, type RefundRequest, requestRefund } from './rules/request.js';

@Injectable()
export class RefundsService {
  constructor(
    private readonly lanes: LaneChanges,
    private readonly books: ReadModel,
  ) {}

  /**
   * Stores the refund with its key, before any call to the MoR. `id`: the payment's `pay_…` or our own id. A repeated
   * request (a known `name`) may use either id, and returns the earlier refund in its present state. Of two requests at
   * the same time, the second waits for the lane's lock.
   */
  async request(
    id: string,
    request: RefundRequest,
    name: Omit<NamedRequest, 'method' | 'path'> | null,
  ): Promise<Result<RefundRow>> {
    const found = await this.books.payment(id);
    if (found === null) return refuse(404, 'payment_not_found', 'There is no such payment.');
    const { id: rowId, invoiceId } = found.payment;
    const scope = name === null ? null : ['caller', name.apiKey, name.idempotencyKey];
    const masked = { ...request, reason: freeText(request.reason) };
    const act = (lane: Lane) => requestRefund(lane, rowId, masked, scope);
    if (name === null) return this.lanes.change(invoiceId, act);
    const path = refundPath(rowId);
    return this.lanes.change(invoiceId, act, { name: { ...name, method: 'POST', path }, find: refundById });
  }
}

/** The path in a request's name. It has our own id: the MoR may give the payment another id before a repeat. */
export const refundPath = (paymentRowId: string): string => `/v1/payments/${paymentRowId}/refunds`;
