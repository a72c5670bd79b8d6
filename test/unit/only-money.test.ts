// Two payments of one invoice, of which the one that settles it goes back to the customer: the other is the only money there is.
import { describe, expect, it } from '@jest/globals';
import { openReview, putPayment } from '../../src/domain/lane/change.js';
import { type LaneState, type PaymentRow, type ReviewRow } from '../../src/domain/model.js';
import { settleOnlyMoney } from '../../src/renewals/rules/only-money.js';
import { anInvoice, aPaymentSucceeded, aRefund, delivery, INVOICE_ID, invoiceEvent } from '../support/builders.js';
import { resolveReview } from '../../src/lane/rules/resolve-review.js';
import { returnDebit, undoReturn } from '../../src/returns/rules/return-debit.js';
import { LaneHarness } from '../support/lane-harness.js';
import { ctx, lane, payment } from '../support/waiting-payment.js';

const FIRST = { paymentId: 'pay_1', chargeId: 'ch_pay_1' } as const;
const SECOND = aPaymentSucceeded({ paymentId: 'pay_2' });
const refund = (amount: number) => aRefund({ ...FIRST, amount, total: amount });

async function open(h: LaneHarness): Promise<readonly ReviewRow[]> {
  await h.rest(5);
  return (await h.state(INVOICE_ID)).reviews.filter((r) => r.status === 'open');
}

async function paidTwice(): Promise<LaneHarness> {
  const h = LaneHarness.inMemory();
  h.platform.put(anInvoice());
  await h.take(aPaymentSucceeded(FIRST));
  await h.take(SECOND);
  expect((await open(h)).map((r) => r.proposal)).toEqual(['Refund 10.00 EUR.']);
  return h;
}

describe('the item of a second payment', () => {
  it('no longer proposes to refund it once somebody refunded the first', async () => {
    const h = await paidTwice();
    await h.take(refund(1000));
    const told = await open(h);
    expect(told).toMatchObject([
      {
        kind: 'double_payment',
        summary: expect.stringMatching(/pay_1 already settles .* this is the only money there is$/),
        proposal: expect.stringMatching(/^The customer has paid once\./),
      },
    ]);
    await h.take(invoiceEvent('invoice.updated', { status: 'paid' }));
    expect(await open(h)).toEqual(told);
  });

  it('nor when the first was refunded before the invoice was final', async () => {
    const h = LaneHarness.inMemory();
    h.platform.put(anInvoice({ status: 'draft' }));
    await h.take(aPaymentSucceeded(FIRST));
    await h.take(refund(1000));
    h.clock.advance(1_000);
    await h.take(SECOND);
    h.platform.change(INVOICE_ID, { status: 'open' });
    await h.take(invoiceEvent('invoice.finalized'));
    expect((await open(h)).map((r) => r.proposal)).toEqual([expect.stringMatching(/^The customer has paid once\./)]);
  });

  it('proposes it again once a dispute that took the first back is won after all', async () => {
    const h = await paidTwice();
    const outcome = async (id: string, said: string): Promise<readonly ReviewRow[]> => {
      const type = 'dispute.outcome';
      const data = { disputeId: 'dsp_1', paymentId: 'pay_1', outcome: said };
      h.clock.advance(60_000);
      const event = { id, type, created: h.clock.now().toISOString(), data };
      await h.take(delivery('mor_events', id, type, INVOICE_ID, event));
      return (await open(h)).filter((r) => r.kind === 'double_payment');
    };
    for (const round of [1, 2]) {
      const lost = await outcome(`evt_lost_${round}`, 'lost');
      expect(lost.map((r) => r.proposal)).toEqual([expect.stringMatching(/^The customer has paid once\./)]);
      const won = await outcome(`evt_won_${round}`, 'won');
      expect(won.map((r) => r.proposal)).toEqual(['Refund 10.00 EUR.']);
      expect(won[0]?.summary).not.toContain('only money');
    }
  });

  it.each(['before', 'after'])(
    'no longer proposes it once a bank returned the first, recorded %s the second came',
    async (when) => {
      const h = when === 'after' ? await paidTwice() : LaneHarness.inMemory();
      h.platform.put(when === 'after' ? anInvoice({ status: 'paid' }) : anInvoice());
      await h.take(aPaymentSucceeded(FIRST));
      await open(h);
      const first = (await h.state(INVOICE_ID)).payments[0]?.id ?? '';
      await h.command(INVOICE_ID, (s, ctx) => returnDebit(s, first, { by: 'ada', reference: null }, ctx));
      await h.take(SECOND);
      const told = (await open(h)).filter((r) => r.kind === 'double_payment');
      expect(told.map((r) => r.proposal)).toEqual([expect.stringMatching(/^The customer has paid once\./)]);
      await h.command(INVOICE_ID, (s, ctx) => undoReturn(s, first, 'ada', ctx));
      const again = (await open(h)).filter((r) => r.kind === 'double_payment');
      expect(again.map((r) => r.proposal)).toEqual(['Refund 10.00 EUR.']);
    },
  );

  it('does not call it the only money once a bank returned it as well', async () => {
    const h = await paidTwice();
    const second = (await h.state(INVOICE_ID)).payments[1]?.id ?? '';
    await h.command(INVOICE_ID, (s, ctx) => returnDebit(s, second, { by: 'ada', reference: null }, ctx));
    await h.take(refund(1000));
    const told = (await open(h)).filter((r) => r.kind === 'double_payment');
    expect(told.map((r) => r.summary)).toEqual([expect.stringMatching(/already settles this invoice$/)]);
  });

  it('still proposes it when a part of the first was refunded', async () => {
    const h = await paidTwice();
    await h.take(refund(300));
    expect((await open(h)).map((r) => r.proposal)).toEqual(['Refund 10.00 EUR.']);
  });

  it('is asked about afresh when the first does not settle it after all, and pays the invoice once a person looks again', async () => {
    const h = LaneHarness.inMemory();
    h.platform.put(anInvoice());
    h.platform.fail('report_payment', 'lost-request', 'refused');
    await h.take(aPaymentSucceeded(FIRST));
    await h.take(SECOND);
    await h.drain();
    expect((await open(h)).map((r) => [r.kind, r.proposal.slice(0, 12)])).toEqual([
      ['effect_failed', 'Fix what the'],
      ['double_payment', 'Settle the o'],
    ]);
    expect((await open(h))[1]?.summary).toMatch(/pay_1 already settles this invoice; that payment is not marked, and/);
    await h.take(refund(1000));
    const [told] = await open(h);
    expect(told?.summary).toMatch(/pay_1 already settles this invoice; that payment is not marked after all/);
    const choice = { resolution: 'retry', note: null, by: 'ada' } as const;
    await h.command(INVOICE_ID, (s, ctx) => resolveReview(s, told?.id ?? '', choice, ctx));
    expect(await open(h)).toEqual([]);
    expect((await h.state(INVOICE_ID)).payments.map((p) => p.mark)).toEqual(['closed', 'confirmed']);
  });

  it('is asked about afresh too where there are two of them: a person lets one pay the invoice, and gives the other back', async () => {
    const h = LaneHarness.inMemory();
    h.platform.put(anInvoice());
    h.platform.fail('report_payment', 'lost-request', 'refused');
    await h.take(aPaymentSucceeded(FIRST), SECOND, aPaymentSucceeded({ paymentId: 'pay_3' }));
    await h.drain();
    await open(h);
    await h.take(refund(1000));
    const told = await open(h);
    expect(told.map((r) => r.proposal.slice(0, 12))).toEqual(['Retry this: ', 'Retry this: ']);
    const choice = { resolution: 'retry', note: null, by: 'ada' } as const;
    await h.command(INVOICE_ID, (s, ctx) => resolveReview(s, told[0]?.id ?? '', choice, ctx));
    expect((await open(h)).map((r) => r.proposal)).toEqual(['Refund 10.00 EUR.']);
  });

  it('proposes the refund again where the first is marked after all', async () => {
    const h = LaneHarness.inMemory();
    h.platform.put(anInvoice());
    h.platform.fail('report_payment', 'lost-request', 'refused');
    await h.take(aPaymentSucceeded(FIRST));
    await h.take(SECOND);
    const item = (await open(h)).find((r) => r.kind === 'effect_failed');
    const choice = { resolution: 'retry', note: null, by: 'ada' } as const;
    await h.command(INVOICE_ID, (s, ctx) => resolveReview(s, item?.id ?? '', choice, ctx));
    expect((await open(h)).map((r) => r.proposal)).toEqual(['Refund 10.00 EUR.']);
    expect((await h.state(INVOICE_ID)).payments.map((p) => p.mark)).toEqual(['confirmed', 'parked']);
  });

  it('is left to what became of its own refund, and told once: of a part the bank had it, and the rest was given back', async () => {
    const h = await paidTwice();
    h.gateway.payments.set('pay_2', { minor: 1000n, currency: 'EUR', refunded: 0n });
    await h.take(refund(1000));
    const [id, type] = ['evt_lost', 'dispute.outcome'];
    const amount = { amount: '4.00', currency: 'EUR' };
    const data = { disputeId: 'dsp_1', paymentId: 'pay_2', outcome: 'lost', amount };
    const created = h.clock.now().toISOString();
    await h.take(delivery('mor_events', id, type, INVOICE_ID, { id, type, created, data }));
    const item = (await open(h)).find((r) => r.kind === 'double_payment');
    const choice = { resolution: 'refund', note: null, by: 'ada' } as const;
    await h.command(INVOICE_ID, (s, ctx) => resolveReview(s, item?.id ?? '', choice, ctx));
    const told = (await open(h)).filter((r) => r.kind === 'double_payment');
    expect(told.map((r) => r.proposal)).toEqual([expect.stringMatching(/nothing of it can be refunded any more/)]);
    for (const eventId of ['evt_u1', 'evt_u2'])
      await h.take(invoiceEvent('invoice.updated', { eventId, status: 'paid' }));
    expect((await open(h)).filter((r) => r.kind === 'double_payment')).toEqual(told);
  });

  it('asks first whether the two are one where they name one charge', async () => {
    const h = LaneHarness.inMemory();
    h.platform.put(anInvoice());
    await h.take(aPaymentSucceeded(FIRST));
    await h.take(aPaymentSucceeded({ paymentId: 'pay_2', chargeId: FIRST.chargeId }));
    await h.take(refund(1000));
    expect((await open(h)).map((r) => r.proposal)).toEqual([expect.stringMatching(/^Ask the MoR whether/)]);
  });
});

describe('the item of a second payment, of an invoice that has more than two', () => {
  const SUMMARY = '29.90 EUR was taken although payment pay_1 already settles this invoice';
  const row = (id: string, over: Partial<PaymentRow>): PaymentRow =>
    payment({ id: `pmt_${id}`, paymentId: `pay_${id}`, processorChargeId: `ch_${id}`, ...over });
  const gone = { amountRefunded: 2990n } as const;
  /** What its item says of the second payment after `SUMMARY`, beside these others; empty: nothing. */
  const saysOf = (over: Partial<PaymentRow>, others: readonly PaymentRow[], asked: readonly string[] = []): string => {
    const second = row('2', { mark: 'parked', ...over });
    const item = { kind: 'double_payment', summary: SUMMARY, proposal: 'Refund 29.90 EUR.' } as const;
    const s = [second.id, ...asked].reduce(
      (state, subject) => openReview(state, ctx(), { ...item, subject, paymentRowId: subject }),
      lane({}, second, ...others),
    );
    const told = settleOnlyMoney(s, ctx(), () => undefined);
    const said = told.reviews.filter((r) => r.status === 'open' && r.subject === second.id).map((r) => r.summary);
    expect(said).toEqual([expect.stringMatching(`^${SUMMARY}`)]);
    return said.join().slice(SUMMARY.length);
  };
  const SINCE = '; that money has gone back to the customer, so this is the only money there is';
  const AFTER_ALL = '; that payment is not marked after all, so this may be the only money there is';
  const BOTH = '; that payment is not marked, and waits for a person as well';

  it('calls it the only money once all that is marked has gone back, and not before', () => {
    const [first, third] = [row('1', { mark: 'confirmed' }), row('3', { mark: 'confirmed' })];
    expect(saysOf({}, [first, third])).toBe('');
    expect(saysOf({}, [{ ...first, ...gone }, third])).toBe('');
    expect(saysOf({}, [{ ...first, ...gone, amountRefunded: 2989n }])).toBe('');
    expect(
      saysOf({}, [
        { ...first, ...gone },
        { ...third, ...gone },
      ]),
    ).toBe(SINCE);
    expect(saysOf({}, [{ ...first, ...gone }, row('3', { mark: 'waiting' })])).toBe(SINCE);
    expect(saysOf(gone, [{ ...first, ...gone }])).toBe('');
    expect(saysOf({}, [{ ...first, ...gone, amount: null }])).toBe('');
  });

  it('calls none the only money that may be the very money that went back', () => {
    const first = row('1', { mark: 'confirmed', ...gone });
    const named = { origin: 'payment_link', processorChargeId: null } as const;
    const nameless = { ...named, paymentId: null } as const;
    expect(saysOf({ processorChargeId: 'ch_1' }, [first])).toBe('');
    expect(saysOf(nameless, [first])).toBe('');
    expect(saysOf({}, [{ ...first, ...nameless }])).toBe('');
    expect(saysOf({ origin: 'payment_link' }, [first])).toBe(SINCE);
    expect(saysOf(named, [first])).toBe(SINCE);
    expect(saysOf({ ...named, identifiedBy: 'ada' }, [first])).toBe('');
  });

  it('asks afresh where none is marked, and for the first one first while that waits for a person', () => {
    for (const mark of ['none', 'closed'] as const) expect(saysOf({}, [row('1', { mark })])).toBe(AFTER_ALL);
    expect(saysOf({}, [row('1', { mark: 'none' }), row('3', { mark: 'waiting' })])).toBe('');
    const first = row('1', { mark: 'parked' });
    expect(saysOf({}, [first])).toBe(BOTH);
    expect(saysOf({}, [first, row('3', { mark: 'closed' })])).toBe(BOTH);
    expect(saysOf({}, [{ ...first, ...gone }])).toBe(AFTER_ALL);
    expect(saysOf({}, [{ ...first, succeededAt: null }])).toBe(AFTER_ALL);
    expect(saysOf({}, [row('1', { mark: 'closed' })])).toBe(AFTER_ALL);
    expect(saysOf({}, [first], [first.id])).toBe(AFTER_ALL); // a second payment as well: either may be let through
  });

  it('closes the item of before with the reason, and proposes what it did once the first pays it after all', () => {
    const item = { kind: 'double_payment', subject: 'pmt_2', paymentRowId: 'pmt_2', summary: SUMMARY } as const;
    const both = lane({}, row('2', { mark: 'parked' }), row('1', { mark: 'confirmed' }));
    const asked = openReview(both, ctx(), { ...item, proposal: 'Refund 29.90 EUR.' });
    const settle = (s: LaneState): LaneState => settleOnlyMoney(s, ctx(), () => undefined);
    const since = settle(putPayment(asked, row('1', { mark: 'confirmed', ...gone })));
    const after = settle(putPayment(since, row('1', { mark: 'confirmed' })));
    expect(after.reviews.map((r) => [r.resolution, r.note, r.proposal.slice(0, 18)])).toEqual([
      ['cleared', `it is so no more${SINCE}`, 'Refund 29.90 EUR.'],
      ['cleared', 'another payment pays the invoice after all', 'The customer has p'],
      [null, null, 'Refund 29.90 EUR.'],
    ]);
    // Of an item of other kind, or of another payment, nothing is taken over.
    const other = openReview(both, ctx(), { ...item, kind: 'amount_mismatch', proposal: 'Apply it.' });
    const third = openReview(other, ctx(), { ...item, subject: 'pmt_3', paymentRowId: 'pmt_3', proposal: 'Retry it.' });
    const said = openReview(third, ctx(), { ...item, summary: `${SUMMARY}${SINCE}`, proposal: 'Bill it.' });
    expect(settle(said).reviews.at(-1)).toMatchObject({
      summary: SUMMARY,
      proposal: 'Ask the MoR whether the customer was charged twice. Refund it only if so; otherwise dismiss this.',
    });
  });
});
