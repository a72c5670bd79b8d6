// A refund above what the invoice's credit notes can still take: the note over the rest, and the item about the other part.
import { expect, it } from '@jest/globals';
import { type ReviewRow } from '../../../../src/shared/domain/review-row.js';
import { anInvoice, aPaymentSucceeded, aRefund, INVOICE_ID } from '../../../support/builders/events.js';
import { open } from '../../../support/builders/channel-lane.js';
import { eur } from '../../../support/builders/channel-object.js';
import { chooseItem } from '../../../support/rigs/choose-item.js';
import { balances, LaneHarness } from '../../../support/rigs/lane-harness.js';

const notes = (harness: LaneHarness): bigint[] => harness.platform.notes.map((n) => n.minor);
const items = async (harness: LaneHarness): Promise<readonly ReviewRow[]> => open(await harness.state(INVOICE_ID));

/** A paid invoice of 10.00 EUR that also collects an older debt. */
async function withDebt(debt: bigint): Promise<LaneHarness> {
  const h = LaneHarness.withInvoice({ amountDue: 1000n + debt, total: 1000n, olderDebt: debt, amountCredited: 0n });
  await h.take(aPaymentSucceeded({ amount: Number(1000n + debt) }));
  return h;
}

it('a full refund of an invoice with an older debt gets a credit note over the sale, and an item names the debt', async () => {
  const h = await withDebt(300n);
  await h.take(aRefund({ amount: 1300, total: 1300 }));
  expect(notes(h)).toEqual([1000n]);
  expect(h.platform.records.flatMap((r) => r.refunds.map((x) => x.minor))).toEqual([1300n]);
  const s = await h.state(INVOICE_ID);
  expect(s.refunds).toMatchObject([{ mirror: 'done', beyondSale: 300n }]);
  expect(open(s)).toMatchObject([
    {
      ...{ kind: 'refund_gap', subject: `${s.refunds[0]?.id ?? ''}:beyond`, actions: ['dismiss'] },
      fact: { code: 'refund-beyond-sale', amount: eur(1300n), beyond: eur(300n), total: eur(1000n), debt: eur(300n) },
    },
  ]);
  expect(balances(s)).toEqual({});
});

it('a dismissed item about the part beyond the sale stays closed', async () => {
  const h = await withDebt(300n);
  await h.take(aRefund({ amount: 1300, total: 1300 }));
  await chooseItem(h, 'dismiss');
  await h.idle(48);
  expect(await items(h)).toEqual([]);
});

it('each of two refunds beyond the sale names its own part of the older debt', async () => {
  const h = await withDebt(300n);
  await h.take(aRefund({ amount: 1100, total: 1100 }));
  await h.take(aRefund({ eventId: 'evt_2', refundId: 'rfnd_2', amount: 200, total: 1300 }));
  expect(notes(h)).toEqual([1000n]);
  expect((await items(h)).map((r) => r.fact)).toMatchObject([
    { beyond: eur(100n), debt: eur(100n) },
    { beyond: eur(200n), debt: eur(200n) },
  ]);
});

it('after credit notes made by hand, a refund gets a note over the rest of the sale, and the item names no debt', async () => {
  const h = LaneHarness.withInvoice({ amountCredited: 0n });
  await h.take(aPaymentSucceeded());
  h.platform.change(INVOICE_ID, { amountCredited: 400n }); // no event reports it
  h.clock.advance(60_000);
  await h.take(aRefund({ amount: 1000, total: 1000 }));
  expect(notes(h)).toEqual([600n]);
  expect(await items(h)).toMatchObject([{ fact: { beyond: eur(400n), debt: null } }]);
});

it('a refund of an invoice credited in full gets its report on the payment record, and no credit note', async () => {
  const h = LaneHarness.withInvoice({ amountCredited: 0n });
  await h.take(aPaymentSucceeded());
  h.platform.change(INVOICE_ID, { amountCredited: 1000n });
  h.clock.advance(60_000);
  await h.take(aRefund({ amount: 1000, total: 1000 }));
  expect([notes(h), h.platform.records.flatMap((r) => r.refunds.map((x) => x.minor))]).toEqual([[], [1000n]]);
  expect((await h.state(INVOICE_ID)).refunds).toMatchObject([{ mirror: 'done', beyondSale: 1000n }]);
});

it('refunds made at once get their credit notes one after the other, and together no more than the total', async () => {
  const h = await withDebt(300n);
  await h.take(
    aRefund({ amount: 700, total: 700 }),
    aRefund({ eventId: 'evt_2', refundId: 'rfnd_2', amount: 600, total: 1300 }),
  );
  expect(notes(h)).toEqual([700n, 300n]);
  expect(await items(h)).toMatchObject([{ fact: { amount: eur(600n), beyond: eur(300n) } }]);
});

it('if a note by hand takes the room just before the credit note, the retry makes a note over the rest', async () => {
  const h = LaneHarness.withInvoice({ amountCredited: 0n });
  await h.take(aPaymentSucceeded());
  h.platform.change(INVOICE_ID, { amountCredited: 250n }); // younger than the last read
  await h.take(aRefund({ amount: 1000, total: 1000 }));
  expect(notes(h)).toEqual([]);
  expect(await items(h)).toMatchObject([{ kind: 'effect_failed', fact: { code: 'mirror-refused' } }]);
  await chooseItem(h, 'retry');
  await h.drain();
  expect(notes(h)).toEqual([750n]);
  expect(await items(h)).toMatchObject([{ fact: { code: 'refund-beyond-sale', beyond: eur(250n) } }]);
});

it('a refund shown on Stripe is unchanged by a credit note that a person makes later', async () => {
  const h = LaneHarness.withInvoice({ amountCredited: 0n });
  await h.take(aPaymentSucceeded());
  await h.take(aRefund({ amount: 300, total: 300 }));
  h.platform.put(anInvoice({ status: 'paid', amountCredited: 1000n }));
  await h.idle(48);
  expect([notes(h), await items(h)]).toEqual([[300n], []]);
});
