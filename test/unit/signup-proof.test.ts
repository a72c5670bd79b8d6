// A signup's money that is on its way, and may come too late.
import { aKind } from '../support/item-facts.js';
import { withWords, wordsOf } from '../support/item-words.js';
import { describe, expect, it } from '@jest/globals';
import { putPayment } from '../support/put-rows.js';
import { type InvoiceRow, type LaneState, type PaymentRow } from '../../src/domain/model.js';
import { isUnsettled, signupLateAt, unsettledItems } from '../../src/signups/rules/signup.js';
import { asSettleRule } from '../support/settle-rule.js';
import { declares } from '../../src/engine/items.js';
import { open } from '../support/channel-lane.js';
import { never } from '../support/never.js';
import { at, ctx as on, lane, payment } from '../support/waiting-payment.js';
import { openReview } from '../support/decide.js';

const watchUnsettled = asSettleRule(declares(unsettledItems));
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const ctx = (ms = 0) => on({}, ms);
const proving = (over: Partial<PaymentRow> = {}): PaymentRow => ({
  ...payment({ origin: 'signup', signupId: 'sup_1', paymentId: null, succeededAt: null, status: 'processing' }),
  ...{ mark: 'proving', proveDueAt: at(0), ...over },
});
const known = (...payments: PaymentRow[]): LaneState => payments.reduce(putPayment, lane());

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
