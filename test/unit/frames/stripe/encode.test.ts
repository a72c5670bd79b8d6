// The exact requests of each call: the form that is stored and leaves the socket.
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import Stripe from 'stripe';
import { type BillingCall } from '../../../../src/shared/domain/ports/billing-platform.js';
import { encodeCall } from '../../../../src/frames/stripe/encode.js';
import { calls } from '../../../support/fakes/stripe-stub.js';

/** The fields of the form, in their order. */
const bodyOf = (call: BillingCall, cpmt: string | null = null): readonly string[] =>
  decodeURIComponent(encodeCall(call, cpmt).body ?? '').split('&');

it('Crossbill reports a payment to Stripe as guaranteed, with the charge id as reference and whole seconds', () => {
  expect(encodeCall(calls.report, null)).toEqual({
    method: 'POST',
    path: '/v1/payment_records/report_payment',
    body:
      'amount_requested[value]=2990&amount_requested[currency]=eur&initiated_at=1793491205' +
      '&payment_method_details[type]=custom&payment_method_details[custom][display_name]=Merchant%20of%20Record' +
      '&outcome=guaranteed&guaranteed[guaranteed_at]=1793491209' +
      '&processor_details[type]=custom&processor_details[custom][payment_reference]=ch_psp_1' +
      '&customer_details[customer]=cus_1&customer_presence=off_session' +
      '&metadata[crossbill]=1&metadata[payment_id]=pay_1&metadata[invoice_id]=in_1',
  });
  expect(bodyOf(calls.report, 'cpmt_1')).toContain('payment_method_details[custom][type]=cpmt_1');
});

it("Crossbill never sends Stripe a `guaranteed_at` before the payment's `initiated_at`", () => {
  const fields = bodyOf({ ...calls.report, initiatedAt: new Date('2026-11-01T01:00:00Z') });
  expect(fields).toContain('initiated_at=1793491209');
  expect(fields).toContain('guaranteed[guaranteed_at]=1793491209');
});

it('Crossbill encodes the attach, finalize, out-of-band pay and reference calls exactly', () => {
  expect(encodeCall(calls.attach, null)).toEqual({
    method: 'POST',
    path: '/v1/invoices/in_1/attach_payment',
    body: 'payment_record=pr_1&expand[0]=payments',
  });
  expect(encodeCall(calls.finalize, null)).toEqual({
    method: 'POST',
    path: '/v1/invoices/in_1/finalize',
    body: 'auto_advance=false',
  });
  expect(encodeCall(calls.pay, null)).toEqual({
    method: 'POST',
    path: '/v1/invoices/in_1/pay',
    body: 'paid_out_of_band=true',
  });
  expect(encodeCall(calls.reference, null)).toEqual({
    method: 'POST',
    path: '/v1/invoices/in_1',
    body: 'metadata[mor_payment_id]=pay_1&metadata[mor_charge_id]=ch_psp_1',
  });
});

it('Crossbill reports a refund under its own reference, and its credit note sends no mail to the customer', () => {
  expect(bodyOf(calls.refund)).toEqual([
    'outcome=refunded',
    'processor_details[type]=custom',
    'processor_details[custom][refund_reference]=re_psp_1',
    'amount[value]=1000',
    'amount[currency]=eur',
    'initiated_at=1793577600',
    'refunded[refunded_at]=1793577600',
    'metadata[crossbill]=1',
    'metadata[refund_id]=rf_1',
  ]);
  const first = ['invoice=in_1', 'amount=1000', 'email_type=none'];
  const last = ['metadata[crossbill]=1', 'metadata[refund_id]=rf_1', 'metadata[invoice_id]=in_1'];
  expect(bodyOf(calls.note)).toEqual([
    ...first,
    'refunds[0][type]=payment_record_refund',
    'refunds[0][amount_refunded]=1000',
    'refunds[0][payment_record_refund][payment_record]=pr_1',
    'refunds[0][payment_record_refund][refund_group]=re_psp_1',
    ...last,
  ]);
  expect(bodyOf({ ...calls.note, refunded: null })).toEqual([...first, 'out_of_band_amount=1000', ...last]);
});

it('Crossbill refuses to encode a zero, negative or too large amount', () => {
  for (const minor of [0n, -1n, 9_007_199_254_740_992n]) {
    const call = { ...calls.report, amount: { minor, currency: 'EUR' } };
    expect(() => encodeCall(call, null)).toThrow(RangeError);
  }
});

it('the path of a call keeps any invoice id in one segment, and the same call gives the same bytes', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, maxLength: 255, unit: 'grapheme' }), (id) => {
      fc.pre(id !== '.' && id !== '..');
      const call = { ...calls.attach, invoiceId: id };
      const wire = encodeCall(call, null);
      expect(encodeCall(call, null)).toEqual(wire);
      expect(wire.path.split('/')).toHaveLength(5);
      expect(decodeURIComponent(wire.path.split('/')[3] ?? '')).toBe(id);
    }),
  );
});

it('Crossbill encodes any text in a request body exactly like the stripe package', async () => {
  const sent: string[] = [];
  const httpClient = {
    getClientName: () => 'test',
    makeRequest: (...[, , , , , body]: unknown[]) => {
      sent.push(String(body));
      return Promise.reject(new Error('not sent'));
    },
  };
  const stripe = new Stripe('sk_test_1', { httpClient, maxNetworkRetries: 0, telemetry: false });
  await fc.assert(
    fc.asyncProperty(fc.string({ minLength: 1, unit: 'grapheme' }), async (text) => {
      const call = { ...calls.reference, reference: text };
      const params = { metadata: { mor_payment_id: call.paymentId, mor_charge_id: text } };
      await stripe.rawRequest('POST', '/v1/invoices/in_1', params).catch(() => undefined);
      expect(encodeCall(call, null).body).toBe(sent.at(-1));
    }),
    { numRuns: 50 },
  );
  const list = { refunds: [{ type: 'a' }], expand: ['payments'], auto_advance: false };
  await stripe.rawRequest('POST', '/v1/x', list).catch(() => undefined);
  expect(sent.at(-1)).toBe('refunds[0][type]=a&expand[0]=payments&auto_advance=false');
});
