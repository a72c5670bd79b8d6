// What a line of the MoR's statement and the ledger say of each other.
import { describe, expect, it } from '@jest/globals';
import { type OurPayment, type OurRefund, type Ours } from '../../src/domain/statement.js';
import { idsOf, judge, twice, unread } from '../../src/statements/rules/judge.js';
import { type StatementLine } from '../../src/statements/rules/line.js';

const line = (over: Partial<StatementLine> = {}): StatementLine => ({
  ...{ line: 7, type: 'payment', charge: 'ch_1', payment: 'pay_1', refund: null },
  ...{ amount: 2990n, currency: 'EUR', at: null, fee: null, ...over },
});
const refundLine = (over: Partial<StatementLine> = {}): StatementLine =>
  line({ type: 'refund', refund: 'rfnd_1', amount: -1000n, ...over });
const payment = (over: Partial<OurPayment> = {}): OurPayment => ({
  ...{ id: 'pmt_1', paymentId: 'pay_1', charge: 'ch_1', intent: 'pi_1', reference: 'ref_1', invoiceId: 'in_1' },
  ...{
    amount: 2990n,
    currency: 'EUR',
    status: 'succeeded',
    taken: true,
    refunded: 0n,
    lost: 0n,
    returned: 0n,
    ...over,
  },
});
const refund = (over: Partial<OurRefund> = {}): OurRefund => ({
  ...{ id: 'ref_1', paymentRowId: 'pmt_1', morRefundId: 'rfnd_1', processorRefundId: 're_1', invoiceId: 'in_1' },
  ...{ amount: 1000n, currency: 'EUR', status: 'succeeded', booked: true, ...over },
});
const ours = (payments: readonly OurPayment[], refunds: readonly OurRefund[] = []): Ours => ({ payments, refunds });
const said = (l: StatementLine, o: Ours): readonly [string, string | null, string | null, string | null] => {
  const { key, subject, finding } = judge(l, o, 'sha');
  return [key, subject, finding?.kind ?? null, finding?.detail ?? null];
};

describe('a payment of a statement', () => {
  it.each([
    ['its pay_... id', { charge: null }],
    ['our own id', { payment: 'pmt_1', charge: null }],
    ['its charge', { payment: null }],
    ['its payment intent', { payment: 'pi_1', charge: null }],
    ['the reference of its transfer or link', { payment: 'ref_1', charge: null }],
  ])('agrees when amount and currency do, found by %s', (_, over) => {
    expect(said(line(over), ours([payment()]))).toEqual(['payment:pmt_1', 'payment:pmt_1', null, null]);
  });

  it('of a statement without types is one when it names no refund', () => {
    expect(said(line({ type: null }), ours([payment()]))).toEqual(['payment:pmt_1', 'payment:pmt_1', null, null]);
    expect(said(line({ type: null, refund: 'rfnd_1', amount: 1000n }), ours([payment()], [refund()]))[0]).toBe(
      'refund:ref_1',
    );
  });

  it.each([
    ['another amount', { amount: 2989n }, {}, 'amount_differs', 'the statement says 29.89 EUR, the ledger 29.90 EUR'],
    [
      'another currency',
      { currency: 'CHF' },
      {},
      'currency_differs',
      'the statement says 29.90 CHF, the ledger 29.90 EUR',
    ],
    [
      'an amount that is not known here',
      {},
      { amount: null },
      'amount_differs',
      'the statement says 29.90 EUR, the ledger 0.00 EUR',
    ],
    [
      'what was not taken here',
      {},
      { taken: false, status: 'failed' },
      'status_differs',
      'the statement has the payment as taken; here it is failed',
    ],
    [
      'another charge',
      { charge: 'ch_9' },
      {},
      'ids_differ',
      'payment pay_1 has charge ch_1 here, the statement says ch_9, which nothing here has',
    ],
  ] as const)('with %s differs, and says how', (_, l, p, kind, detail) => {
    expect(said(line(l), ours([payment(p)]))).toEqual(['payment:pmt_1', 'payment:pmt_1', kind, detail]);
    expect(judge(line(l), ours([payment(p)]), 'sha').finding).toMatchObject({
      ...{ line: 7, payment: 'pay_1', invoiceId: 'in_1', ledgerCurrency: 'EUR', ledgerAmount: payment(p).amount },
    });
  });

  it('whose charge is another payment’s here names that one', () => {
    const other = payment({ id: 'pmt_2', paymentId: 'pay_2', charge: 'ch_9', intent: 'pi_2', reference: null });
    expect(said(line({ charge: 'ch_9' }), ours([other, payment()]))[3]).toContain('which payment pay_2 has');
  });

  it('is compared by its own name before its charge, and with the one that was taken before the one that was not', () => {
    const shared = payment({ id: 'pmt_2', paymentId: 'pay_2', amount: 500n });
    expect(said(line(), ours([shared, payment()]))).toEqual(['payment:pmt_1', 'payment:pmt_1', null, null]);
    const refused = payment({ id: 'pmt_3', paymentId: null, taken: false, status: 'failed' });
    expect(said(line({ payment: null }), ours([refused, payment()]))[1]).toBe('payment:pmt_1');
  });

  it('whose charge is not known here is no difference: the ledger has the payment', () => {
    expect(said(line(), ours([payment({ charge: null })]))).toEqual(['payment:pmt_1', 'payment:pmt_1', null, null]);
  });

  it('that the ledger does not have is named by all its ids, or by none', () => {
    expect(said(line(), ours([]))).toEqual([
      ...['payment:pay_1', null, 'only_statement', 'the ledger has no payment by ch_1 or pay_1'],
    ]);
    expect(said(line({ payment: null }), ours([]))[0]).toBe('payment:ch_1');
    const nameless = line({ payment: null, charge: null });
    expect(said(nameless, ours([payment({ paymentId: null, charge: null, intent: null, reference: null })]))).toEqual([
      ...['payment:line 7', null, 'only_statement', 'it names no charge, payment or refund, so it matches nothing'],
    ]);
  });

  it('below zero without a refund id is nothing that one may guess', () => {
    const below = line({ amount: -2990n });
    expect(said(below, ours([payment()]))).toEqual([
      ...['minus:pmt_1', null, 'negative_amount'],
      '-29.90 EUR of payment pay_1 and no refund id: a refund, a fee or a returned debit? Map its type column (--column type=<name>)',
    ]);
    expect(said(below, ours([]))[3]).toMatch(/^-29\.90 EUR and no refund id/);
    expect(said(line({ amount: 0n }), ours([payment()]))[2]).toBe('amount_differs');
  });
});

describe('a refund of a statement', () => {
  it.each(['rfnd_1', 're_1', 'ref_1'])('agrees by its id %s, with either sign', (name) => {
    for (const amount of [1000n, -1000n]) {
      const l = refundLine({ refund: name, amount });
      expect(said(l, ours([payment()], [refund()]))).toEqual(['refund:ref_1', 'refund:ref_1', null, null]);
    }
  });

  it('without an id is the one refund of its payment with that amount and currency', () => {
    const l = refundLine({ refund: null });
    const others = [
      refund({ id: 'ref_2', amount: 999n }),
      refund({ id: 'ref_3', currency: 'CHF' }),
      refund({ id: 'ref_4', paymentRowId: 'pmt_2' }),
    ];
    expect(said(l, ours([payment()], [...others, refund()]))[1]).toBe('refund:ref_1');
    const two = ours([payment()], [refund(), refund({ id: 'ref_5' })]);
    expect(said(l, two)).toEqual([
      ...['refund:line 7', null, 'only_statement', 'it names no refund, and payment pay_1 has 2 of this amount'],
    ]);
    const failed = refund({ id: 'ref_6', status: 'failed' });
    expect(said(l, ours([payment()], [failed, refund()]))).toEqual(['refund:ref_1', 'refund:ref_1', null, null]);
    expect(said(l, ours([payment()], [failed])).slice(1, 3)).toEqual(['refund:ref_6', 'status_differs']);
    expect(said(l, ours([], [refund()]))[3]).toBe('the ledger has no refund by ch_1 or pay_1');
  });

  it('that is known and not in the ledger differs, and of two alike the one in the ledger is meant', () => {
    const uncounted = refund({ id: 'ref_6', morRefundId: 'rfnd_6', booked: false });
    const [, subject, kind, detail] = said(refundLine({ refund: 'rfnd_6' }), ours([payment()], [refund(), uncounted]));
    expect([subject, kind]).toEqual(['refund:ref_6', 'status_differs']);
    expect(detail).toMatch(/^the statement has the refund as paid; it is known here, and not in the ledger/);
    const unnamed = refundLine({ refund: null });
    expect(said(unnamed, ours([payment()], [uncounted, refund()]))).toEqual([
      'refund:ref_1',
      'refund:ref_1',
      null,
      null,
    ]);
  });

  it('is the one of its own payment where two payments’ refunds bear one id of the processor’s', () => {
    const other = refund({ id: 'ref_0', paymentRowId: 'pmt_0', morRefundId: 'rfnd_0' });
    const all = ours([payment({ id: 'pmt_0', paymentId: 'pay_0', charge: 'ch_0' }), payment()], [other, refund()]);
    expect(said(refundLine({ refund: 're_1' }), all)).toEqual(['refund:ref_1', 'refund:ref_1', null, null]);
    expect(said(refundLine({ refund: 're_1', payment: 'pay_0', charge: 'ch_0' }), all)[0]).toBe('refund:ref_0');
    expect(said(refundLine({ refund: 'rfnd_0' }), all)[2]).toBe('ids_differ');
  });

  it.each([
    ['another amount', { amount: -999n }, {}, 'amount_differs', 'the statement says 9.99 EUR, the ledger 10.00 EUR'],
    [
      'another currency',
      { currency: 'CHF' },
      {},
      'currency_differs',
      'the statement says 10.00 CHF, the ledger 10.00 EUR',
    ],
    [
      'one that is on its way here',
      {},
      { status: 'pending' },
      'status_differs',
      'the statement has the refund as paid; here it is pending',
    ],
    [
      'one of another payment',
      {},
      { paymentRowId: 'pmt_2' },
      'ids_differ',
      'refund rfnd_1 is not one of payment pay_1 here',
    ],
  ] as const)('with %s differs, and says how', (_, l, r, kind, detail) => {
    const judged = judge(refundLine(l), ours([payment()], [refund(r)]), 'sha');
    expect([judged.key, judged.subject, judged.finding?.kind, judged.finding?.detail]).toEqual([
      ...['refund:ref_1', 'refund:ref_1', kind, detail],
    ]);
    expect(judged.finding).toMatchObject({ refund: 'rfnd_1', invoiceId: 'in_1', ledgerAmount: 1000n });
  });

  it('that the ledger does not have is named by its id, beside the payment that it names', () => {
    expect(said(refundLine(), ours([payment()]))).toEqual([
      ...['refund:rfnd_1', null, 'only_statement', 'the ledger has no refund by ch_1 or pay_1 or rfnd_1'],
    ]);
    expect(judge(refundLine(), ours([payment()]), 'sha').finding).toMatchObject({
      payment: 'pay_1',
      invoiceId: 'in_1',
    });
    expect(judge(refundLine(), ours([]), 'sha').finding).toMatchObject({ payment: 'pay_1', invoiceId: null });
  });
});

describe('another line of a statement', () => {
  it('is a fee, known again by its bytes', () => {
    expect(said(line({ type: 'fee' }), ours([payment()]))).toEqual(['fee:sha', null, 'fee', 'a fee of the MoR']);
  });

  it('is a returned debit: proposed, or booked here already, or of nothing that is known', () => {
    const l = line({ type: 'returned', amount: -2990n });
    const proposed = 'the bank returned the debit of payment pay_1: if that is so, `crossbill returned pay_1`';
    expect(said(l, ours([payment()]))).toEqual(['returned:pmt_1', null, 'debit_returned', proposed]);
    const booked = 'the return is booked here, 29.90 EUR as lost';
    expect(said(l, ours([payment({ returned: 2990n })]))).toEqual(['returned:pmt_1', null, 'return_booked', booked]);
    const nobody = 'a returned debit: the ledger has no payment by ch_1 or pay_1';
    expect(said(l, ours([]))).toEqual(['returned:pay_1', null, 'only_statement', nobody]);
    expect(said(line({ type: 'returned', payment: null }), ours([]))[0]).toBe('returned:ch_1');
    expect(said(line({ type: 'returned', payment: null, charge: null }), ours([]))[0]).toBe('returned:line 7');
  });

  it('is a returned debit whose day the command is told, where the line has one', () => {
    const l = line({ type: 'returned', amount: -2990n, at: new Date('2026-11-24T22:30:00Z') });
    expect(said(l, ours([payment()]))[3]).toContain('`crossbill returned pay_1 --on 2026-11-24`');
  });

  it('is a returned debit of which another amount is booked: both amounts are named, and what a person can do', () => {
    const l = line({ type: 'returned', amount: -2990n });
    const part = payment({ refunded: 1000n, returned: 1990n });
    const twice =
      'So the customer got it twice, or the MoR owes it to you: ask the MoR, and book what it takes from you beside this ledger';
    const theirs = 'the statement says 29.90 EUR was returned, the ledger has 19.90 EUR as lost';
    expect(said(l, ours([part]))).toEqual([
      ...['returned:pmt_1', null, 'amount_differs', `${theirs}: the rest was refunded as well. ${twice}`],
    ]);
    expect(judge(l, ours([part]), 'sha').finding).toMatchObject({ amount: -2990n, ledgerAmount: 1990n });
    expect(said({ ...l, amount: -1990n }, ours([part]))[2]).toBe('return_booked');
    expect(said({ ...l, amount: 1990n }, ours([part]))[2]).toBe('return_booked');
    const less = 'the statement says 10.00 EUR was returned, the ledger has 19.90 EUR as lost';
    expect(said({ ...l, amount: -1000n }, ours([part])).slice(2)).toEqual(['amount_differs', less]);
    expect(said({ ...l, amount: -1990n, currency: 'CHF' }, ours([part]))[2]).toBe('currency_differs');
    const disputed = payment({ refunded: 500n, lost: 500n, returned: 1990n });
    expect(said(l, ours([disputed]))[3]).toContain('the rest was refunded or lost in a dispute as well');
  });

  it('is a returned debit that a lost dispute of a part does not hide: what is left of it can be booked', () => {
    const l = line({ type: 'returned', amount: -2990n });
    const advice =
      'the bank returned the debit of payment pay_1: if that is so, `crossbill returned pay_1`, which books the 28.90 EUR that is left of it';
    expect(said(l, ours([payment({ lost: 100n })])).slice(2)).toEqual(['debit_returned', advice]);
    expect(said(l, ours([payment({ refunded: 100n })])).slice(2)).toEqual(['debit_returned', advice]);
  });

  it('is a returned debit of which nothing is left to book: no command is named that cannot work', () => {
    const l = line({ type: 'returned', amount: -2990n });
    const [, subject, kind, detail] = said(l, ours([payment({ refunded: 2990n })]));
    expect([subject, kind]).toEqual([null, 'status_differs']);
    expect(detail).toMatch(
      /^the bank returned the debit of payment pay_1; all of it was refunded before, .*ask the MoR/,
    );
    expect(detail).not.toContain('crossbill returned');
    const lost = said(l, ours([payment({ lost: 2990n })]))[3];
    expect(lost).toContain('all of it was lost in a dispute before');
    expect(lost).toMatch(/If this line is the chargeback of that dispute, both agree: leave such lines out/);
    expect(lost).not.toContain('got it twice');
    expect(said(l, ours([payment({ refunded: 990n, lost: 2000n })]))[3]).toContain('the customer got it twice');
    expect(said(l, ours([payment({ taken: false, status: 'failed' })])).slice(2)).toEqual([
      ...['status_differs', 'the statement has the debit as returned; here nothing was taken, it is failed'],
    ]);
  });

  it.each(['payment', 'returned', 'refund'] as const)(
    'of type %s that names a payment of nobody does not agree by its charge alone',
    (type) => {
      const l = line({ type, payment: 'pay_other', amount: type === 'payment' ? 2990n : -2990n });
      const all = ours([payment({ returned: 2990n })], [refund({ amount: 2990n })]);
      expect(said(l, all).slice(2)).toEqual([
        ...[
          'ids_differ',
          'line 7 names payment pay_other, which nothing here has; its charge ch_1 is that of payment pay_1 here',
        ],
      ]);
      const unnamed = ours([payment({ paymentId: null, returned: 2990n })], [refund({ amount: 2990n })]);
      expect(said(l, unnamed)[2]).toBe(type === 'returned' ? 'return_booked' : null); // a signup that nobody named yet
    },
  );

  it('says the same as an earlier one, with what the ledger has of it', () => {
    const about = judge(line({ amount: 1n }), ours([payment()]), 'sha').finding;
    const known = { invoiceId: 'in_1', ledgerAmount: 2990n, ledgerCurrency: 'EUR' };
    expect(twice(line({ line: 9 }), 7, about)).toMatchObject({
      ...{ line: 9, kind: 'line_twice', detail: 'the same is on line 7 already', ...known },
    });
    const unknown = { invoiceId: null, ledgerAmount: null, ledgerCurrency: null };
    expect(twice(line({ line: 9 }), 7, null)).toMatchObject({ ...unknown, charge: 'ch_1', amount: 2990n });
  });

  it('cannot be read, and says so with its number and nothing else', () => {
    expect(unread(3, 'unreadable', 'no amount')).toMatchObject({
      line: 3,
      kind: 'unreadable',
      amount: null,
      detail: 'no amount',
    });
  });

  it('may be looked up by each id that it has', () => {
    expect(idsOf(refundLine())).toEqual(['ch_1', 'pay_1', 'rfnd_1']);
    expect(idsOf(line({ charge: null, payment: null }))).toEqual([]);
  });
});
