// A statement of the MoR to rehearse with. No document shows its format: this one is the sandbox's own, and `crossbill reconcile`
// needs no mapping for it.
import { decimalFromMinor } from '#src/domain/money.js';
import { Fields } from '../kernel/json.js';
import { type Kernel } from '../kernel/kernel.js';
import { type MorPayment, type MorState } from './state.js';

const COLUMNS = ['type', 'date', 'charge_id', 'payment_id', 'refund_id', 'amount', 'currency'] as const;
const TAKEN: ReadonlySet<MorPayment['status']> = new Set([
  'succeeded',
  'partially_refunded',
  'refunded',
  'charged_back',
]);

type Line = Partial<Record<(typeof COLUMNS)[number], string>>;

/** The MoR's share: 1.5 % and 25 smallest units, as one line for each payment. */
const feeOf = (amount: number): number => Math.round(amount * 0.015) + 25;

export function addStatement(kernel: Kernel, mor: MorState): void {
  const returned = new Map<string, number>();

  kernel.control(
    'POST',
    '/_sandbox/mor/payments/:id/return',
    'the bank returned the debit after it was settled: no event tells, the statement does',
    (request) => {
      const fields = new Fields(request.body);
      const payment = mor.payments.get(request.params['id'] ?? '');
      if (payment === undefined || !TAKEN.has(payment.status))
        return fields.refuse('id', 'no such payment that was taken');
      returned.set(payment.id, kernel.clock.nowMs());
      return { status: 200, body: { id: payment.id, returned: true } };
    },
  );
  kernel.control(
    'GET',
    '/_sandbox/statement',
    'a statement to rehearse with, as {csv}: payments, transfers, refunds, fees and returned debits',
    () => ({ status: 200, body: { csv: csvOf(linesOf(mor, returned)) } }),
  );
}

function linesOf(mor: MorState, returned: ReadonlyMap<string, number>): Line[] {
  const dated = (ms: number): string => new Date(ms).toISOString();
  const lines: Line[] = [];
  for (const p of mor.payments.values()) {
    if (!TAKEN.has(p.status)) continue;
    const about = { charge_id: p.processorChargeId, payment_id: p.id, currency: p.currency.toUpperCase() };
    const amount = (minor: number): string => decimalFromMinor(BigInt(minor), p.currency);
    lines.push({ type: 'payment', date: dated(p.createdAtMs), ...about, amount: amount(p.amount) });
    lines.push({ type: 'fee', date: dated(p.createdAtMs), ...about, amount: amount(-feeOf(p.amount)) });
    const at = returned.get(p.id);
    if (at !== undefined) lines.push({ type: 'returned', date: dated(at), ...about, amount: amount(-p.amount) });
  }
  for (const r of mor.refunds.values()) {
    if (r.status !== 'succeeded') continue;
    const amount = decimalFromMinor(BigInt(-r.amount), r.currency);
    const about = { payment_id: r.paymentId, refund_id: r.id, currency: r.currency.toUpperCase() };
    lines.push({ type: 'refund', date: dated(r.createdAtMs), ...about, amount });
  }
  for (const f of mor.channelBooks().proformas) {
    if (f.received === null) continue;
    lines.push({
      type: 'payment',
      payment_id: f.id,
      amount: decimalFromMinor(f.received, f.currency),
      currency: f.currency,
    });
  }
  return lines;
}

/** Ids, amounts and codes: nothing in them needs a quote. */
function csvOf(lines: readonly Line[]): string {
  return [COLUMNS.join(','), ...lines.map((line) => COLUMNS.map((c) => line[c] ?? '').join(',')), ''].join('\n');
}
