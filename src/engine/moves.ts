// The state machines of a lane, each asked at every move by one function. A move that its table does not know is a bug: the lane stops
// and a person is told, before money follows a state that cannot be.
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

function check(what: string, moves: Readonly<Record<string, readonly string[]>>, from: string, to: string): void {
  if (from !== to && moves[from]?.includes(to) !== true) throw new Error(`${what} cannot move from ${from} to ${to}`);
}

/** Moves a payment's mark. */
export function moveMark(p: PaymentRow, to: MarkStage): PaymentRow {
  if (p.mark === to) return p;
  check('a mark', markMoves, p.mark, to);
  // What waits is not being marked: the mode is chosen, or found out, again.
  return { ...p, mark: to, markMode: to === 'waiting' ? null : p.markMode };
}

/** Moves a refund: whether the money went back. */
export function moveRefund(r: RefundRow, to: RefundStatus): RefundRow {
  check('a refund', refundMoves, r.status, to);
  return r.status === to ? r : { ...r, status: to, morStatus: null };
}

/** Moves a refund's twin on Stripe. */
export function moveMirror(r: RefundRow, to: MirrorStage): RefundRow {
  check("a refund's twin", mirrorMoves, r.mirror, to);
  return r.mirror === to ? r : { ...r, mirror: to };
}
