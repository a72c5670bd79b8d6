// Shadow mode: beside an existing integration, what is decided is written down and never sent.
import {
  type InvoiceRow,
  type LaneState,
  type MarkStage,
  type OutboxKind,
  type OutboxRow,
  type PaymentRow,
} from '../../domain/model.js';
import { paymentMarked } from '../../ledger/rules/postings.js';
import { SHADOW_MODE } from '../../domain/ports/call.js';
import { addEntry, type Ctx, note, putPayment } from '../../engine/change.js';
import { isCallOf } from '../../engine/payment.js';
import { effectName } from '../../domain/payment-name.js';
import { moveMark } from '../../engine/moves.js';

/** The first call of each stage of a mark. */
const CALL_OF: Partial<Record<MarkStage, OutboxKind>> = {
  reporting: 'report_payment',
  attaching: 'attach_payment',
  referencing: 'set_reference',
};

/** True when the mark of a payment was decided in shadow mode: its newest call is over before it began. */
export function isShadowed(s: LaneState, p: PaymentRow): boolean {
  const kind = CALL_OF[p.mark];
  const newest = s.messages.findLast((m) => m.kind === kind && isCallOf(m, p));
  return newest !== undefined && isShadowCall(newest);
}

export function isShadowCall(m: Pick<OutboxRow, 'status' | 'lastCode'>): boolean {
  return m.status === 'cancelled' && m.lastCode === SHADOW_MODE;
}

/** The invoice as it stood before somebody else marked it: what would have been decided then is to be compared with what was done. */
export function beforeTheMark(i: InvoiceRow): InvoiceRow {
  return i.platformStatus === 'paid' ? { ...i, platformStatus: 'open', amountRemaining: i.amountDue } : i;
}

/** Whoever is in charge marked the invoice as it was decided here: the books follow. Until then there is nothing to do. */
export function settleShadowed(s: LaneState, p: PaymentRow, ctx: Ctx): LaneState {
  if (s.invoice?.platformStatus !== 'paid' || p.amount === null) return s;
  const row = moveMark(moveMark(p, 'waiting'), 'confirmed');
  const said = `payment ${effectName(p)} is marked as shadow mode decided; somebody else did it`;
  return note(addEntry(putPayment(s, row), paymentMarked(row, p.amount, ctx.now)), ctx, 'decision', said, p.id);
}

/**
 * After shadow mode, when a person asks for it (`verify --repair`): what was decided then and nobody did is decided again. In
 * shadow mode, and for what somebody did, nothing.
 */
export function decideShadowedAnew(s: LaneState, ctx: Ctx): LaneState {
  if (ctx.settings.shadow === true || s.invoice?.platformStatus === 'paid') return s;
  let state = s;
  for (const p of s.payments) {
    if (!isShadowed(s, p)) continue;
    const said = `payment ${effectName(p)} was decided in shadow mode and nobody marked it: decided again`;
    state = note(putPayment(state, moveMark(p, 'waiting')), ctx, 'decision', said, p.id);
  }
  return state;
}
