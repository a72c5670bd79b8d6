// What to do next for a lane: one errand outside, or nothing until a certain time.
import { type LaneState, type OutboxKind, type OutboxRow, type PaymentRow } from '../../domain/model.js';
import { TRANSFERRED } from '../../domain/mor-object.js';
import { type BillingCall } from '../../domain/ports/billing-platform.js';
import { type Ctx } from '../../domain/lane/change.js';
import { DAY_MS, KEY_LIFE_MS, REFUND_PATIENCE_DAYS, REPLAY_PATIENCE_MS, TRANSFER_PATIENCE_MS } from '../../policy.js';
import { effectName } from '../../domain/lane/payment.js';
import { isFresh } from '../../domain/lane/facts.js';
import { reportOf } from './settle.js';
import { recoveryLook } from '../../links/rules/recovery.js';
import { hasVerdict, mustAskDebit, verdictBy } from '../../renewals/rules/alarms.js';
import { signupLateAt } from '../../signups/rules/unsettled.js';
import { type Errand } from '../../domain/lane/errand.js';

export type Plan = {
  readonly errand: Errand | null;
  /** When the lane must be looked at again if nothing comes; null: never. */
  readonly dueAt: Date | null;
};

// Marks go before mirrors, and what helps nobody but the MoR goes last.
const ORDER: Record<OutboxKind, number> = {
  finalize_invoice: 0,
  report_payment: 0,
  attach_payment: 0,
  set_reference: 0,
  pay_out_of_band: 0,
  create_refund: 1,
  report_refund: 2,
  issue_credit_note: 2,
  create_proforma: 1,
  create_payment_link: 1,
  relay_event: 3,
  calculate_tax: 3,
  commit_tax: 3,
  refund_tax: 3,
};

// Writes to the invoice itself, or that will lead to one: it is read afresh before them.
const ON_INVOICE: ReadonlySet<OutboxKind> = new Set([
  'finalize_invoice',
  'report_payment',
  'attach_payment',
  'set_reference',
  'pay_out_of_band',
  'report_refund',
  'issue_credit_note',
]);

export function plan(s: LaneState, ctx: Ctx): Plan {
  const later: Date[] = [];
  const due = (at: Date | null): boolean => {
    if (at === null || at.getTime() <= ctx.now.getTime()) return true;
    later.push(at);
    return false;
  };
  const errand = nextErrand(s, ctx, due);
  if (errand !== null) return { errand, dueAt: ctx.now };
  watches(s, ctx, later);
  return { errand: null, dueAt: later.length === 0 ? null : new Date(Math.min(...later.map((d) => d.getTime()))) };
}

function nextErrand(s: LaneState, ctx: Ctx, due: (at: Date | null) => boolean): Errand | null {
  const i = s.invoice;
  const fresh = isFresh(i, ctx.now);
  for (const p of s.payments) {
    if (p.mark === 'proving' && p.processorChargeId !== null && due(p.proveDueAt)) {
      return { do: 'prove-charge', paymentRowId: p.id, chargeId: p.processorChargeId };
    }
    if (p.mark !== 'waiting' || i === null || !due(i.readDueAt)) continue;
    if (!fresh) return { do: 'read-invoice', invoiceId: i.invoiceId };
    return { do: 'identify', paymentRowId: p.id, asked: identifyCall(p, ctx) };
  }
  for (const o of s.objects) {
    if (o.readDueAt === null || o.morId === null || (o.kind !== 'proforma' && o.kind !== 'payment_link')) continue;
    if (due(o.readDueAt)) return { do: 'read-object', objectId: o.id, kind: o.kind, morId: o.morId };
  }
  // What was decided before shadow mode was switched on goes on under its own key when shadow mode ends.
  const shadow = ctx.settings.shadow === true;
  const pending = shadow ? [] : s.messages.filter((m) => m.status === 'pending');
  pending.sort((a, b) => ORDER[a.kind] - ORDER[b.kind]);
  for (const m of pending) {
    if (!due(m.nextTryAt)) continue;
    if (m.peer === 'stripe' && i !== null && ON_INVOICE.has(m.kind) && !fresh) {
      if (due(i.readDueAt)) return { do: 'read-invoice', invoiceId: i.invoiceId };
      continue;
    }
    return mustLook(s, m, ctx) ? { do: 'probe', message: m } : { do: 'send', message: m };
  }
  const look = recoveryLook(s, ctx);
  if (i !== null && look !== null && due(look) && due(i.readDueAt)) {
    return { do: 'read-invoice', invoiceId: i.invoiceId };
  }
  if (i !== null && i.readAt === null && i.readDueAt !== null && due(i.readDueAt))
    return { do: 'read-invoice', invoiceId: i.invoiceId };
  for (const t of s.taxes) {
    if (shadow || t.stage !== 'gathering' || !due(t.dueAt)) continue;
    const p = t.calculations > 0 ? undefined : s.payments.find((x) => x.id === t.paymentRowId);
    const [signupId, intentId] = [p?.signupId ?? null, p?.processorPaymentIntentId ?? null];
    return { do: 'gather-tax', taxId: t.id, invoiceId: t.invoiceId, signupId, intentId };
  }
  if (i !== null && i.customerId !== null && mustAskDebit(s, ctx)) return { do: 'ask-debit', customerId: i.customerId };
  return null;
}

/** Whether to look for the effect before the call is sent (again). */
function mustLook(s: LaneState, m: OutboxRow, ctx: Ctx): boolean {
  if (m.peer !== 'stripe') return false;
  // A try whose record was lost in a crash may be as old as the message itself.
  const triedMs = ctx.now.getTime() - (m.firstTriedAt ?? m.createdAt).getTime();
  if (m.replaying && triedMs >= REPLAY_PATIENCE_MS) return true;
  if (triedMs >= KEY_LIFE_MS) return true; // the key may be forgotten: a retry looks before it sends
  const status = s.invoice?.platformStatus;
  return (
    (m.kind === 'attach_payment' || m.kind === 'pay_out_of_band') && status !== 'open' && status !== 'uncollectible'
  );
}

/** What this payment's own mark on an invoice that is paid would have been. */
function identifyCall(p: PaymentRow, ctx: Ctx): BillingCall {
  const { invoiceId, paymentRecordId } = p;
  if (paymentRecordId !== null) return { kind: 'attach_payment', invoiceId, paymentRecordId };
  // The reference is there; was it paid out of band, or did Stripe collect it after all?
  if (p.markMode === 'out_of_band') return { kind: 'pay_out_of_band', invoiceId };
  if (ctx.settings.markMode === 'out_of_band') {
    const paymentId = effectName(p);
    return { kind: 'set_reference', invoiceId, paymentId, reference: p.reference ?? p.processorChargeId ?? paymentId };
  }
  return reportOf(p, p.amount ?? 0n, ctx.now);
}

/** The times at which settle would open a review item or look again. */
function watches(s: LaneState, ctx: Ctx, later: Date[]): void {
  const add = (at: Date | null): void => {
    if (at !== null && at.getTime() > ctx.now.getTime()) later.push(at);
  };
  const i = s.invoice;
  if (i !== null && !hasVerdict(s)) add(verdictBy(i, s.objects));
  if (i !== null && s.payments.some((p) => p.mark === 'held')) add(i.holdUntil);
  for (const p of s.payments) add(signupLateAt(i, p));
  for (const o of s.objects) {
    if (o.kind === 'payment_link' && o.status === 'PAYABLE') add(o.deadline);
    if (o.kind === 'proforma' && TRANSFERRED.has(o.status) && o.paymentRowId === null) {
      add(new Date(o.updatedAt.getTime() + TRANSFER_PATIENCE_MS));
    }
  }
  for (const r of s.refunds) {
    if (r.status !== 'pending' && r.status !== 'unknown' && r.status !== 'requested') continue;
    add(new Date(r.createdAt.getTime() + REFUND_PATIENCE_DAYS[r.status] * DAY_MS));
  }
}
