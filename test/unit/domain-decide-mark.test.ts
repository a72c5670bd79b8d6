// The decision on a payment over every combination of what it may meet, against rules stated apart from the code.
import { describe, expect, it } from '@jest/globals';
import { newPayment } from '../../src/engine/payment.js';
import { emptyLane } from '../../src/engine/change.js';
import { decideMark } from '../../src/payments/rules/decide-mark.js';
import { ensureInvoice, isFresh } from '../../src/engine/facts.js';
import { type PaymentRow, type PlatformStatus } from '../../src/domain/model.js';
import { SETTINGS } from '../support/builders.js';
import { LaneHarness } from '../support/lane-harness.js';
import { same } from '../support/same.js';

const ctx = LaneHarness.inMemory().context.now();
const { invoice: BLANK } = ensureInvoice(emptyLane('in_oak'), ctx);

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

function decided(c: Case): string {
  const p = newPayment(ctx, {
    invoiceId: 'in_oak',
    customerId: c.sameCustomer ? 'cus_oak' : 'cus_other',
    currency: c.sameCurrency ? 'EUR' : 'USD',
    paymentRecordId: c.record ? 'pr_1' : null,
    markTries: c.tried ? 1 : 0,
    waived: [
      ...(c.waivedAmount ? ['amount_mismatch' as const] : []),
      ...(c.waivedCustomer ? ['customer_mismatch' as const] : []),
    ],
  });
  const invoice = {
    ...BLANK,
    platformStatus: c.status,
    customerId: 'cus_oak',
    currency: 'EUR',
    amountDue: 5000n, // part of it was paid before: what counts is what remains
    amountRemaining: 1000n,
  };
  const holder: PaymentRow | undefined = c.holder
    ? newPayment(ctx, { invoiceId: 'in_oak', customerId: 'c', currency: 'EUR' })
    : undefined;
  const settings = { ...SETTINGS, draftPolicy: c.policy, markMode: c.mode };
  const d = decideMark({ ...p, amount: AMOUNTS[c.amount] }, invoice, holder, c.fresh, settings, c.stuck);
  return d.do === 'park' ? d.item.kind : d.do === 'mark' ? `mark ${d.mode}` : d.do;
}

/** The rules of a mark in words: each line says when it applies, whatever the others say, and the first that applies is right. */
const RULES: [name: string, applies: (c: Case) => boolean, then: (c: Case) => string][] = [
  ['nothing is decided on an old picture', (c) => !c.fresh, () => 'read'],
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

describe('the decision on a payment', () => {
  it('follows the first rule that applies, in every combination', () => {
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

  it('names the invoice that replaced a void one, since the MoR charges it too', () => {
    const p = newPayment(ctx, { invoiceId: 'in_oak', customerId: 'cus_oak', currency: 'EUR' });
    const invoice = { ...BLANK, platformStatus: 'void' as const, customerId: 'cus_oak', latestRevision: 'in_new' };
    const d = decideMark({ ...p, amount: 1000n }, invoice, undefined, true, SETTINGS, false);
    const fact = { code: 'invoice-void', replacedBy: 'in_new' };
    expect(d).toMatchObject({ do: 'park', item: { kind: 'invoice_not_payable', fact, proposed: 'refund' } });
  });

  it('marks only an exact amount on an open or uncollectible invoice of the same customer and currency, unless a person said so', () => {
    for (const c of cases()) {
      if (!/^(mark|attach|finalize)/.test(decided(c))) continue;
      same(c.fresh && c.sameCurrency && !c.holder, true);
      same(['open', 'uncollectible', 'draft'].includes(c.status), true);
      same(c.sameCustomer || c.waivedCustomer, true);
      same(c.amount === 'equal' || c.waivedAmount, true);
    }
  });

  it('takes a read for fresh for ten seconds', () => {
    const at = (ms: number): boolean => isFresh({ ...BLANK, readAt: ctx.now }, new Date(ctx.now.getTime() + ms));
    expect([at(0), at(10_000), at(10_001)]).toEqual([true, true, false]);
    expect([at(-10_000), at(-10_001)]).toEqual([true, false]); // the clock was set back meanwhile
    expect(isFresh(BLANK, ctx.now)).toBe(false);
    expect(isFresh(null, ctx.now)).toBe(false);
  });
});
