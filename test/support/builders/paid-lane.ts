// A lane with a marked payment, for requests of refunds.
import { askRefund } from '../rigs/ask-refund.js';
import { type RefundRow } from '../../../src/shared/domain/refund-row.js';
import { anInvoice, aPaymentSucceeded, INVOICE_ID } from './events.js';
import { LaneHarness } from '../rigs/lane-harness.js';

/** A payment of 10.00 EUR, marked on its invoice. */
export async function paid(options: Parameters<typeof LaneHarness.inMemory>[0] = {}): Promise<LaneHarness> {
  const h = LaneHarness.inMemory(options);
  h.platform.put(anInvoice());
  h.gateway.payments.set('pay_oak', { minor: 1000n, currency: 'EUR', refunded: 0n });
  await h.take(aPaymentSucceeded());
  return h;
}

export async function ask(harness: LaneHarness, amount: bigint | null): Promise<RefundRow> {
  const p = (await harness.state(INVOICE_ID)).payments[0];
  const made = await harness.command(INVOICE_ID, (s, ctx) =>
    askRefund(s, p?.id ?? '', { amount, reason: null, metadata: null, by: 'ops' }, ctx),
  );
  if (!made.ok) throw new Error(made.code);
  return made.value;
}
