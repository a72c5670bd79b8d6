// A bank transfer in the lane of its invoice.
import { expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { type LaneState } from '../../../../src/shared/domain/model.js';
import { type MorObjectRow, newMorObject } from '../../../../src/shared/domain/mor-object.js';
import { invoiceSentence } from '../../../../src/core/invoices/invoice-sentence.js';
import { aCtx, anOpenInvoice, facts, hear, NOW, open, PROFORMA } from '../../../support/builders/channel-lane.js';
import { requestObject } from '../../../support/rigs/object-calls.js';
import { settle } from '../../../support/builders/settled.js';
import { decide, recordRead } from '../../../support/rigs/decide.js';
import { putObject } from '../../../support/builders/put-rows.js';
import { type DecisionSettings } from '../../../../src/shared/domain/settings.js';
import { type Ctx } from '../../../../src/engine/context.js';
import { debitLookup } from '../../../../src/core/invoices/rules/verdict.js';

const settled = (received: string, total = '29.90', currency = 'EUR'): object => ({
  proformaInvoiceId: PROFORMA,
  status: 'SETTLED',
  settledAt: '2026-11-20T11:00:00Z',
  total: { amount: total, currency },
  amountReceived: { amount: received, currency },
});

const fromBank = (state: LaneState): LaneState['payments'] => state.payments.filter((p) => p.origin === 'proforma');

it("a full bank transfer is a payment of the invoice's customer, and Crossbill reports it to Stripe", () => {
  const s = hear(anOpenInvoice(), 'proforma_invoice.settled', settled('29.90'));
  expect(fromBank(s)).toMatchObject([
    {
      amount: 2990n,
      currency: 'EUR',
      reference: PROFORMA,
      customerId: 'cus_1',
      mark: 'reporting',
      paymentId: null,
    },
  ]);
  expect(s.calls).toMatchObject([{ kind: 'report_payment' }]);
  expect(s.entries).toMatchObject([{ reason: 'payment_collected' }]);
  expect(open(s)).toEqual([]);
});

it('after an operator applies a partial bank transfer, another proforma invoice can bill the rest', () => {
  const wire = { method: 'POST', path: '/x', body: '{}' } as const;
  const remaining = facts({ amountPaid: 1000n, amountRemaining: 1990n });
  const ask = (state: LaneState, shown = remaining) => {
    const request = {
      kind: 'proforma',
      id: 'pfm_2',
      wire,
      until: NOW,
      facts: shown,
      askedAt: NOW,
      by: 'ops',
    } as const;
    return requestObject(state, request, aCtx());
  };
  const s = hear(anOpenInvoice(), 'proforma_invoice.settled', settled('10.00'));
  expect(ask(s, facts())).toMatchObject({ ok: false, code: 'invoice_not_payable' }); // the part waits for a person
  const payments = s.payments.map((p) => ({
    ...p,
    mark: 'confirmed' as const,
    waived: ['amount_mismatch' as const],
  }));
  const applied = settle(recordRead({ ...s, payments }, aCtx(), remaining), aCtx());
  expect(ask(applied)).toMatchObject({ ok: true, value: { id: 'pfm_2', amount: 1990n } });
  const { objects, reviews, calls, invoice } = applied;
  if (invoice === null) throw new Error('the lane has an invoice');
  const view = { invoice, payments, objects, reviews, calls, refunds: [], attempts: [] };
  expect(invoiceSentence(view, NOW, (r) => r.topic).text).not.toContain('a proforma invoice is open');
});

it('a bank transfer ends in the same state in every order of its events', () => {
  const all = [
    ['proforma_invoice.issued', { proformaInvoiceId: PROFORMA, number: 'PF-1' }],
    ['proforma_invoice.settled', settled('29.90')],
    ['proforma_invoice.issued', { proformaInvoiceId: PROFORMA }],
  ] as const;
  fc.assert(
    fc.property(fc.shuffledSubarray([0, 1, 2], { minLength: 3 }), (order) => {
      let s = anOpenInvoice();
      for (const i of order) s = hear(s, all[i]?.[0] ?? '', all[i]?.[1] ?? {}, aCtx(), `evt_${i}`);
      expect(s.objects).toMatchObject([{ kind: 'proforma', morId: PROFORMA, status: 'SETTLED', number: 'PF-1' }]);
      expect(fromBank(s)).toHaveLength(1);
    }),
  );
});

// An invoice that waits for a bank transfer: when it is overdue.
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const at = (ms: number, settings: Partial<DecisionSettings> = {}): Ctx => aCtx(new Date(NOW.getTime() + ms), settings);

function aProforma(over: Partial<MorObjectRow> = {}): MorObjectRow {
  const known = { id: 'pfm_1', kind: 'proforma', invoiceId: 'in_1', status: 'ISSUED', morId: PROFORMA } as const;
  return newMorObject(NOW, { ...known, ...over });
}

const deadline = new Date(NOW.getTime() + 14 * DAY_MS);
/** Settled once it was looked up that the customer does not pay by debit, which comes before any alarm. */
const settledNotByDebit = (state: LaneState, ctx: Ctx): LaneState =>
  settle(
    decide(settle(state, ctx), ctx, (lane) => debitLookup.apply(lane, false, 'cus_1')),
    ctx,
  );

it('an invoice with a proforma invoice is overdue only after the due date of the proforma invoice', () => {
  const s = settle(putObject(anOpenInvoice(), { ...aProforma({ deadline }), readDueAt: deadline }), aCtx());
  expect(open(settle(s, at(2 * DAY_MS, {})))).toEqual([]);
  const late = settledNotByDebit(s, at(14 * DAY_MS, {}));
  expect(open(late)).toMatchObject([{ kind: 'renewal_overdue' }]);
});

it('a proforma invoice closes the renewal_overdue item of its invoice, and its failed issuance opens the item again', () => {
  const overdue = settledNotByDebit(anOpenInvoice(), at(2 * DAY_MS, {}));
  expect(open(overdue)).toMatchObject([{ kind: 'renewal_overdue' }]);
  const s = settle(putObject(overdue, aProforma({ deadline })), at(2 * DAY_MS, {}));
  expect(open(s)).toEqual([]);
  const data = { proformaInvoiceId: PROFORMA, message: 'no' };
  expect(open(hear(s, 'proforma_invoice.issuance_failed', data, at(2 * DAY_MS, {})))).toMatchObject([
    { kind: 'renewal_overdue' },
  ]);
});
