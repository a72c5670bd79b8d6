// A payment of the draft's amount on an invoice that grew before it was final, and money for an invoice with nothing due.
import { expect, it } from '@jest/globals';
import { type DecisionSettings } from '../../../../../src/shared/domain/settings.js';
import {
  anInvoice,
  aPaymentSucceeded,
  aRefund,
  INVOICE_ID,
  invoiceEvent,
} from '../../../../support/builders/events.js';
import { open } from '../../../../support/builders/channel-lane.js';
import { eur } from '../../../../support/builders/channel-object.js';
import { chooseItem } from '../../../../support/rigs/choose-item.js';
import { resolveReview } from '../../../../support/rigs/decide.js';
import { LaneHarness } from '../../../../support/rigs/lane-harness.js';
import { never } from '../../../../support/never.js';

const GREW = { code: 'amount-grew', drafted: eur(1000n), due: eur(4200n), taken: eur(1000n) };

/** The MoR charges the draft's 10.00 EUR; the final invoice has 42.00 EUR due. */
async function grown(settings: Partial<DecisionSettings> = {}): Promise<LaneHarness> {
  const h = LaneHarness.withInvoice({ amountDue: 4200n }, { settings });
  await h.take(invoiceEvent('invoice.created', { amountDue: 1000n }), aPaymentSucceeded({ amount: 1000 }));
  await h.take(invoiceEvent('invoice.finalized', { amountDue: 4200n, at: h.clock.now() }));
  return h;
}

it('money of the draft’s amount on an invoice that grew is an item with the drafted, the due and the taken amount', async () => {
  const h = await grown();
  const [item] = open(await h.state(INVOICE_ID));
  expect(item).toMatchObject({ kind: 'amount_mismatch', fact: GREW, proposed: 'apply' });
  expect(item?.actions).toContain('apply');
  expect(h.platform.asked.filter((call) => call.startsWith('report_payment'))).toEqual([]);
});

it('the choice apply counts the payment as a part: Stripe gets its mark, and the invoice stays open for the rest', async () => {
  const h = await grown();
  const [item = never()] = open(await h.state(INVOICE_ID));
  await h.command(INVOICE_ID, (s, ctx) =>
    resolveReview(s, item.id, { resolution: 'apply', note: null, by: 'ada' }, ctx),
  );
  await h.drain();
  const { invoice, payments, reviews } = await h.state(INVOICE_ID);
  expect(payments).toMatchObject([{ mark: 'confirmed', amount: 1000n }]);
  expect(invoice).toMatchObject({ platformStatus: 'open', amountRemaining: 3200n, status: 'open' });
  expect(reviews.filter((r) => r.status === 'open')).toEqual([]);
});

it('paid out of band, an invoice that grew offers no apply: only the exact amount could pay it', async () => {
  const h = await grown({ markMode: 'out_of_band' });
  expect(open(await h.state(INVOICE_ID))).toMatchObject([
    { fact: { ...GREW, marking: 'out_of_band' }, actions: ['refund', 'retry', 'dismiss'], proposed: null },
  ]);
});

it('if the event with the draft’s amount arrives after the payment, the same item says that the invoice grew', async () => {
  const h = LaneHarness.withInvoice({ amountDue: 4200n });
  await h.take(aPaymentSucceeded({ amount: 1000 }));
  const [before = never()] = open(await h.state(INVOICE_ID));
  expect(before.fact).toMatchObject({ code: 'amount-differs' });
  await h.take(invoiceEvent('invoice.created', { amountDue: 1000n }));
  expect(open(await h.state(INVOICE_ID))).toMatchObject([{ id: before.id, fact: GREW, topic: 'amount-grew' }]);
});

it.each([
  ['another amount than the draft’s', 1000n, 900],
  ['the draft’s amount on an invoice that shrank', 5000n, 5000],
])('money of %s differs from the amount due, and no growth explains it', async (_, drafted, taken) => {
  const h = LaneHarness.withInvoice({ amountDue: 4200n });
  h.platform.put(anInvoice({ amountDue: 4200n }));
  await h.take(invoiceEvent('invoice.created', { amountDue: drafted }), aPaymentSucceeded({ amount: taken }));
  expect(open(await h.state(INVOICE_ID))).toMatchObject([{ fact: { code: 'amount-differs' } }]);
});

it.each([
  ['credited in full', { amountCredited: 1000n }, 'credited'],
  ['that the customer’s balance paid', { amountCredited: 0n }, 'balance'],
] as const)('money for an invoice %s is an item with the reason and the refund proposed', async (_, over, why) => {
  const h = LaneHarness.withInvoice({ status: 'paid', amountDue: 0n, total: 1000n, ...over });
  h.gateway.payments.set('pay_oak', { minor: 1000n, currency: 'EUR', refunded: 0n });
  await h.take(aPaymentSucceeded());
  expect(open(await h.state(INVOICE_ID))).toMatchObject([
    { kind: 'double_payment', proposed: 'refund', fact: { code: 'nothing-due', taken: eur(1000n), why, record: null } },
  ]);
  await chooseItem(h, 'refund');
  await h.idle(48);
  const s = await h.state(INVOICE_ID);
  expect(s.payments).toMatchObject([{ mark: 'closed', amountRefunded: 1000n }]);
  expect([open(s), h.platform.effects]).toEqual([[], {}]);
});

it('if credit notes take all of an invoice while its mark is on the way, the item names the unattached payment record', async () => {
  const h = LaneHarness.withInvoice();
  h.platform.fail('attach_payment', 'retry', 'retry', 'retry');
  await h.take(aPaymentSucceeded());
  h.platform.change(INVOICE_ID, { status: 'paid', amountDue: 0n, amountRemaining: 0n, amountCredited: 1000n });
  await h.idle(1);
  const [item] = open(await h.state(INVOICE_ID));
  expect(item).toMatchObject({ proposed: 'refund', fact: { code: 'nothing-due', why: 'credited', record: 'pr_1' } });
});

it('a refund at the MoR of dismissed money for a credited invoice asks for no credit note', async () => {
  const h = LaneHarness.withInvoice({ status: 'paid', amountDue: 0n, total: 1000n, amountCredited: 1000n });
  await h.take(aPaymentSucceeded());
  await chooseItem(h, 'dismiss');
  await h.take(aRefund({ amount: 1000, total: 1000 }));
  await h.idle(48);
  expect(open(await h.state(INVOICE_ID))).toEqual([]);
});

it('in shadow mode money for a credited invoice is the same item, and counts as no mark of another integration', async () => {
  const over = { status: 'paid', amountDue: 0n, total: 1000n, amountCredited: 1000n } as const;
  const h = LaneHarness.withInvoice(over, { settings: { sendsNothing: true } });
  await h.take(aPaymentSucceeded());
  await h.idle(48);
  const s = await h.state(INVOICE_ID);
  expect(s.payments).toMatchObject([{ mark: 'parked' }]);
  expect(open(s)).toMatchObject([{ fact: { code: 'nothing-due', why: 'credited' } }]);
});
