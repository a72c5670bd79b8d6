// The completion of a signup, as a command on a state.
import { type LaneState } from '../../../src/shared/domain/model.js';
import { type PaymentRow } from '../../../src/shared/domain/payment-row.js';
import { type Ctx } from '../../../src/engine/context.js';
import { completeSignup as complete, type Completion } from '../../../src/core/signups/rules/signup.js';
import { asCommand, type Commanded } from './decide.js';

export function completeSignup(state: LaneState, completion: Completion, ctx: Ctx): Commanded<PaymentRow> {
  return asCommand((lane) => complete(lane, completion))(state, ctx);
}
