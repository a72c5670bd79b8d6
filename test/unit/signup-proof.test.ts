// A signup's money that is on its way, and may come too late.
import { aKind } from '../support/item-facts.js';
import { withWords, wordsOf } from '../support/item-words.js';
import { expect, it } from '@jest/globals';
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

it('a signup’s money is unsettled once the MoR knows it and has not settled it', () => {
  expect([pending(), proving(), pending({ mark: 'waiting' })].map(isUnsettled)).toEqual([true, false, false]);
});

it('a person hears in time of a signup’s money, even with a silent MoR', () => {
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

it('a signup’s money is late 18 hours after its subscription began, or after Crossbill recorded it', () => {
  const eighteen = at(17 * HOUR_MS);
  expect(signupLateAt(first(), pending())).toEqual(eighteen);
  expect(signupLateAt(first({ billingReason: null }), pending())).toEqual(eighteen);
  expect(signupLateAt(first({ platformCreatedAt: null }), pending())).toEqual(at(18 * HOUR_MS));
  expect(signupLateAt(null, pending())).toEqual(at(18 * HOUR_MS));
});

it('a renewal, an ended invoice or settled money is never late for a signup', () => {
  expect(signupLateAt(first({ billingReason: 'subscription_cycle' }), pending())).toBeNull();
  expect(signupLateAt(first({ platformStatus: 'void' }), pending())).toBeNull();
  expect(signupLateAt(first(), proving())).toBeNull();
  expect(signupLateAt(first({ billingReason: 'manual', platformStatus: 'void' }), proving())).toBeNull();
  expect(signupLateAt(first({ billingReason: 'manual' }), proving())).toBeNull();
});

it('an unsettled signup opens an item five hours before Stripe ends the subscription', () => {
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

it('unsettled money outside of a signup, or of a running subscription, opens no item', () => {
  expect(watched(pending({ signupId: null }), 20 * HOUR_MS).reviews).toEqual([]);
  expect(looks).toEqual([]);
  const renewal = { ...known(pending()), invoice: first({ billingReason: 'subscription_cycle' }) };
  expect(watchUnsettled(renewal, ctx(20 * HOUR_MS), () => undefined)).toEqual(renewal);
});

it('the end of the wait closes the item about it, and no other', () => {
  const late = watched(pending(), 17 * HOUR_MS);
  const asked = openReview(late, ctx(), { ...aKind('double_payment'), subject: 'pmt_1' });
  const done = watched(proving({ mark: 'waiting' }), 0, putPayment(asked, proving({ mark: 'waiting' })));
  expect(open(done).map((r) => [r.kind, r.subject])).toEqual([['double_payment', 'pmt_1']]);
  expect(done.reviews[0]).toMatchObject({ resolution: 'cleared', note: 'its money is no longer awaited' });
  expect(open(watched(pending(), 18 * HOUR_MS, asked))).toHaveLength(2);
});

it('an ended invoice keeps the open item about unsettled money, and opens none', () => {
  const late = watched(pending(), 17 * HOUR_MS);
  const over = { ...late, invoice: first({ platformStatus: 'void' }) };
  const look = (s: LaneState) => watchUnsettled(s, ctx(20 * HOUR_MS), () => undefined);
  expect(look(over)).toEqual(over);
  expect(open(look({ ...over, reviews: [] }))).toEqual([]);
});
