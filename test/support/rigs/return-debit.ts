// The return of a debit, as a command on a state.
import { type LaneState } from '../../../src/shared/domain/model.js';
import { type MorObjectRow } from '../../../src/shared/domain/mor-object.js';
import { type Ctx } from '../../../src/engine/context.js';
import * as debit from '../../../src/features/losses/returns/rules/debit.js';
import { asCommand, type Commanded } from './decide.js';

export function returnDebit(state: LaneState, id: string, word: debit.ReturnWord, ctx: Ctx): Commanded<MorObjectRow> {
  return asCommand((lane) => debit.returnDebit(lane, id, word))(state, ctx);
}

export function undoReturn(state: LaneState, id: string, by: string, ctx: Ctx): Commanded<MorObjectRow> {
  return asCommand((lane) => debit.undoReturn(lane, id, by))(state, ctx);
}
