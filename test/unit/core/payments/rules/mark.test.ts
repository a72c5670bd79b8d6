// The mark of a payment: the decision over every picture of its invoice, and what follows from it.
import { describe, expect, it } from '@jest/globals';
import { type CallRow } from '../../../../../src/shared/domain/call-row.js';
import { type InvoiceRow, type PlatformStatus } from '../../../../../src/shared/domain/invoice-row.js';
import { type LaneState } from '../../../../../src/shared/domain/model.js';
import { type PaymentRow } from '../../../../../src/shared/domain/payment-row.js';
import { type InvoiceFacts } from '../../../../../src/shared/domain/ports/billing-platform.js';
import { type Ctx, emptyLane } from '../../../../../src/engine/context.js';
import { newPayment } from '../../../../../src/core/books/rules/payment-rows.js';
import { decideMark } from '../../../../../src/core/payments/rules/decide-mark.js';
import {
  beforeTheMark,
  decideMarksAgain,
  isMarkedByOthers,
  applyOthersMark,
} from '../../../../../src/core/payments/rules/others-mark.js';
import { closeRefunded, readToMark, settleMarks } from '../../../../../src/core/payments/rules/mark.js';
import { reportOf } from '../../../../../src/core/payments/rules/mark-steps.js';
import { nextLookup } from '../../../../../src/engine/lookup.js';
import { identifyLookup } from '../../../../../src/core/payments/rules/identify-mark.js';
import { chargeLookup } from '../../../../../src/core/payments/rules/proof.js';
import { proposedOf } from '../../../../../src/core/reviews/rules/choices.js';
import { SETTINGS } from '../../../../support/builders/events.js';
import { facts, NOW } from '../../../../support/builders/channel-lane.js';
import { FACTS } from '../../../../support/builders/item-facts.js';
import { LaneHarness } from '../../../../support/rigs/lane-harness.js';
import { same } from '../../../../support/same.js';
import { asSettleRule } from '../../../../support/rigs/settle-rule.js';
import * as waiting from '../../../../support/builders/waiting-payment.js';
import {
  at,
  ctx,
  invoice,
  kinds,
  lane,
  marks,
  call,
  payment,
  settled,
} from '../../../../support/builders/waiting-payment.js';
import { addCallRow, decide, ensureInvoice, openReview, recordRead } from '../../../../support/rigs/decide.js';
import { putCall, putPayment } from '../../../../support/builders/put-rows.js';
import { Lane } from '../../../../../src/engine/lane.js';
import { type DecisionSettings } from '../../../../../src/shared/domain/settings.js';
import { eur } from '../../../../support/builders/channel-object.js';
import { never } from '../../../../support/never.js';

const rules = LaneHarness.inMemory().context.now();
const { invoice: BLANK } = ensureInvoice(emptyLane('in_oak'), rules);

const STATUSES: PlatformStatus[] = ['unknown', 'draft', 'open', 'paid', 'uncollectible', 'void', 'deleted'];
const AMOUNTS = { less: 999n, equal: 1000n, more: 1001n };
const YES_NO = [true, false];

type Case = {
  fresh: boolean;
  status: PlatformStatus;
  amount: keyof typeof AMOUNTS;
  sameCurrency: boolean;
  sameCustomer: boolean;
  holder: boolean;
  record: boolean;
  tried: boolean;
  policy: 'wait' | 'finalize';
  stuck: boolean;
  mode: 'payment_record' | 'out_of_band';
  waivedAmount: boolean;
  waivedCustomer: boolean;
};

function* cases(): Generator<Case> {
  for (const fresh of YES_NO)
    for (const status of STATUSES)
      for (const amount of ['less', 'equal', 'more'] as const)
        for (const sameCurrency of YES_NO)
          for (const sameCustomer of YES_NO)
            for (const holder of YES_NO)
              for (const record of YES_NO)
                for (const tried of YES_NO)
                  for (const policy of ['wait', 'finalize'] as const)
                    for (const stuck of YES_NO)
                      for (const mode of ['payment_record', 'out_of_band'] as const)
                        for (const waivedAmount of YES_NO)
                          for (const waivedCustomer of YES_NO)
                            yield {
                              fresh,
                              status,
                              amount,
                              sameCurrency,
                              sameCustomer,
                              holder,
                              record,
                              tried,
                              policy,
                              stuck,
                              mode,
                              waivedAmount,
                              waivedCustomer,
                            };
}

function decided(example: Case): string {
  const p = newPayment(rules, {
    invoiceId: 'in_oak',
    customerId: example.sameCustomer ? 'cus_oak' : 'cus_other',
    currency: example.sameCurrency ? 'EUR' : 'USD',
    paymentRecordId: example.record ? 'pr_1' : null,
    markTries: example.tried ? 1 : 0,
    waived: [
      ...(example.waivedAmount ? ['amount_mismatch' as const] : []),
      ...(example.waivedCustomer ? ['customer_mismatch' as const] : []),
    ],
  });
  const invoice = {
    ...BLANK,
    platformStatus: example.status,
    customerId: 'cus_oak',
    currency: 'EUR',
    amountDue: 5000n, // part of it was paid before: what counts is what remains
    amountRemaining: 1000n,
  };
  const holder: PaymentRow | undefined = example.holder
    ? newPayment(rules, { invoiceId: 'in_oak', customerId: 'c', currency: 'EUR' })
    : undefined;
  const settings = { ...SETTINGS, draftPolicy: example.policy, markMode: example.mode };
  const d = decideMark({ ...p, amount: AMOUNTS[example.amount] }, invoice, {
    holder,
    fresh: example.fresh,
    settings,
    finalizationFailed: example.stuck,
  });
  return d.do === 'park' ? d.item.kind : d.do === 'mark' ? `mark ${d.mode}` : d.do;
}

/** The rules of a mark in words: each line says when it applies, whatever the others say, and the first that applies is right. */
const RULES: [name: string, applies: (example: Case) => boolean, then: (example: Case) => string][] = [
  ['Crossbill first reads an invoice without a fresh read', (c) => !c.fresh, () => 'read'],
  [
    'money for an invoice that is void or gone',
    (c) => ['void', 'deleted', 'unknown'].includes(c.status),
    () => 'invoice_not_payable',
  ],
  ['money of another customer', (c) => !c.sameCustomer && !c.waivedCustomer, () => 'customer_mismatch'],
  ['money in another currency, whatever was waived', (c) => !c.sameCurrency, () => 'currency_mismatch'],
  ['money beside another payment', (c) => c.holder, () => 'double_payment'],
  [
    'money for a paid invoice may be what paid it',
    (c) => c.status === 'paid' && (c.record || !c.tried),
    () => 'identify',
  ],
  ['money for an invoice that was paid before we were through', (c) => c.status === 'paid', () => 'double_payment'],
  ['a draft is waited for', (c) => c.status === 'draft' && (c.policy === 'wait' || c.stuck), () => 'hold'],
  [
    'another amount, unless a person waived that and the mode can show it',
    (c) => c.amount !== 'equal' && !(c.waivedAmount && c.mode === 'payment_record'),
    () => 'amount_mismatch',
  ],
  ['a draft is finalized', (c) => c.status === 'draft', () => 'finalize'],
  ['a record that is there is used', (c) => c.record, () => 'attach'],
  ['the invoice is marked', () => true, (c) => `mark ${c.mode}`],
];

it('for every combination of facts, the decision about a mark follows the first rule that fits', () => {
  const met = new Map<string, number>();
  for (const c of cases()) {
    const rule = RULES.find(([, applies]) => applies(c));
    if (rule === undefined) throw new Error('no rule');
    met.set(rule[0], (met.get(rule[0]) ?? 0) + 1);
    const got = decided(c);
    if (got !== rule[2](c)) expect({ c, rule: rule[0], got }).toEqual({ c, rule: rule[0], got: rule[2](c) });
  }
  expect(met.size).toBe(RULES.length); // every rule was needed
});

it('the review item about a void invoice names the invoice’s replacement, and proposes a refund', () => {
  const p = newPayment(rules, { invoiceId: 'in_oak', customerId: 'cus_oak', currency: 'EUR' });
  const invoice = { ...BLANK, platformStatus: 'void' as const, customerId: 'cus_oak', latestRevision: 'in_new' };
  const d = decideMark({ ...p, amount: 1000n }, invoice, {
    holder: undefined,
    fresh: true,
    settings: SETTINGS,
    finalizationFailed: false,
  });
  const fact = { code: 'invoice-void', replacedBy: 'in_new' };
  expect(d).toMatchObject({ do: 'park', item: { kind: 'invoice_not_payable', fact, proposed: 'refund' } });
});

it('Crossbill marks only an exact amount of the same customer and currency on a payable invoice, or after the operator’s choice', () => {
  for (const c of cases()) {
    if (!/^(mark|attach|finalize)/.test(decided(c))) continue;
    same(c.fresh && c.sameCurrency && !c.holder, true);
    same(['open', 'uncollectible', 'draft'].includes(c.status), true);
    same(c.sameCustomer || c.waivedCustomer, true);
    same(c.amount === 'equal' || c.waivedAmount, true);
  }
});

/** What a payment needs to know, the first first. */
const LOOKUPS = [nextLookup(chargeLookup), nextLookup(readToMark), nextLookup(identifyLookup)];

const taken = eur(2990n);
const parked = (over: Partial<InvoiceFacts>, values = payment(), holder?: PaymentRow) => {
  const d = decideMark(values, invoice(over), {
    holder,
    fresh: true,
    settings: ctx().settings,
    finalizationFailed: false,
  });
  return d.do === 'park' ? [d.item.kind, d.item.fact] : [d.do];
};

it.each([
  [{ status: 'void' }, 'invoice_not_payable', { code: 'invoice-void', taken, invoice: 'in_1', replacedBy: null }],
  [{ status: 'deleted' }, 'invoice_not_payable', { code: 'no-such-invoice', taken, invoice: 'in_1' }],
  [{ customerId: 'cus_2' }, 'customer_mismatch', { code: 'other-customer', named: 'cus_1', owner: 'cus_2' }],
  [{ currency: 'USD' }, 'currency_mismatch', { code: 'other-currency', taken, currency: 'USD' }],
  [{ amountRemaining: 3000n }, 'amount_mismatch', { code: 'amount-differs', taken, due: eur(3000n) }],
  [{ amountRemaining: 2000n }, 'amount_mismatch', { code: 'amount-differs', taken, due: eur(2000n) }],
] as const)('a payment on an invoice with %j opens the item %s', (over, kind, fact) => {
  expect(parked(over)).toMatchObject([kind, fact]);
});

it.each([2000n, 3000n])(
  'with out-of-band marks, an item about a different amount (%s cents due) does not propose the choice `apply`',
  (due) => {
    const { settings } = ctx({ markMode: 'out_of_band' });
    const d = decideMark(payment(), invoice({ amountRemaining: due }), {
      holder: undefined,
      fresh: true,
      settings,
      finalizationFailed: false,
    });
    const fact = { code: 'amount-differs', due: { minor: due, currency: 'EUR' }, marking: 'out_of_band' };
    expect(d).toMatchObject({ do: 'park', item: { kind: 'amount_mismatch', fact } });
  },
);

it('the review item proposes a refund for a void invoice, and none for an invoice missing on Stripe', () => {
  const proposed = (over: Partial<InvoiceFacts>): string | null => {
    const s = settled(lane(over, payment()), ctx());
    const [item] = s.reviews;
    return item === undefined ? 'nothing is asked' : proposedOf(item, true);
  };
  expect([proposed({ status: 'void' }), proposed({ status: 'deleted' })]).toEqual(['refund', null]);
});

it('the item about a second payment proposes a refund, unless both payments share one charge', () => {
  const holder = payment({ id: 'pmt_0', paymentId: null, processorChargeId: 'ch_0' });
  const twice = { code: 'paid-twice', taken, settledBy: 'pmt_0', sameCharge: null, maybeOne: false };
  expect(parked({}, payment(), holder)).toMatchObject(['double_payment', twice]);
  const same = { settledBy: 'pay_0', sameCharge: 'ch_1', maybeOne: true };
  expect(parked({}, payment(), { ...holder, paymentId: 'pay_0', processorChargeId: 'ch_1' })[1]).toMatchObject(same);
  const unknown = payment({ processorChargeId: null });
  expect(parked({}, unknown, { ...holder, processorChargeId: null })[1]).toMatchObject(twice);
});

it('Crossbill searches a paid invoice once for the mark of its own payment, and then opens a double_payment item', () => {
  expect(parked({ status: 'paid' })).toEqual(['identify']);
  expect(parked({ status: 'paid' }, payment({ markTries: 1, paymentRecordId: 'pr_1' }))).toEqual(['identify']);
  expect(parked({ status: 'paid' }, payment({ markTries: 1 }))[1]).toMatchObject({ code: 'paid-otherwise', taken });
});
it('Crossbill reports a waiting payment with its id and time, and with the invoice’s customer', () => {
  const s = settled(lane({ customerId: 'cus_9' }, payment({ waived: ['customer_mismatch'] })));
  expect(marks(s)).toEqual(['reporting']);
  expect(call(s, 'report_payment').asked).toEqual({
    ...{ kind: 'report_payment', invoiceId: 'in_1', customerId: 'cus_9', paymentId: 'pay_1', reference: 'ch_1' },
    ...{ amount: eur(2990n), initiatedAt: NOW, guaranteedAt: NOW, presence: 'off_session' },
  });
  expect(s.payments[0]?.markMode).toBe('payment_record');
  expect(reportOf(payment({ origin: 'signup', reference: 'own', succeededAt: null }), 1n, at(5))).toMatchObject({
    ...{ presence: 'on_session', reference: 'own', initiatedAt: at(5) },
  });
  expect(reportOf(payment({ processorChargeId: null, paymentId: null }), 1n, NOW)).toMatchObject({
    reference: 'pmt_1',
  });
});

it('with out-of-band marks, Crossbill first stores the payment’s reference on the invoice', () => {
  const s = settled(lane({}, payment()), ctx({ markMode: 'out_of_band' }));
  expect([marks(s), call(s, 'set_reference').asked]).toMatchObject([
    ['referencing'],
    { paymentId: 'pay_1', reference: 'ch_1' },
  ]);
  expect(s.payments[0]?.markMode).toBe('out_of_band');
});

it('Crossbill attaches a payment’s existing payment record, and reports no new record', () => {
  const s = settled(lane({}, payment({ paymentRecordId: 'pr_1' })));
  expect([marks(s), call(s, 'attach_payment').asked]).toMatchObject([['attaching'], { paymentRecordId: 'pr_1' }]);
});

it('Crossbill starts a mark only with a fresh read, a known amount and no open item about the signup’s amount', () => {
  const s = lane({}, payment());
  expect(settled(s, ctx({}, 11_000))).toBe(s);
  const unknown = lane({}, { ...payment(), amount: null });
  expect(settled(unknown)).toBe(unknown);
  const said = { signup: 'sup_1', charge: 'ch_1', stated: eur(1990n), asked: eur(2990n), failed: null };
  const fact = { code: 'completed-otherwise', ...said } as const;
  const item = { kind: 'amount_mismatch', subject: 'sup_1', fact } as const;
  const asked = openReview(lane({}, payment({ signupId: 'sup_1' })), ctx(), item);
  expect(marks(settled(asked))).toEqual(['parked']);
  const other = openReview(lane({}, payment({ signupId: 'sup_2' })), ctx(), item);
  expect(marks(settled(other))).toEqual(['reporting']);
});

it('Crossbill holds a payment on a draft until a minute after the planned finalization, then for growing pauses', () => {
  const held = (over: Partial<InvoiceFacts>) => settled(lane({ status: 'draft', ...over }, payment()));
  const until = (over: Partial<InvoiceFacts>) => held(over).invoice?.holdUntil;
  expect(marks(held({}))).toEqual(['held']);
  expect(until({})).toEqual(at(15 * 60_000));
  expect(until({ finalizesAt: at(3_600_000) })).toEqual(at(3_660_000));
  const late = (minutes: number) => until({ finalizesAt: at(-minutes * 60_000) });
  expect([0, 1, 5, 60].map(late)).toEqual([1, 1, 5, 15].map((minutes) => at(minutes * 60_000)));
  const polls: (Date | null)[] = [];
  asSettleRule(settleMarks)(held({}), ctx(), (when) => polls.push(when));
  expect(polls).toEqual([at(15 * 60_000)]);
});

it('Crossbill checks a draft with a failed finalization once an hour, until the review item is cleared', () => {
  const item = { kind: 'finalization_failed', subject: 'in_1', fact: FACTS.finalization_failed } as const;
  const of = ctx({ draftPolicy: 'finalize' });
  const s = settled(openReview(lane({ status: 'draft' }, payment()), ctx(), item), of);
  expect([marks(s), s.invoice?.holdUntil]).toEqual([['held'], at(3_600_000)]);
  const dismissed: LaneState = {
    ...s,
    reviews: s.reviews.map((r) => ({ ...r, status: 'resolved', resolution: 'dismiss' })),
  };
  const again = { ...dismissed, payments: [payment()] };
  expect(marks(settled(again, of))).toEqual(['held']);
  const cleared: LaneState = { ...again, reviews: again.reviews.map((r) => ({ ...r, resolution: 'cleared' })) };
  expect(marks(settled(cleared, of))).toEqual(['finalizing']);
});

it('Crossbill releases a held payment as soon as its draft is finalized or its hold ends', () => {
  const held = lane({ status: 'draft' }, payment({ mark: 'held' }));
  const due = (when: Date | null): LaneState => ({
    ...held,
    invoice: { ...invoice({ status: 'draft' }), holdUntil: when },
  });
  expect(marks(settled({ ...held, invoice: invoice() }))).toEqual(['reporting']);
  expect(settled(due(at(1)))).toEqual(due(at(1)));
  expect(settled(due(null))).toEqual(due(null));
  expect(settled(due(NOW)).journal.at(-1)?.text).toBe('payment pay_1 is held: the invoice is a draft');
});

it('Crossbill marks the invoice with the older of two payments and parks the newer payment, in any order of rows', () => {
  const older = payment({ id: 'pmt_9', paymentId: 'pay_9', processorChargeId: 'ch_9', recordedAt: at(-1000) });
  const s = settled(lane({}, payment(), older));
  expect(s.payments.map((p) => [p.id, p.mark])).toEqual([
    ['pmt_1', 'parked'],
    ['pmt_9', 'reporting'],
  ]);
  expect(kinds(s)).toEqual(['double_payment']);
  const atOnce = settled(lane({}, { ...older, recordedAt: NOW }, payment()));
  expect(atOnce.payments.map((p) => [p.id, p.mark])).toEqual([
    ['pmt_9', 'parked'],
    ['pmt_1', 'reporting'],
  ]);
});

it('a second payment pays the rest of an invoice after the operator accepted a part', () => {
  const part = payment({ id: 'pmt_0', paymentId: 'pay_0', mark: 'confirmed', waived: ['amount_mismatch'] });
  const remaining = { amountPaid: 2990n, amountRemaining: 1000n };
  expect(marks(settled(lane(remaining, part, payment({ amount: 1000n, recordedAt: at(1) }))))).toEqual([
    'confirmed',
    'reporting',
  ]);
  expect(marks(settled(lane(remaining, { ...part, waived: [] }, payment({ amount: 1000n }))))).toEqual([
    'confirmed',
    'parked',
  ]);
});

it.each([
  ['reporting', ['amount_mismatch'], 'waiting'],
  ['finalizing', ['amount_mismatch'], 'waiting'],
  ['parked', ['amount_mismatch'], 'parked'],
  ['reporting', [], 'parked'],
] as const)(
  'while the first payment has the mark status %s and the accepted differences %j, a second payment becomes %s',
  (mark, waived, is) => {
    const part = payment({ id: 'pmt_0', paymentId: 'pay_0', amount: 1990n, mark, waived: [...waived] });
    const s = settled(lane({}, part, payment({ amount: 1000n, recordedAt: at(1) })));
    expect(marks(s)).toEqual([mark, is]);
    // What waits asks for nothing until the part is there.
    if (is === 'waiting') for (const lookup of LOOKUPS) expect(lookup(new Lane(s, ctx()))).toBeNull();
  },
);

it('Crossbill withdraws its payment record before the first try to send it if a fresh read shows a void invoice', () => {
  const reporting = settled(lane({}, payment()));
  const voided = (state: LaneState, ms = 0): LaneState =>
    settled(recordRead(state, ctx(), facts({ status: 'void' })), ctx({}, ms));
  const back = voided(reporting);
  expect([back.calls[0]?.status, marks(back)]).toEqual(['cancelled', ['waiting']]);
  expect([marks(settled(back)), kinds(settled(back))]).toEqual([['parked'], ['invoice_not_payable']]);
  expect(back.journal.some((l) => l.text === 'report_payment taken back: the invoice is now void')).toBe(true);
  const tried = putCall(reporting, { ...call(reporting, 'report_payment'), attempts: 1 });
  expect(marks(voided(tried))).toEqual(['reporting']);
  expect(marks(voided(reporting, 11_000))).toEqual(['reporting']);
  expect(marks(settled(recordRead(reporting, ctx(), facts({ status: 'uncollectible' }))))).toEqual(['reporting']);
  const referencing = settled(lane({}, payment()), ctx({ markMode: 'out_of_band' }));
  expect(voided(referencing).calls[0]?.status).toBe('cancelled');
});

it('before a mark Crossbill reads the invoice, or searches an already paid invoice for the payment', () => {
  const request = (state: LaneState, of = ctx()) =>
    LOOKUPS.map((lookup) => lookup(new Lane(state, of))).find((found) => found !== null) ?? null;
  expect(request(lane({}, payment()), ctx({}, 11_000))).toMatchObject({ name: 'read-invoice', question: 'in_1' });
  expect(request(lane({}, payment({ mark: 'confirmed' })), ctx({}, 11_000))).toBeNull();
  const later = lane({}, payment());
  expect(request({ ...later, invoice: { ...invoice(), readDueAt: at(11_001) } }, ctx({}, 11_000))).toBeNull();
  const proving = payment({ mark: 'proving', proveDueAt: null });
  expect(request(lane({}, proving))).toMatchObject({
    name: 'prove-charge',
    question: { payment: 'pmt_1', chargeId: 'ch_1' },
  });
  expect(request(lane({}, { ...proving, proveDueAt: at(1) }))).toBeNull();
  expect(request(lane({}, { ...proving, processorChargeId: null }))).toBeNull();
  const asked = (payment: PaymentRow, of = ctx()) => {
    const e = request(lane({ status: 'paid' }, payment), of);
    return e?.do === 'look-up' ? e.question : e;
  };
  expect(asked(payment())).toMatchObject({ payment: 'pmt_1', asked: { kind: 'report_payment' } });
  expect(asked(payment({ paymentRecordId: 'pr_1' }))).toMatchObject({
    payment: 'pmt_1',
    asked: { kind: 'attach_payment' },
  });
  expect(asked(payment({ markMode: 'out_of_band' }))).toMatchObject({
    payment: 'pmt_1',
    asked: { kind: 'pay_out_of_band' },
  });
  expect(asked(payment(), ctx({ markMode: 'out_of_band' }))).toMatchObject({
    payment: 'pmt_1',
    asked: { kind: 'set_reference' },
  });
});

it('a fully refunded payment in review is closed together with its review item', () => {
  const item = { kind: 'double_payment', subject: 'pmt_1', paymentRowId: 'pmt_1', fact: FACTS.double_payment } as const;
  const s = (payment: PaymentRow) => decide(openReview(lane({}, payment), ctx(), item), ctx(), closeRefunded);
  const back = s(payment({ mark: 'parked', amountRefunded: 2990n }));
  expect([marks(back), kinds(back)]).toEqual([['closed'], []]);
  const others = [
    payment({ mark: 'parked', amountRefunded: 2989n }),
    payment({ mark: 'confirmed', amountRefunded: 2990n }),
    payment({ mark: 'parked', amountRefunded: 2990n, succeededAt: null }),
  ];
  for (const p of others) expect([marks(s(p)), kinds(s(p))]).toEqual([[p.mark], ['double_payment']]);
});

describe('shadow mode', () => {
  const { payment } = waiting;
  const ctx = (over: Partial<DecisionSettings> = {}, ms = 0): Ctx => waiting.ctx(over, ms);
  const lane = (
    over: Partial<InvoiceFacts> = {},
    row: Partial<InvoiceRow> = {},
    ...payments: PaymentRow[]
  ): LaneState => waiting.withInvoice(waiting.lane(over, ...payments), row);
  const texts = (state: LaneState) => state.journal.map((l) => l.text);

  const followed = (state: LaneState, payment: PaymentRow) =>
    decide(state, ctx(), (l) =>
      applyOthersMark(l, Object.assign(l.findPayment(payment.id) ?? never(), { amount: payment.amount })),
    );

  const shadow = { status: 'cancelled', lastCode: 'shadow_mode' } as const;
  const reporting = payment({ mark: 'reporting' });
  const wish = { peer: 'stripe', kind: 'report_payment', wire: { method: 'POST', path: '/x', body: null } } as const;
  const decided = (
    over: Partial<CallRow> = shadow,
    payment: PaymentRow = reporting,
    status: InvoiceFacts['status'] = 'open',
  ) => {
    const s = addCallRow(putPayment(lane({ status }), payment), ctx(), {
      ...wish,
      subject: payment.paymentId ?? payment.id,
    });
    return putCall(s, { ...(s.calls[0] ?? never()), ...over });
  };

  it('a payment’s mark counts as decided in shadow mode if shadow mode cancelled the newest call of this mark', () => {
    expect(isMarkedByOthers(decided(), reporting)).toBe(true);
    expect(isMarkedByOthers(decided({ ...shadow, subject: 'pmt_1' }), reporting)).toBe(true);
    for (const over of [
      { ...shadow, status: 'done' },
      { status: 'cancelled', lastCode: null },
      { ...shadow, subject: 'pay_9' },
      { ...shadow, kind: 'attach_payment' },
    ] as const)
      expect(isMarkedByOthers(decided(over), reporting)).toBe(false);
    expect(isMarkedByOthers(lane(), reporting)).toBe(false);
    const s = decided();
    const later = putCall(s, { ...(s.calls[0] ?? never()), id: 'out_9', status: 'done', lastCode: null });
    expect(isMarkedByOthers(later, reporting)).toBe(false);
  });

  it('in shadow mode, Crossbill decides about an invoice marked by another integration as if the invoice were still open', () => {
    const of = (row: Partial<InvoiceRow>) =>
      beforeTheMark({ ...(lane().invoice ?? never()), amountRemaining: 0n, ...row });
    expect(of({ platformStatus: 'paid' })).toMatchObject({ platformStatus: 'open', amountRemaining: 2990n });
    expect(of({ platformStatus: 'void' })).toMatchObject({ platformStatus: 'void', amountRemaining: 0n });
    expect(of({ platformStatus: 'paid', amountDue: 0n })).toMatchObject({ platformStatus: 'paid' }); // nobody marked it
  });

  it('in shadow mode, Crossbill books the mark of a payment only after another integration marks the invoice', () => {
    const s = followed(decided(shadow, reporting, 'paid'), reporting);
    expect(s.payments).toMatchObject([{ mark: 'confirmed' }]);
    expect(s.entries).toMatchObject([{ reason: 'payment_marked', amount: eur(2990n) }]);
    expect(texts(s)).toEqual(['payment pay_1 is marked as Crossbill decided; somebody else marked it']);
    for (const before of [decided(), { ...decided(), invoice: null }]) expect(followed(before, reporting)).toBe(before);
    const paid = decided(shadow, reporting, 'paid');
    expect(followed(paid, { ...reporting, amount: null }).payments).toMatchObject([{ mark: 'reporting' }]);
  });

  it('after shadow mode, the operator’s request makes Crossbill decide an unmarked payment again', () => {
    const other = payment({ id: 'pmt_2', paymentId: 'pay_2', mark: 'reporting' });
    const s = putPayment(decided(), other);
    const anew = decide(s, ctx(), decideMarksAgain);
    expect(anew.payments.map((p) => p.mark)).toEqual(['waiting', 'reporting']);
    expect(texts(anew)).toEqual(['payment pay_1 got no mark from anybody else: Crossbill decides again']);
    expect(decide(s, ctx({ sendsNothing: true }), decideMarksAgain)).toBe(s);
    const paid = decided(shadow, reporting, 'paid');
    expect(decide(paid, ctx(), decideMarksAgain)).toBe(paid);
    expect(decide({ ...s, invoice: null }, ctx(), decideMarksAgain).payments[0]?.mark).toBe('waiting');
  });
});
