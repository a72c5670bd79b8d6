// A request for a refund, as a change of a lane's state.
import { type LaneState } from '../../../src/shared/domain/model.js';
import { type RefundRow } from '../../../src/shared/domain/refund-row.js';
import { type Ctx } from '../../../src/engine/context.js';
import { type RefundRequest, requestRefund } from '../../../src/core/refunds/rules/request.js';
import { asCommand, type Commanded } from './decide.js';

export function askRefund(
  state: LaneState,
  paymentRowId: string,
  request: RefundRequest,
  ctx: Ctx,
  scope: readonly string[] | null = null,
): Commanded<RefundRow> {
  return asCommand((lane) => requestRefund(lane, paymentRowId, request, scope))(state, ctx);
}
