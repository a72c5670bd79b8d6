// By when the MoR's verdict on a renewal is expected, and when a person is told that none came.
import { aKind } from '../../../../support/builders/item-facts.js';
import { expect, it } from '@jest/globals';
import { eur, aLink, aProforma, withObjects } from '../../../../support/builders/channel-object.js';
import { declares } from '../../../../../src/engine/items.js';
import { nextLookup } from '../../../../../src/engine/lookup.js';
import { type Ctx, emptyLane } from '../../../../../src/engine/context.js';
import { putPayment } from '../../../../support/builders/put-rows.js';
import { type InvoiceRow } from '../../../../../src/shared/domain/invoice-row.js';
import { type LaneState } from '../../../../../src/shared/domain/model.js';
import { type InvoiceFacts } from '../../../../../src/shared/domain/ports/billing-platform.js';
import { type DecisionSettings } from '../../../../../src/shared/domain/settings.js';
import { verdictBy } from '../../../../../src/shared/domain/mor-object.js';
import {
  chooseOverdue,
  debitLookup,
  expectVerdict,
  hasVerdict,
  mustAskDebit,
  overdueItems,
} from '../../../../../src/core/invoices/rules/verdict.js';
import { asSettleRule, choose } from '../../../../support/rigs/settle-rule.js';
import { open } from '../../../../support/builders/channel-lane.js';
import { never } from '../../../../support/never.js';
import { HISTORY } from '../../../../support/builders/refused-renewal.js';
import * as waiting from '../../../../support/builders/waiting-payment.js';
import { decide, openReview } from '../../../../support/rigs/decide.js';
import { Lane } from '../../../../../src/engine/lane.js';

const { at, payment } = waiting;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const ctx = (ms = 0, over: Partial<DecisionSettings> = {}): Ctx => waiting.ctx(over, ms);
const seen = (facts: Partial<InvoiceFacts> = {}, row: Partial<InvoiceRow> = {}): LaneState =>
  waiting.withInvoice(waiting.lane(facts), row);
const DUE = DAY_MS;
/** An invoice of 29.90 EUR whose verdict is expected within a day; its customer is known not to pay by debit. */
const expected = (row: Partial<InvoiceRow> = {}) => seen({}, { expectedBy: at(DUE), paysByDebit: false, ...row });
const polls: (Date | null)[] = [];
const watched = (state: LaneState, ms = DUE): LaneState => {
  polls.length = 0;
  return asSettleRule(declares(overdueItems))(state, ctx(ms), (when) => polls.push(when));
};
const refused = payment({ mark: 'none', status: 'failed', succeededAt: null, verdictAt: at(0) });
const asking = { retries: { ...HISTORY, waitingSince: at(HOUR_MS).toISOString() } };

const by = (state: LaneState, of = ctx()) => decide(state, of, expectVerdict).invoice?.expectedBy ?? null;

it('the MoR’s verdict is due the configured hours after Crossbill first saw the invoice', () => {
  expect(by(seen())).toEqual(at(DAY_MS));
  expect(by(seen({}, { firstSeenAt: at(-HOUR_MS) }), ctx(0, { renewalAlarmAfterHours: 2 }))).toEqual(at(HOUR_MS));
  expect(by(seen({ amountDue: 1n }))).toEqual(at(DAY_MS));
  expect(by(seen({ billingReason: 'manual', collectionMethod: 'charge_automatically' }))).toEqual(at(DAY_MS));
  expect(by(seen({ billingReason: 'subscription_cycle', collectionMethod: 'send_invoice' }))).toEqual(at(DAY_MS));
});

it.each<readonly [string, LaneState]>([
  ['is unknown to Crossbill', emptyLane('in_1')],
  ['is not read from Stripe yet', seen({}, { platformStatus: 'unknown' })],
  ['belongs to a signup', seen({ billingReason: 'subscription_create' })],
  ['has nothing due', seen({ amountDue: 0n })],
  ['has an unknown amount', seen({}, { amountDue: null })],
  ['belongs to a customer outside the enrolment', seen({}, { enrolled: false })],
  ['someone sent by hand for later payment', seen({ billingReason: 'manual', collectionMethod: 'send_invoice' })],
  ['has a deadline already', seen({}, { expectedBy: at(1) })],
])('Crossbill sets no new deadline for the MoR’s verdict on an invoice that %s', (_, s) => {
  expect(decide(s, ctx(), expectVerdict)).toBe(s);
});

it('a payment counts as the MoR’s verdict; a finished invoice, or an invoice with nothing due, needs no verdict', () => {
  expect(hasVerdict(expected())).toBe(false);
  expect(hasVerdict(emptyLane('in_1'))).toBe(false);
  expect(hasVerdict(putPayment(expected(), refused))).toBe(true);
  expect(hasVerdict(putPayment(expected(asking), refused))).toBe(false);
  expect(hasVerdict(putPayment(expected(asking), payment()))).toBe(true);
  for (const platformStatus of ['paid', 'void', 'deleted'] as const)
    expect(hasVerdict(expected({ platformStatus }))).toBe(true);
  expect(hasVerdict(expected({ platformStatus: 'uncollectible' }))).toBe(false);
  expect(hasVerdict(expected({ amountDue: 0n }))).toBe(true);
});

it('Crossbill extends the deadline of the MoR’s verdict while a proforma invoice or payment link is payable', () => {
  const until = (...objects: Parameters<typeof verdictBy>[1]) => verdictBy(expected().invoice ?? never(), objects);
  expect(until()).toEqual(at(DUE));
  expect(until(aProforma({ deadline: at(9 * DAY_MS) }), aLink({ deadline: at(5 * DAY_MS) }))).toEqual(at(9 * DAY_MS));
  expect(until(aProforma({ deadline: null }))).toEqual(at(30 * DAY_MS));
  expect(until(aLink({ deadline: at(5 * DAY_MS) }))).toEqual(at(5 * DAY_MS));
  const late = { deadline: at(5 * DAY_MS) };
  for (const other of [
    aLink({ deadline: null }),
    aLink({ deadline: at(1) }),
    aLink({ ...late, status: 'EXPIRED' }),
    aProforma({ ...late, status: 'ISSUANCE_FAILED' }),
    { ...aLink({ ...late }), kind: 'e_invoice' as const },
  ]) {
    expect(until(other)).toEqual(at(DUE));
  }
  expect(verdictBy(expected({ expectedBy: null }).invoice ?? never(), [aProforma()])).toBeNull();
});

const item = (state: LaneState, kind: 'renewal_overdue' | 'effect_failed' = 'renewal_overdue') =>
  openReview(state, ctx(), { ...aKind(kind), subject: 'in_1' });

it('a renewal without the MoR’s verdict opens a renewal_overdue item at the deadline', () => {
  expect([open(watched(expected(), DUE - 1)), polls]).toEqual([[], [at(DUE)]]);
  expect(open(watched(expected()))).toMatchObject([
    {
      ...{ kind: 'renewal_overdue', subject: 'in_1' },
      fact: { code: 'no-verdict', due: eur(2990n) },
    },
  ]);
  expect(polls).toEqual([]);
});

it('the renewal_overdue item has the time of the last charge request to the MoR, and no amount if it is unknown', () => {
  const retried = watched(putPayment(expected(asking), refused));
  const since = at(HOUR_MS).toISOString();
  expect(open(retried)[0]?.fact).toMatchObject({ code: 'no-verdict', due: eur(2990n), since });
  const over = putPayment(expected({ ...asking, retries: { ...asking.retries, waitingSince: null } }), refused);
  expect(watched(over).reviews).toEqual([]);
  for (const row of [{ currency: null }, { amountDue: null }])
    expect(open(watched(expected(row)))[0]?.fact).toMatchObject({ code: 'no-verdict', due: null });
});

it('an invoice without a deadline for the MoR’s verdict opens no item', () => {
  for (const s of [expected({ expectedBy: null }), emptyLane('in_1')]) expect(watched(s)).toBe(s);
  expect(polls).toEqual([]);
});

it('a refused renewal opens a renewal_overdue item after its proforma invoice has expired', () => {
  const status = aProforma({ deadline: at(3 * DAY_MS) });
  const s = withObjects(putPayment(expected(), refused), status);
  expect(open(watched(s))).toEqual([]);
  expect(polls).toEqual([at(3 * DAY_MS)]);
  const late = watched(s, 3 * DAY_MS);
  expect(open(late)).toMatchObject([
    {
      ...{ kind: 'renewal_overdue', subject: 'in_1' },
      fact: { code: 'transfer-overdue', proforma: 'PF-1' },
    },
  ]);
  const again = waiting.withInvoice(s, { expectedBy: at(4 * DAY_MS) }); // a person waits for it once more
  expect([open(watched(again, 3 * DAY_MS)), polls]).toEqual([[], [at(4 * DAY_MS)]]);
  const cancelled = withObjects(late, { ...status, status: 'CANCELLED' });
  expect(open(watched(cancelled, 3 * DAY_MS))).toEqual([]);
  const paid = putPayment(late, payment({ origin: 'proforma' }));
  expect(open(watched(paid, 3 * DAY_MS))).toEqual([]);
  const over = waiting.withInvoice(s, { platformStatus: 'void' });
  expect(open(watched(over, 3 * DAY_MS))).toEqual([]);
});

it('the MoR’s verdict, or a later deadline, closes the renewal_overdue item and no other item', () => {
  const asked = item(item(expected()), 'effect_failed');
  const notified = watched(putPayment(asked, refused));
  expect(open(notified).map((r) => r.kind)).toEqual(['effect_failed']);
  expect(notified.reviews[0]).toMatchObject({ resolution: 'cleared' });
  const later = watched(withObjects(asked, aProforma({ deadline: at(9 * DAY_MS) })));
  expect(open(later).map((r) => r.kind)).toEqual(['effect_failed']);
  expect(later.reviews[0]).toMatchObject({ resolution: 'cleared' });
  expect(polls).toEqual([at(9 * DAY_MS)]);
});

const unasked = expected({ paysByDebit: null });
const debit = (state: LaneState, paysByDebit = true) =>
  decide(state, ctx(), (l) => debitLookup.apply(l, paysByDebit, 'cus_1'));
const request = (state: LaneState, ms = DUE) => nextLookup(debitLookup)(new Lane(state, ctx(ms)));

it('at the deadline of the MoR’s verdict, Crossbill first looks up whether the customer pays by bank debit', () => {
  expect(request(unasked)).toMatchObject({ do: 'look-up', name: 'ask-debit', question: 'cus_1' });
  expect(watched(unasked)).toBe(unasked);
  expect(polls).toEqual([]);
  expect([request(unasked, DUE - 1), mustAskDebit({ ...unasked, now: at(DUE - 1) })]).toEqual([null, false]);
  for (const s of [
    expected(),
    emptyLane('in_1'),
    expected({ paysByDebit: null, customerId: null }),
    expected({ paysByDebit: null, expectedBy: null }),
    putPayment(unasked, refused),
  ]) {
    expect([request(s), mustAskDebit({ ...s, now: at(DUE) })]).toEqual([null, false]);
  }
  expect(open(watched(expected({ paysByDebit: null, customerId: null })))).toHaveLength(1);
});

it("the MoR has ten days for its verdict on a bank debit, from the invoice's first event or the last try", () => {
  const row = debit(unasked).invoice;
  expect(row).toMatchObject({ paysByDebit: true, expectedBy: at(10 * DAY_MS), amountDue: 2990n });
  expect(debit(unasked).journal.map((l) => l.text)).toEqual([
    'this customer pays by bank debit: a verdict is expected by 2026-11-30 12:00 UTC',
  ]);
  const retried = putPayment(expected({ ...asking, paysByDebit: null }), refused);
  expect(debit(retried).invoice?.expectedBy).toEqual(at(10 * DAY_MS + HOUR_MS));
  expect(debit(expected({ paysByDebit: null, expectedBy: at(11 * DAY_MS) })).invoice?.expectedBy).toEqual(
    at(11 * DAY_MS),
  );
});

it('the deadline of the MoR’s verdict stays for a card customer, and Crossbill keeps the found payment method', () => {
  const none = debit(unasked, false);
  expect([none.invoice, none.journal]).toEqual([{ ...unasked.invoice, paysByDebit: false }, []]);
  for (const s of [expected(), expected({ paysByDebit: null, expectedBy: null }), emptyLane('in_1')])
    expect(debit(s, true)).toBe(s);
});

it('the choice `retry` on a renewal_overdue item extends the deadline of the MoR’s verdict', () => {
  const chosen = (resolution: 'retry' | 'dismiss', state: LaneState) =>
    choose(chooseOverdue, state, {} as never, { resolution, note: null, by: 'ops' }, ctx());
  expect(chosen('retry', expected())).toMatchObject({ invoice: { expectedBy: at(24 * HOUR_MS) } });
  for (const s of [expected(), emptyLane('in_1')]) expect(chosen('dismiss', s)).toBe(s);
});
