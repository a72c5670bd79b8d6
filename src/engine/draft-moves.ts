// Moves the state of a row in place. Each move asks its table; a move outside the table is a bug and stops the lane.
import { moveMark as markMoved, moveMirror as mirrorMoved, moveRefund as refundMoved } from './moves.js';
import {
  type MarkStage,
  type MirrorStage,
  type PaymentRow,
  type RefundRow,
  type RefundStatus,
} from '../domain/model.js';
import { type Draft } from './draft.js';

/** Moves a payment's mark; `also` changes with it. */
export function moveMark(p: Draft<PaymentRow>, to: MarkStage, also: Partial<PaymentRow> = {}): void {
  Object.assign(p, markMoved(p, to), also);
}

/** Moves a refund: whether the money went back. */
export function moveRefund(r: Draft<RefundRow>, to: RefundStatus, also: Partial<RefundRow> = {}): void {
  Object.assign(r, refundMoved(r, to), also);
}

/** Moves a refund's mirror on Stripe. */
export function moveMirror(r: Draft<RefundRow>, to: MirrorStage, also: Partial<RefundRow> = {}): void {
  Object.assign(r, mirrorMoved(r, to), also);
}
