// A bank transfer in the lane of its invoice.
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { type LaneState } from '../../../src/domain/model.js';
import { newMorObject } from '../../../src/domain/mor-object.js';
import { answerOf } from '../../../src/invoices/invoice-sentence.js';
import { aCtx, anOpenInvoice, facts, hear, NOW, open, PROFORMA } from '../../support/channel-lane.js';
import { withWords } from '../../support/item-words.js';
import { applyObjectRead, requestObject } from '../../support/object-calls.js';
import { plan, settle } from '../../support/settled.js';
import { takeRead } from '../../support/decide.js';
import { putObject } from '../../support/put-rows.js';

describe('the lane of a bank transfer', () => {
  const settled = (received: string, total = '29.90', currency = 'EUR'): object => ({
    proformaInvoiceId: PROFORMA,
    status: 'SETTLED',
    settledAt: '2026-11-20T11:00:00Z',
    total: { amount: total, currency },
    amountReceived: { amount: received, currency },
  });

  const fromBank = (s: LaneState): LaneState['payments'] => s.payments.filter((p) => p.origin === 'proforma');

  describe('a bank transfer', () => {
    it('in full is a payment of the invoice’s own customer with the proforma invoice as its reference', () => {
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
      expect(s.messages).toMatchObject([{ kind: 'report_payment' }]);
      expect(s.entries).toMatchObject([{ reason: 'payment_collected' }]);
      expect(open(s)).toEqual([]);
    });

    it('in part marks nothing and says what is missing', () => {
      const s = hear(anOpenInvoice(), 'proforma_invoice.settled', settled('10.00'));
      expect(fromBank(s)).toMatchObject([{ amount: 1000n, mark: 'parked' }]);
      expect(s.messages).toEqual([]);
      expect(withWords(open(s))).toMatchObject([
        { kind: 'partial_transfer', summary: expect.stringContaining('19.90 EUR') },
      ]);
    });

    it('in part leaves the rest to be billed by another proforma invoice, once the part is on the invoice', () => {
      const wire = { method: 'POST', path: '/x', body: '{}' } as const;
      const rest = facts({ amountPaid: 1000n, amountRemaining: 1990n });
      const ask = (s: LaneState, shown = rest) => {
        const request = {
          kind: 'proforma',
          id: 'pfm_2',
          wire,
          until: NOW,
          facts: shown,
          askedAt: NOW,
          by: 'ops',
        } as const;
        return requestObject(s, request, aCtx());
      };
      const s = hear(anOpenInvoice(), 'proforma_invoice.settled', settled('10.00'));
      expect(ask(s, facts())).toMatchObject({ ok: false, code: 'invoice_not_payable' }); // the part waits for a person
      const payments = s.payments.map((p) => ({
        ...p,
        mark: 'confirmed' as const,
        waived: ['amount_mismatch' as const],
      }));
      const applied = settle(takeRead({ ...s, payments }, aCtx(), rest), aCtx());
      expect(ask(applied)).toMatchObject({ ok: true, value: { id: 'pfm_2', amount: 1990n } });
      const { objects, reviews, messages, invoice } = applied;
      if (invoice === null) throw new Error('the lane has an invoice');
      const view = { invoice, payments, objects, reviews, messages, refunds: [], attempts: [] };
      expect(answerOf(view, NOW, (r) => r.topic).text).not.toContain('a proforma invoice is out');
    });

    it('told twice, under another event id too, is one payment; told with another amount, a conflict', () => {
      let s = hear(anOpenInvoice(), 'proforma_invoice.settled', settled('29.90'));
      s = hear(s, 'proforma_invoice.settled', settled('29.90'), aCtx(), 'evt_other');
      expect(fromBank(s)).toHaveLength(1);
      expect(s.entries).toHaveLength(1);
      s = hear(s, 'proforma_invoice.settled', settled('30.00'), aCtx(), 'evt_third');
      expect(fromBank(s)).toMatchObject([{ amount: 2990n }]);
      expect(open(s)).toMatchObject([{ kind: 'conflicting_event', subject: 'evt_third' }]);
    });

    it('ends in the same state in every order of its events', () => {
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

    it('that a read shows and no event announced becomes an item after an hour', () => {
      const o = newMorObject(NOW, {
        id: 'pfm_1',
        kind: 'proforma',
        invoiceId: 'in_1',
        status: 'ISSUED',
        morId: PROFORMA,
      });
      const proforma = { morId: PROFORMA, number: 'PF-1', status: 'SETTLED', merchantReference: 'in_1', failure: null };
      const read = { ok: true, value: { kind: 'proforma', proforma }, status: 200, requestId: null } as const;
      const s = settle(applyObjectRead(putObject(anOpenInvoice(), o), o.id, read, aCtx()), aCtx());
      expect(open(s)).toEqual([]);
      const later = new Date(NOW.getTime() + 3_600_000);
      expect(plan(s, aCtx()).dueAt).toEqual(later);
      const told = settle(s, aCtx(later));
      expect(open(told)).toMatchObject([{ kind: 'conflicting_event' }]);
      const paid = hear(told, 'proforma_invoice.settled', settled('29.90'), aCtx(later));
      expect(open(paid)).toEqual([]);
    });
  });
});
