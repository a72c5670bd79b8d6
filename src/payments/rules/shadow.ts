// Shadow mode: next to an existing integration, Crossbill writes its decisions down and sends nothing.
import {
  type InvoiceRow,
  type LaneRows,
  type MarkStage,
  type OutboxKind,
  type OutboxRow,
  type PaymentRow,
} from '../../domain/model.js';
import { effectName } from '../../domain/payment-name.js';
import { SHADOW_MODE } from '../../domain/ports/call.js';
import { moveMark } from '../../engine/draft-moves.js';
import { type Draft, type Lane } from '../../engine/draft.js';
import { isCallOf } from '../../engine/payment.js';
import { paymentMarked } from '../../ledger/rules/postings.js';

/** The first call of each stage of a mark. */
const CALL_OF: Partial<Record<MarkStage, OutboxKind>> = {
  reporting: 'report_payment',
  attaching: 'attach_payment',
  referencing: 'set_reference',
};

/** The mark of a payment was decided in shadow mode: its newest call was never sent. */
export function isShadowed(s: LaneRows, p: PaymentRow): boolean {
  const kind = CALL_OF[p.mark];
  const newest = s.messages.findLast((m) => m.kind === kind && isCallOf(m, p));
  return newest !== undefined && isShadowCall(newest);
}

export function isShadowCall(m: Pick<OutboxRow, 'status' | 'lastCode'>): boolean {
  return m.status === 'cancelled' && m.lastCode === SHADOW_MODE;
}

/** The invoice of before somebody else marked it: the decision of then is compared with what was done. */
export function beforeTheMark(i: InvoiceRow): InvoiceRow {
  return i.platformStatus === 'paid' ? { ...i, platformStatus: 'open', amountRemaining: i.amountDue } : i;
}

/** Whoever is in charge marked the invoice as Crossbill decided: the books follow. Until then there is nothing to do. */
export function settleShadowed(lane: Lane, p: Draft<PaymentRow>): void {
  if (lane.invoice?.platformStatus !== 'paid' || p.amount === null) return;
  moveMark(p, 'waiting');
  moveMark(p, 'confirmed');
  lane.book(paymentMarked(p, p.amount, lane.now));
  lane.say('decision', `payment ${effectName(p)} is marked as shadow mode decided; somebody else did it`, p);
}

/** After shadow mode, when a person asks for it (`verify --repair`): a mark that nobody made is decided again. */
export function decideShadowedAnew(lane: Lane): void {
  if (lane.settings.shadow === true || lane.invoice?.platformStatus === 'paid') return;
  for (const p of lane.payments) {
    if (!isShadowed(lane, p)) continue;
    moveMark(p, 'waiting');
    lane.say('decision', `payment ${effectName(p)} was decided in shadow mode and nobody marked it: decided again`, p);
  }
}
