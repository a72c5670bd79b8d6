// The exact requests of each call, and that they are read back from their own bytes.
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type BillingCall } from '../../src/domain/ports/billing-platform.js';
import { encodeCall } from '../../src/stripe/encode.js';
import { readStoredCall } from '../../src/stripe/stored-call.js';
import { calls } from '../support/stripe-stub.js';

const bodyOf = (call: BillingCall, cpmt: string | null = null): unknown =>
  JSON.parse(encodeCall(call, cpmt).body ?? 'null');

describe('requests to Stripe', () => {
  it('reports a payment as guaranteed, with the charge id as its reference and whole seconds', () => {
    expect(encodeCall(calls.report, null)).toEqual({
      method: 'POST',
      path: '/v1/payment_records/report_payment',
      body:
        '{"amount_requested":{"value":2990,"currency":"eur"},"initiated_at":1793491205,' +
        '"payment_method_details":{"type":"custom","custom":{"display_name":"Merchant of Record"}},' +
        '"outcome":"guaranteed","guaranteed":{"guaranteed_at":1793491209},' +
        '"processor_details":{"type":"custom","custom":{"payment_reference":"ch_psp_1"}},' +
        '"customer_details":{"customer":"cus_1"},"customer_presence":"off_session",' +
        '"metadata":{"crossbill":"1","payment_id":"pay_1","invoice_id":"in_1"}}',
    });
    expect(bodyOf(calls.report, 'cpmt_1')).toMatchObject({
      payment_method_details: { type: 'custom', custom: { type: 'cpmt_1' } },
    });
  });

  it('never says that a payment was guaranteed before it began', () => {
    const call = { ...calls.report, initiatedAt: new Date('2026-11-01T01:00:00Z') };
    expect(bodyOf(call)).toMatchObject({ initiated_at: 1793491209, guaranteed: { guaranteed_at: 1793491209 } });
  });

  it('attaches with the payments expanded, finalizes without automatic collection, pays out of band', () => {
    expect(encodeCall(calls.attach, null)).toEqual({
      method: 'POST',
      path: '/v1/invoices/in_1/attach_payment',
      body: '{"payment_record":"pr_1","expand":["payments"]}',
    });
    expect(encodeCall(calls.finalize, null)).toEqual({
      method: 'POST',
      path: '/v1/invoices/in_1/finalize',
      body: '{"auto_advance":false}',
    });
    expect(encodeCall(calls.pay, null)).toEqual({
      method: 'POST',
      path: '/v1/invoices/in_1/pay',
      body: '{"paid_out_of_band":true}',
    });
    expect(encodeCall(calls.reference, null)).toEqual({
      method: 'POST',
      path: '/v1/invoices/in_1',
      body: '{"metadata":{"mor_payment_id":"pay_1","mor_charge_id":"ch_psp_1"}}',
    });
  });

  it('reports a refund under its own reference and links the credit note to it, without a mail to the customer', () => {
    expect(bodyOf(calls.refund)).toEqual({
      outcome: 'refunded',
      processor_details: { type: 'custom', custom: { refund_reference: 're_psp_1' } },
      amount: { value: 1000, currency: 'eur' },
      initiated_at: 1793577600,
      refunded: { refunded_at: 1793577600 },
      metadata: { crossbill: '1', refund_id: 'rf_1' },
    });
    const metadata = { crossbill: '1', refund_id: 'rf_1', invoice_id: 'in_1' };
    const link = { payment_record: 'pr_1', refund_group: 're_psp_1' };
    expect(bodyOf(calls.note)).toEqual({
      invoice: 'in_1',
      amount: 1000,
      email_type: 'none',
      refunds: [{ type: 'payment_record_refund', amount_refunded: 1000, payment_record_refund: link }],
      metadata,
    });
    expect(bodyOf({ ...calls.note, refunded: null })).toEqual({
      invoice: 'in_1',
      amount: 1000,
      email_type: 'none',
      out_of_band_amount: 1000,
      metadata,
    });
  });

  it('refuses to write down an amount of nothing, less than nothing or more than JSON carries', () => {
    for (const minor of [0n, -1n, 9_007_199_254_740_992n]) {
      const call = { ...calls.report, amount: { minor, currency: 'EUR' } };
      expect(() => encodeCall(call, null)).toThrow(RangeError);
    }
  });

  it('keeps an odd id inside its path segment, and the same call gives the same bytes', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 255, unit: 'grapheme' }), (id) => {
        fc.pre(id !== '.' && id !== '..');
        const call = { ...calls.attach, invoiceId: id };
        const wire = encodeCall(call, null);
        expect(encodeCall(call, null)).toEqual(wire);
        expect(wire.path.split('/')).toHaveLength(5);
        expect(readStoredCall({ kind: call.kind, key: 'k', wire })).toMatchObject({ invoiceId: id });
      }),
    );
  });

  it('reads every call back from its bytes, and no call as one of another kind', () => {
    const all: readonly BillingCall[] = Object.values(calls);
    for (const call of all) {
      const wire = encodeCall(call, null);
      for (const { kind } of all) {
        expect([kind, readStoredCall({ kind, key: 'k', wire })?.kind]).toEqual([
          kind,
          kind === call.kind ? kind : undefined,
        ]);
      }
    }
  });
});
