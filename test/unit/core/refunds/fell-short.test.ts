// A payment that a person chose to give back, of which a bank had taken a part: somebody is asked until nothing of it is open.
import { tryChoice } from '../../../support/rigs/choose-item.js';
import { FACTS } from '../../../support/builders/item-facts.js';
import { expect, it } from '@jest/globals';
import { type Resolution } from '../../../../src/shared/domain/review-row.js';
import { anInvoice, aPaymentSucceeded, delivery, INVOICE_ID, START } from '../../../support/builders/events.js';
import { balances, LaneHarness, openKinds } from '../../../support/rigs/lane-harness.js';
import { closeReviews, openReview } from '../../../support/rigs/decide.js';

/** Paid twice, the second time by `pay_two`, of which a bank took 4.00 of 10.00 EUR by a dispute. */
async function paidTwice(): Promise<LaneHarness> {
  const h = LaneHarness.inMemory();
  h.platform.put(anInvoice());
  h.gateway.payments.set('pay_two', { minor: 1000n, currency: 'EUR', refunded: 0n });
  await h.take(aPaymentSucceeded(), aPaymentSucceeded({ eventId: 'evt_two', paymentId: 'pay_two' }));
  await outcome(h, 'lost', 0);
  return h;
}

async function outcome(harness: LaneHarness, said: 'lost' | 'won', hours: number): Promise<void> {
  const type = 'dispute.outcome';
  const data = { disputeId: 'dp_1', paymentId: 'pay_two', outcome: said, amount: { amount: '4.00', currency: 'EUR' } };
  const created = new Date(START.getTime() + hours * 3_600_000).toISOString();
  await harness.take(
    delivery('mor_events', `evt_${said}`, type, INVOICE_ID, { id: `evt_${said}`, type, created, data }),
  );
}

async function choose(harness: LaneHarness, resolution: Resolution): Promise<boolean> {
  const done = await tryChoice(harness, resolution, { kind: 'double_payment' });
  await harness.idle(48);
  return done.ok;
}

const item = async (harness: LaneHarness) =>
  (await harness.state(INVOICE_ID)).reviews.findLast((r) => r.kind === 'double_payment' && r.status === 'open');

it('if a lost dispute took part of a double payment, the double_payment item opens again after the refund of the rest', async () => {
  const h = await paidTwice();
  expect(await choose(h, 'refund')).toBe(true);
  expect(await item(h)).toMatchObject({ fact: { code: 'paid-twice' } });
  expect(await choose(h, 'refund')).toBe(false);
  expect(await choose(h, 'dismiss')).toBe(true);
  const s = await h.state(INVOICE_ID);
  expect([openKinds(s), s.payments.map((p) => p.mark)]).toEqual([['dispute'], ['confirmed', 'closed']]);
  // What is left of it stands against the loss: accounting.md.
  expect(balances(s)).toEqual({
    ...{ mor_receivable: 1000n, settled_invoices: -1000n },
    ...{ unmarked_payments: -400n, disputed_payments: 400n },
  });
});

it('if the MoR wins the dispute about a double payment, the item offers to refund the rest, and closes after that refund', async () => {
  const h = await paidTwice();
  await choose(h, 'refund');
  await outcome(h, 'won', 24);
  expect(await item(h)).toMatchObject({ fact: { code: 'paid-twice' } });
  expect(await choose(h, 'refund')).toBe(true);
  const s = await h.state(INVOICE_ID);
  expect(h.gateway.payments.get('pay_two')?.refunded).toBe(1000n);
  expect([openKinds(s), s.payments[1]?.mark]).toEqual([[], 'closed']);
  expect(balances(s)).toEqual({ mor_receivable: 1000n, settled_invoices: -1000n });
});

it('a refunded double payment keeps its review item even if another review item of the same payment closes', async () => {
  const h = await paidTwice();
  const of = (await h.state(INVOICE_ID)).payments[1]?.id ?? '';
  const by = { by: null, resolution: 'cleared', note: 'the signup was completed with the right amount' } as const;
  const notified = {
    kind: 'amount_mismatch',
    subject: 'sup_1',
    paymentRowId: of,
    fact: FACTS.amount_mismatch,
  } as const;
  await h.command(INVOICE_ID, (s, ctx) => {
    const state = closeReviews(openReview(s, ctx, notified), ctx, (r) => r.subject === 'sup_1', by);
    return { ok: true, state, value: null };
  });
  await choose(h, 'refund');
  expect(await item(h)).toMatchObject({ fact: { code: 'paid-twice' } });
});
