// What Stripe says of an invoice, in whatever order it is heard; and what its state is called towards the outside.
import { describe, expect, it } from '@jest/globals';
import { emptyLane } from '../../src/engine/change.js';
import { putPayment } from '../support/put-rows.js';
import { askAgain, isFresh, lookAfresh, takeEvent, takeRead } from '../../src/engine/facts.js';
import { newPayment } from '../../src/engine/payment.js';
import { type InvoiceRow, type LaneState, type MarkStage, type PaymentRow } from '../../src/domain/model.js';
import { isLiveProforma, isPayableLink, lostOf, newMorObject } from '../../src/domain/mor-object.js';
import { type InvoiceFacts } from '../../src/domain/ports/billing-platform.js';
import { isOutside, isOver, isPayable, paymentStatus, publicStatus, refundable } from '../../src/domain/status.js';
import { newRefund } from '../../src/refunds/rules/refund.js';
import { aCtx, facts, NOW } from '../support/channel-lane.js';
import { never } from '../support/never.js';

const at = (seconds: number): Date => new Date(NOW.getTime() + seconds * 1_000);
const lane = emptyLane('in_1');
const STATUSES = ['draft', 'open', 'uncollectible', 'void', 'paid', 'deleted'] as const;
const of = (s: LaneState): InvoiceRow => s.invoice ?? never();
const payment = (over: Partial<PaymentRow> = {}): PaymentRow =>
  newPayment(aCtx(), {
    invoiceId: 'in_1',
    customerId: 'cus_1',
    currency: 'EUR',
    amount: 2990n,
    succeededAt: NOW,
    ...over,
  });

describe('an event about an invoice', () => {
  const seen = (first: Partial<InvoiceFacts>, then: Partial<InvoiceFacts>, when: number): InvoiceRow => {
    const s = takeEvent(lane, aCtx(), facts(first), NOW);
    return of(takeEvent(s, aCtx(at(60)), facts(then), at(when)));
  };

  it('that is further along counts however late it was made, and one that is less far along never', () => {
    for (const [n, before] of STATUSES.entries()) {
      for (const [m, after] of STATUSES.entries()) {
        const same = (x: number): number => Math.min(x, 3); // void, paid and deleted are as far along
        const wanted = same(m) > same(n) ? after : before;
        expect([before, after, seen({ status: before }, { status: after }, -1).platformStatus]).toEqual([
          before,
          after,
          wanted,
        ]);
      }
    }
  });

  it('that is as far along counts when it is not older', () => {
    expect(seen({ amountDue: 100n }, { amountDue: 200n }, 1)).toMatchObject({ amountDue: 200n, factsAt: at(1) });
    expect(seen({ amountDue: 100n }, { amountDue: 200n }, 0)).toMatchObject({ amountDue: 200n });
    expect(seen({ amountDue: 100n }, { amountDue: 200n }, -1)).toMatchObject({ amountDue: 100n, factsAt: NOW });
    expect(seen({ status: 'paid' }, { status: 'void' }, 1).platformStatus).toBe('void');
  });

  it('that comes late fills what nobody told yet, and changes nothing that is known', () => {
    const blank = { customerCountry: null, number: null, billingReason: null, subscriptionId: null, createdAt: null };
    const news = {
      customerId: 'cus_9',
      customerCountry: 'DE',
      number: 'A-1',
      billingReason: 'manual',
      subscriptionId: 'sub_9',
      createdAt: at(-9),
    };
    const names = (i: InvoiceRow) => [
      i.customerId,
      i.customerCountry,
      i.number,
      i.billingReason,
      i.subscriptionId,
      i.platformCreatedAt,
    ];
    const filled = seen({ status: 'paid', ...blank }, { status: 'open', ...news, amountDue: 1n }, 9);
    expect(names(filled)).toEqual(['cus_1', 'DE', 'A-1', 'manual', 'sub_9', at(-9)]);
    expect(filled).toMatchObject({ platformStatus: 'paid', amountDue: 2990n, factsAt: NOW });
    const known = { status: 'paid', customerCountry: 'GB', number: 'B-2' } as const;
    expect(names(seen(known, { status: 'open', ...news }, 9))).toEqual([
      'cus_1',
      'GB',
      'B-2',
      'subscription_cycle',
      'sub_1',
      NOW,
    ]);
  });

  it('that tells of a failed finalization is remembered while the invoice is a draft', () => {
    const error = { finalizationError: 'no address' };
    expect(seen({ status: 'draft' }, { status: 'draft', ...error }, -1).finalizationError).toBe('no address');
    expect(seen({ status: 'open' }, { status: 'draft', ...error }, -1).finalizationError).toBeNull();
    expect(seen({ status: 'draft', ...error }, { status: 'draft' }, 1).finalizationError).toBe('no address');
    expect(seen({ status: 'draft', ...error }, { status: 'open', ...error }, 1).finalizationError).toBeNull();
    expect(
      seen({ status: 'draft', ...error }, { status: 'draft', finalizationError: 'no tax' }, -1).finalizationError,
    ).toBe('no address');
  });

  it('keeps a number and a day that are known when a later one does not say them', () => {
    expect(seen({ number: 'A-1' }, { number: null, createdAt: null }, 1)).toMatchObject({
      number: 'A-1',
      platformCreatedAt: NOW,
    });
  });
});

describe('a read of an invoice', () => {
  it('is the truth of this moment, whatever was heard before', () => {
    const s = takeEvent(lane, aCtx(), facts({ status: 'paid' }), at(100));
    const read = of(
      takeRead({ ...s, invoice: { ...of(s), readDueAt: NOW, readAttempts: 3 } }, aCtx(at(1)), facts({ amountDue: 1n })),
    );
    expect(read).toMatchObject({
      platformStatus: 'open',
      amountDue: 1n,
      readAt: at(1),
      factsAt: at(1),
      readDueAt: null,
      readAttempts: 0,
    });
  });

  it('that finds nothing says deleted, and keeps what is known', () => {
    const s = takeRead(takeRead(lane, aCtx(), facts()), aCtx(at(1)), null);
    expect(of(s)).toMatchObject({ platformStatus: 'deleted', customerId: 'cus_1', amountDue: 2990n, readAt: at(1) });
    expect(of(takeRead(lane, aCtx(), null))).toMatchObject({
      invoiceId: 'in_1',
      platformStatus: 'deleted',
      firstSeenAt: NOW,
    });
  });

  it('is fresh for ten seconds, by a clock that was set back as well', () => {
    const i = of(takeRead(lane, aCtx(), facts()));
    expect([0, 10, 10.001, -10, -10.001].map((s) => isFresh(i, at(s)))).toEqual([true, true, false, true, false]);
    expect(isFresh(null, NOW)).toBe(false);
    expect(isFresh({ ...i, readAt: null }, NOW)).toBe(false);
  });

  it('is wanted again before anything is written, or at once for its own sake', () => {
    const s = takeRead(lane, aCtx(), facts());
    expect(of(lookAfresh(s))).toMatchObject({ readAt: null, readDueAt: null });
    expect(of(askAgain(s, aCtx(at(1))))).toMatchObject({ readAt: null, readDueAt: at(1) });
    expect([lookAfresh(lane), askAgain(lane, aCtx())]).toEqual([lane, lane]);
  });

  it('says whether Stripe takes a payment: open and uncollectible invoices alone', () => {
    const payable = STATUSES.filter((status) => isPayable(takeRead(lane, aCtx(), facts({ status })).invoice));
    expect(payable).toEqual(['open', 'uncollectible']);
    expect(isPayable(lane.invoice)).toBe(false);
  });
});

describe('the status of an invoice towards the outside', () => {
  const open = takeRead(lane, aCtx(), facts());
  const withMarks = (s: LaneState, ...marks: MarkStage[]): LaneState =>
    marks.reduce((state, mark, n) => putPayment(state, payment({ id: `p${n}`, mark })), s);
  const read = (over: Partial<InvoiceFacts>): LaneState => takeRead(lane, aCtx(), facts(over));

  it.each([
    ['no payment has been reported', open, 'expected'],
    ['the MoR refused it', withMarks(open, 'none'), 'open'],
    ['its payment was left aside', withMarks(open, 'closed'), 'open'],
    ['money waits for the draft', withMarks(open, 'held'), 'held'],
    ['money waits for a person', withMarks(open, 'parked', 'waiting'), 'review'],
    ['a payment is on its way to it', withMarks(open, 'waiting'), 'marking'],
    ['a draft is made final', withMarks(open, 'finalizing'), 'marking'],
    ['it is being reported', withMarks(open, 'reporting'), 'marking'],
    ['the reference is being set', withMarks(open, 'referencing'), 'marking'],
    ['a charge is being proven', withMarks(open, 'proving'), 'marking'],
    ['it is marked', withMarks(open, 'confirmed'), 'paid'],
    ['it is marked, and a second payment waits for a person', withMarks(open, 'confirmed', 'parked'), 'paid'],
    ['Stripe shows it paid', read({ status: 'paid' }), 'paid'],
    ['Stripe shows it paid before the mark is through', withMarks(read({ status: 'paid' }), 'attaching'), 'marking'],
    ['Stripe shows it paid before it is paid out of band', withMarks(read({ status: 'paid' }), 'paying'), 'marking'],
    ['it is void', read({ status: 'void' }), 'void'],
    ['it was deleted', read({ status: 'deleted' }), 'void'],
    ['it is void and money waits', withMarks(read({ status: 'void' }), 'parked'), 'review'],
    ['it is uncollectible', read({ status: 'uncollectible' }), 'expected'],
    ['it is a signup’s', read({ billingReason: 'subscription_create' }), 'ignored'],
    ['nothing is due', read({ amountDue: 0n }), 'ignored'],
    ['it is a signup’s and was refused', withMarks(read({ billingReason: 'subscription_create' }), 'none'), 'open'],
  ])('when %s', (_, s, status) => {
    expect(publicStatus(s)).toBe(status);
  });

  it('is open while a charge is known and not settled: a debit on its way is not being marked', () => {
    expect(publicStatus(putPayment(open, payment({ mark: 'proving', pendingSince: NOW })))).toBe('open');
  });

  it('is open while a part that a person let through leaves a rest, and review while the next part waits', () => {
    const part = putPayment(open, payment({ id: 'a', mark: 'confirmed', waived: ['amount_mismatch'] }));
    expect(publicStatus(part)).toBe('open');
    expect(publicStatus(putPayment(part, payment({ id: 'b', mark: 'parked' })))).toBe('review');
    expect(publicStatus(putPayment(part, payment({ id: 'b', mark: 'confirmed' })))).toBe('paid');
    const rest = (over: Partial<InvoiceRow>): string => publicStatus({ ...part, invoice: { ...of(part), ...over } });
    expect(rest({ platformStatus: 'uncollectible' })).toBe('open');
    expect(rest({ platformStatus: 'paid' })).toBe('paid');
    expect(rest({ amountRemaining: 0n })).toBe('paid');
    expect(rest({ amountRemaining: null })).toBe('paid');
  });

  it('is ignored for a customer who is not enrolled, until money or an object of the MoR makes it ours', () => {
    const outside: LaneState = { ...open, invoice: { ...of(open), enrolled: false } };
    const object = newMorObject(NOW, { id: 'o', kind: 'payment_link', invoiceId: 'in_1', status: 'PAYABLE' });
    expect([isOutside(outside), publicStatus(outside)]).toEqual([true, 'ignored']);
    expect(isOutside({ ...outside, objects: [object] })).toBe(false);
    expect(isOutside(putPayment(outside, payment()))).toBe(false);
    expect(isOutside({ invoice: { enrolled: false }, payments: [] })).toBe(true);
    expect([isOutside(open), isOutside(lane)]).toEqual([false, false]);
  });

  it('is over when it is paid, void or deleted; an uncollectible one may still be paid', () => {
    expect([...STATUSES, 'unknown' as const].filter(isOver)).toEqual(['void', 'paid', 'deleted']);
  });
});

describe('what of a payment can be given back', () => {
  const p = payment({ amount: 1000n });
  const r = (amount: bigint, over = {}) => ({ ...newRefund(aCtx(), p, amount, null, 'api'), ...over });

  it('is what is neither given back, nor promised, nor taken by a bank', () => {
    expect(refundable(p, [], 0n)).toBe(1000n);
    expect(refundable(p, [r(300n), r(200n, { status: 'succeeded' })], 0n)).toBe(500n);
    expect(refundable(p, [r(300n, { status: 'failed' })], 0n)).toBe(1000n);
    expect(refundable(p, [r(300n, { paymentRowId: 'another' })], 0n)).toBe(1000n);
    expect(refundable(p, [r(300n)], 400n)).toBe(300n);
    expect(refundable(p, [r(600n)], 400n)).toBe(0n);
    expect(refundable(p, [r(900n)], 400n)).toBe(0n);
  });

  it('counts the MoR’s running total where it is more than the refunds that are known', () => {
    expect(refundable({ ...p, refundedTotal: 700n }, [r(300n)], 0n)).toBe(300n);
    expect(refundable({ ...p, refundedTotal: 200n }, [r(300n)], 0n)).toBe(700n);
  });

  it('is nothing of a payment that did not succeed or whose amount is not known', () => {
    expect(refundable({ ...p, succeededAt: null }, [], 0n)).toBe(0n);
    expect(refundable({ ...p, amount: null }, [], 0n)).toBe(0n);
  });

  it('and its status: refunded, in part, or as it was', () => {
    expect([0n, 1n, 999n, 1000n, 1001n].map((n) => paymentStatus(p, n))).toEqual([
      ...['succeeded', 'partially_refunded', 'partially_refunded', 'refunded', 'refunded'],
    ]);
    expect(paymentStatus({ ...p, amount: null }, 1n)).toBe('partially_refunded');
    expect(paymentStatus({ ...p, succeededAt: null, status: 'failed' }, 0n)).toBe('failed');
  });

  it('is less by every dispute that is lost and booked on it, and by no other', () => {
    const dispute = (id: string, over = {}) => ({
      ...newMorObject(NOW, { id, kind: 'dispute', invoiceId: 'in_1', status: 'lost' }),
      detail: { loss: { of: p.id, minor: '250', entries: 1 } },
      ...over,
    });
    expect(lostOf(p.id, [dispute('a'), dispute('b'), dispute('c', { detail: {} })])).toBe(500n);
    expect(lostOf(p.id, [dispute('a', { kind: 'debit_return' })])).toBe(0n);
    expect(lostOf('another', [dispute('a')])).toBe(0n);
  });
});

describe('another way to pay', () => {
  const o = (kind: 'payment_link' | 'proforma', status: string, deadline: Date | null = null) =>
    newMorObject(NOW, { id: 'o', kind, invoiceId: 'in_1', status, deadline });

  it('is a link that was asked for, or can be paid until its deadline', () => {
    expect(isPayableLink(o('payment_link', 'REQUESTED'), NOW)).toBe(true);
    expect(isPayableLink(o('payment_link', 'PAYABLE'), NOW)).toBe(true);
    expect(isPayableLink(o('payment_link', 'PAYABLE', at(1)), NOW)).toBe(true);
    expect(isPayableLink(o('payment_link', 'PAYABLE', NOW), NOW)).toBe(false);
    expect(isPayableLink(o('payment_link', 'EXPIRED', at(1)), NOW)).toBe(false);
    expect(isPayableLink(o('proforma', 'REQUESTED'), NOW)).toBe(false);
  });

  it('is a proforma invoice that stands', () => {
    const dead = ['ISSUANCE_FAILED', 'CANCELLED', 'DELETED', 'REFUSED', 'REPLACED'];
    expect(dead.filter((status) => isLiveProforma(o('proforma', status)))).toEqual([]);
    expect(isLiveProforma(o('proforma', 'ISSUED'))).toBe(true);
    expect(isLiveProforma(o('payment_link', 'PAYABLE'))).toBe(false);
  });

  it.each(['SETTLED', 'INVOICED', 'BOOKED'])(
    'is a proforma invoice that is %s until its transfer is recorded',
    (of) => {
      expect(isLiveProforma(o('proforma', of))).toBe(true);
      expect(isLiveProforma({ ...o('proforma', of), paymentRowId: 'pmt_1' })).toBe(false);
      expect(isLiveProforma({ ...o('proforma', 'ISSUED'), paymentRowId: 'pmt_1' })).toBe(true);
    },
  );
});
