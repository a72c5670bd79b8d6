// The proof of a signup's charge: what the MoR's look-up says, when it is asked next, and what a person decides without one.
import { FACTS, aKind } from '../support/item-facts.js';
import { withWords, wordsOf } from '../support/item-words.js';
import { describe, expect, it } from '@jest/globals';
import { openReview, putPayment } from '../../src/engine/change.js';
import {
  type InvoiceRow,
  type LaneState,
  type PaymentRow,
  type Resolution,
  type ReviewRow,
} from '../../src/domain/model.js';
import { type CallOutcome } from '../../src/domain/ports/call.js';
import { type ChargeState } from '../../src/domain/ports/payment-gateway.js';
import { amountSettled, applyProof, disproven, proven, unprovenReview } from '../../src/payments/rules/prove-charge.js';
import { isUnsettled, signupLateAt, unsettledItems } from '../../src/signups/rules/unsettled.js';
import { asSettleRule } from '../support/settle-rule.js';
import { declares } from '../../src/engine/items.js';
import { refusal } from '../support/asked-refund.js';
import { open } from '../support/channel-lane.js';
import { eur } from '../support/channel-object.js';
import { never } from '../support/never.js';
import { at, ctx as on, lane, payment } from '../support/waiting-payment.js';

const watchUnsettled = asSettleRule(declares(unsettledItems));
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const ctx = (ms = 0) => on({}, ms);
const proving = (over: Partial<PaymentRow> = {}): PaymentRow => ({
  ...payment({ origin: 'signup', signupId: 'sup_1', paymentId: null, succeededAt: null, status: 'processing' }),
  ...{ mark: 'proving', proveDueAt: at(0), ...over },
});
const beside = payment({ id: 'pmt_0', paymentId: 'pay_0', processorChargeId: 'ch_0' });
const known = (...payments: PaymentRow[]): LaneState => payments.reduce(putPayment, lane());
const ok = (value: ChargeState): CallOutcome<ChargeState> => ({ ok: true, value, status: 200, requestId: null });
const told = (p: PaymentRow, outcome: CallOutcome<ChargeState>, ms = 0): LaneState =>
  applyProof(known(beside, p), p.id, outcome, ctx(ms));
const texts = (s: LaneState) => s.journal.map((l) => l.text);
const last = (s: LaneState): PaymentRow => s.payments.at(-1) ?? never();

describe('the look-up of a signup’s charge', () => {
  it('that finds it charged is the proof: the payment is booked now, and waits to be marked', () => {
    const s = told(proving(), ok('charged'), 9_000);
    expect(last(s)).toMatchObject({ mark: 'waiting', status: 'succeeded', succeededAt: at(9_000), proveDueAt: null });
    expect(s.entries).toMatchObject([{ reason: 'payment_collected', amount: eur(2990n) }]);
    expect(texts(s)).toEqual(['charge ch_1 is proven: the MoR charged it']);
    expect(s.payments[0]).toEqual(beside);
  });

  it('says nothing of a payment that is not being proven, or is not here', () => {
    const s = known(beside, proving({ mark: 'parked' }));
    expect(applyProof(s, 'pmt_1', ok('charged'), ctx())).toBe(s);
    expect(applyProof(s, 'pmt_9', ok('charged'), ctx())).toBe(s);
  });

  it.each([
    ['no answer', refusal({ kind: 'unknown', status: null, code: null, message: 'gone' }), 0, 1_000],
    ['a limit', refusal({ kind: 'retry', status: 429, retryAfterMs: 7_000 }), 0, 7_000],
    ['a wrong key', refusal({ kind: 'stopped', status: 401 }), 0, MINUTE_MS],
    ['the fourth failure', refusal({ kind: 'retry', status: 500 }), 3, 8_000],
    ['the twentieth failure', refusal({ kind: 'retry', status: 500 }), 19, 128_000],
  ])('that fails (%s) is made again after a pause', (_, outcome, proveAttempts, pause) => {
    const s = told(proving({ proveAttempts }), outcome);
    expect(last(s)).toMatchObject({ mark: 'proving', proveAttempts: proveAttempts + 1, proveDueAt: at(pause) });
    expect(texts(s)).toHaveLength(proveAttempts < 3 ? 1 : 0);
  });

  it('that fails is noted three times, with what was said', () => {
    const noted = (proveAttempts: number) =>
      texts(told(proving({ proveAttempts }), refusal({ status: 500, code: 'x' })));
    expect([0, 2, 3].map(noted)).toEqual([
      ['asking the MoR for the charge failed: 500 x no'],
      ['asking the MoR for the charge failed: 500 x no'],
      [],
    ]);
  });

  it.each([
    [0, 1_000],
    [3, 8_000],
    [19, 128_000],
  ])('that does not know the charge yet is made again, after %i looks', (proveAttempts, pause) => {
    const s = told(proving({ proveAttempts }), ok('unknown'));
    expect(last(s)).toMatchObject({ mark: 'proving', proveDueAt: at(pause), proveAttempts: proveAttempts + 1 });
    expect(texts(s)).toEqual(proveAttempts < 3 ? ['the MoR does not know the charge yet'] : []);
  });

  it('that does not know the charge for two hours is for a person, and is made no more', () => {
    expect(open(told(proving(), ok('unknown'), 2 * HOUR_MS - 1))).toEqual([]);
    const s = told(proving(), ok('unknown'), 2 * HOUR_MS);
    expect(last(s)).toMatchObject({ mark: 'parked', proveDueAt: null });
    expect(withWords(open(s))).toMatchObject([
      {
        ...{ kind: 'signup_unproven', subject: 'pmt_1', paymentRowId: 'pmt_1' },
        summary: 'the MoR does not know charge ch_1, which the browser named for this invoice',
      },
    ]);
    const failed = told(proving({ pendingSince: at(MINUTE_MS) }), ok('unknown'), 2 * HOUR_MS);
    expect(wordsOf(open(failed)[0]).summary).toBe(
      'the MoR does not know charge ch_1 any longer; its money was on the way since 2026-11-20 12:01 UTC, so the debit has probably failed',
    );
    expect(s.entries).toEqual([]);
  });

  it('that finds the money on its way is noted once, and made again after pauses from a second to an hour', () => {
    const first = told(proving(), ok('pending'));
    expect(last(first)).toMatchObject({
      mark: 'proving',
      pendingSince: at(0),
      proveDueAt: at(1_000),
      proveAttempts: 1,
    });
    expect(texts(first)).toEqual([
      'the MoR knows charge ch_1 but has not settled it; the invoice is marked when it has',
    ]);
    const after = (ms: number) => told(proving({ pendingSince: at(0) }), ok('pending'), ms);
    const pauses = [1_000, 10_000, HOUR_MS, 9 * HOUR_MS].map(
      (ms) => (last(after(ms)).proveDueAt?.getTime() ?? 0) - at(ms).getTime(),
    );
    expect(pauses).toEqual([1_000, 5_000, HOUR_MS / 2, HOUR_MS]);
    expect([texts(after(HOUR_MS)), last(after(HOUR_MS)).pendingSince]).toEqual([[], at(0)]);
  });

  it('that finds the money on its way after ten days is for a person', () => {
    const after = (ms: number) => told(proving({ pendingSince: at(0) }), ok('pending'), ms);
    expect(open(after(10 * DAY_MS - 1))).toEqual([]);
    const s = after(10 * DAY_MS);
    expect(last(s)).toMatchObject({ mark: 'parked', proveDueAt: null, pendingSince: at(0) });
    expect(wordsOf(open(s)[0]).summary).toBe(
      'the MoR has known charge ch_1 since 2026-11-20 12:00 UTC but has not settled it',
    );
  });
});

describe('a signup’s charge', () => {
  it('of which the MoR says that it failed is for a person, and its payment has failed', () => {
    const s = disproven(known(proving()), proving(), 'no_account', ctx());
    expect(last(s)).toMatchObject({ mark: 'parked', status: 'failed', proveDueAt: null });
    expect(withWords(open(s))).toMatchObject([
      {
        kind: 'signup_unproven',
        summary: 'the MoR says that charge ch_1, which the browser named for this invoice, failed: no_account',
      },
    ]);
  });

  it('that was booked before is not booked again when it is proven, and keeps its time', () => {
    const p = proving({ succeededAt: at(-1_000) });
    const s = proven(known(p), p, ctx(), 'ada vouches for it');
    expect(last(s)).toMatchObject({ mark: 'waiting', succeededAt: at(-1_000) });
    expect([s.entries, texts(s)]).toEqual([[], ['charge ch_1 is proven: ada vouches for it']]);
  });

  it('of an amount that is not known cannot be proven', () => {
    const s = known(proving({ amount: null }));
    expect(proven(s, last(s), ctx(), 'x')).toBe(s);
  });
});

describe('a signup’s amount that was said wrongly and is right after all', () => {
  const asked = (s: LaneState, subject = 'sup_1') =>
    openReview(s, ctx(), { kind: 'amount_mismatch', subject, fact: FACTS.amount_mismatch });
  const settled = (p: PaymentRow) => amountSettled(asked(asked(known(p)), 'pmt_1'), p, ctx(), 'said rightly');

  it('closes its item, and no other, and the payment that waited for it goes on', () => {
    const s = settled(proving({ mark: 'parked', succeededAt: at(0) }));
    expect(s.reviews).toMatchObject([
      { subject: 'sup_1', status: 'resolved', resolution: 'cleared', note: 'said rightly' },
      { subject: 'pmt_1', status: 'open' },
    ]);
    expect(last(s).mark).toBe('waiting');
  });

  it('proves no charge: one that is not proven stays where it is', () => {
    expect(last(settled(proving({ mark: 'parked' }))).mark).toBe('parked');
    expect(last(settled(proving())).mark).toBe('proving');
    expect(last(settled(proving({ mark: 'confirmed', succeededAt: at(0) }))).mark).toBe('confirmed');
  });

  it('changes nothing where nobody was asked, or where the payment is no signup’s', () => {
    const parked = proving({ mark: 'parked', succeededAt: at(0) });
    const s = known(parked);
    expect(amountSettled(s, parked, ctx(), 'x')).toBe(s);
    const renewal = { ...parked, signupId: null };
    const other = asked(known(renewal), 'null');
    expect(amountSettled(other, renewal, ctx(), 'x')).toBe(other);
  });
});

describe('a person’s word on a charge that was not proven', () => {
  const choose = (p: PaymentRow, resolution: Resolution, about = 'pmt_1'): LaneState => {
    const s = openReview(known(beside, p), ctx(), {
      ...{ kind: 'signup_unproven', subject: about, paymentRowId: about, fact: FACTS.signup_unproven },
    });
    const r: ReviewRow = s.reviews[0] ?? never();
    const done = unprovenReview(s, r, { resolution, note: null, by: 'ada' }, ctx(9_000));
    return done.ok ? done.state : never();
  };
  const parked = proving({ mark: 'parked', proveDueAt: null, pendingSince: at(0) });

  it('that it is real books the payment, which waits to be marked', () => {
    const s = choose(parked, 'apply');
    expect(last(s)).toMatchObject({ mark: 'waiting', status: 'succeeded', succeededAt: at(9_000) });
    expect([s.entries.length, texts(s).at(-1)]).toEqual([1, 'charge ch_1 is proven: ada vouches for it']);
    expect(s.payments[0]).toEqual(beside);
  });

  it('that it is not closes the payment without money', () => {
    const s = choose(parked, 'dismiss');
    expect([last(s).mark, last(s).status, s.entries]).toEqual(['closed', 'failed', []]);
    expect(last(choose(proving(), 'dismiss')).mark).toBe('proving');
  });

  it('to try again asks the MoR at once, and waits for money on its way as long again', () => {
    expect(last(choose({ ...parked, status: 'failed' }, 'retry'))).toMatchObject({
      ...{ mark: 'proving', status: 'processing', proveDueAt: at(9_000), pendingSince: null },
    });
  });

  it('of a payment that is not here changes nothing', () => {
    for (const resolution of ['apply', 'dismiss', 'retry'] as const)
      expect(choose(parked, resolution, 'pmt_9').payments).toEqual([beside, parked]);
  });
});

describe('a signup’s money that is on its way', () => {
  const pending = (over: Partial<PaymentRow> = {}) => proving({ pendingSince: at(0), ...over });
  const first = (over: Partial<InvoiceRow> = {}): InvoiceRow => ({
    ...(lane({ billingReason: 'subscription_create', createdAt: at(-HOUR_MS) }).invoice ?? never()),
    ...over,
  });
  const looks: (Date | null)[] = [];
  const watched = (p: PaymentRow, ms: number, s = known(p)): LaneState => {
    looks.length = 0;
    return watchUnsettled({ ...s, invoice: first() }, ctx(ms), (when) => looks.push(when));
  };

  it('is money that the MoR knows and has not settled', () => {
    expect([pending(), proving(), pending({ mark: 'waiting' })].map(isUnsettled)).toEqual([true, false, false]);
  });

  it('is no less waited for where the MoR cannot be asked for it: a person hears of it in time', () => {
    const silent = proving({ proveAttempts: 1 });
    expect([isUnsettled(silent), isUnsettled({ ...silent, mark: 'parked' })]).toEqual([true, false]);
    const s = watched(silent, 17 * HOUR_MS);
    expect(withWords(open(s))).toMatchObject([
      {
        ...{ kind: 'signup_overdue', subject: 'pmt_1', dueAt: at(22 * HOUR_MS) },
        summary:
          'whether 29.90 EUR of signup sup_1 was taken is not known: the MoR has not told since 2026-11-20 12:00 UTC (charge ch_1)',
      },
    ]);
  });

  it('may come too late 18 hours after its subscription began, or after it was recorded', () => {
    const eighteen = at(17 * HOUR_MS);
    expect(signupLateAt(first(), pending())).toEqual(eighteen);
    expect(signupLateAt(first({ billingReason: null }), pending())).toEqual(eighteen);
    expect(signupLateAt(first({ platformCreatedAt: null }), pending())).toEqual(at(18 * HOUR_MS));
    expect(signupLateAt(null, pending())).toEqual(at(18 * HOUR_MS));
  });

  it('cannot come too late for a renewal, for an invoice that is over, or when it is not waited for', () => {
    expect(signupLateAt(first({ billingReason: 'subscription_cycle' }), pending())).toBeNull();
    expect(signupLateAt(first({ platformStatus: 'void' }), pending())).toBeNull();
    expect(signupLateAt(first(), proving())).toBeNull();
    expect(signupLateAt(first({ billingReason: 'manual', platformStatus: 'void' }), proving())).toBeNull();
    expect(signupLateAt(first({ billingReason: 'manual' }), proving())).toBeNull();
  });

  it('is for a person five hours before Stripe ends the subscription, and is looked at then', () => {
    const before = watched(pending(), 17 * HOUR_MS - 1);
    expect([open(before), looks]).toEqual([[], [at(17 * HOUR_MS)]]);
    const s = watched(pending(), 17 * HOUR_MS);
    expect(withWords(open(s))).toMatchObject([
      {
        ...{ kind: 'signup_overdue', subject: 'pmt_1', paymentRowId: 'pmt_1', dueAt: at(22 * HOUR_MS) },
        summary:
          '29.90 EUR of signup sup_1 is not settled (charge ch_1, a bank debit on its way since 2026-11-20 12:00 UTC)',
        proposal: expect.stringContaining('At 2026-11-21 10:00 UTC Stripe ends an incomplete subscription'),
      },
    ]);
    expect(wordsOf(open(watched(pending({ amount: null }), 17 * HOUR_MS))[0]).summary).toContain(
      'the money of signup sup_1',
    );
  });

  it('is nobody’s business where the payment is no signup’s or its subscription goes on', () => {
    expect(watched(pending({ signupId: null }), 20 * HOUR_MS).reviews).toEqual([]);
    expect(looks).toEqual([]);
    const renewal = { ...known(pending()), invoice: first({ billingReason: 'subscription_cycle' }) };
    expect(watchUnsettled(renewal, ctx(20 * HOUR_MS), () => undefined)).toEqual(renewal);
  });

  it('closes its item once it is awaited no more, and no other’s', () => {
    const late = watched(pending(), 17 * HOUR_MS);
    const asked = openReview(late, ctx(), { ...aKind('double_payment'), subject: 'pmt_1' });
    const done = watched(proving({ mark: 'waiting' }), 0, putPayment(asked, proving({ mark: 'waiting' })));
    expect(open(done).map((r) => [r.kind, r.subject])).toEqual([['double_payment', 'pmt_1']]);
    expect(done.reviews[0]).toMatchObject({ resolution: 'cleared', note: 'its money is no longer awaited' });
    expect(open(watched(pending(), 18 * HOUR_MS, asked))).toHaveLength(2);
  });

  it('keeps its item open when the invoice ends before the money is there, and opens none then', () => {
    const late = watched(pending(), 17 * HOUR_MS);
    const over = { ...late, invoice: first({ platformStatus: 'void' }) };
    const look = (s: LaneState) => watchUnsettled(s, ctx(20 * HOUR_MS), () => undefined);
    expect(look(over)).toEqual(over);
    expect(open(look({ ...over, reviews: [] }))).toEqual([]);
  });
});
