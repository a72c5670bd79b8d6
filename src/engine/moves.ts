// Moves the state of a row in place. Each move asks its table. A move outside the table is a bug: the lane stops and a person hears of it,
// before money follows an impossible state.
import {
  markMoves,
  type MarkStage,
  mirrorMoves,
  type MirrorStage,
  type PaymentRow,
  refundMoves,
  type RefundRow,
  type RefundStatus,
} from '../domain/model.js';
import { type Draft } from './draft.js';

function check(what: string, moves: Readonly<Record<string, readonly string[]>>, from: string, to: string): void {
  if (from !== to && moves[from]?.includes(to) !== true) throw new Error(`${what} cannot move from ${from} to ${to}`);
}

/** Moves a payment's mark; `also` changes with it. */
export function moveMark(p: Draft<PaymentRow>, to: MarkStage, also: Partial<PaymentRow> = {}): void {
  check('a mark', markMoves, p.mark, to);
  // The next mark chooses its mode again.
  if (p.mark !== to && to === 'waiting') p.markMode = null;
  Object.assign(p, { mark: to }, also);
}

/** Moves a refund: whether the money went back. */
export function moveRefund(r: Draft<RefundRow>, to: RefundStatus, also: Partial<RefundRow> = {}): void {
  check('a refund', refundMoves, r.status, to);
  if (r.status !== to) r.morStatus = null;
  Object.assign(r, { status: to }, also);
}

/** Moves a refund's twin on Stripe. */
export function moveMirror(r: Draft<RefundRow>, to: MirrorStage, also: Partial<RefundRow> = {}): void {
  check("a refund's twin", mirrorMoves, r.mirror, to);
  Object.assign(r, { mirror: to }, also);
}
