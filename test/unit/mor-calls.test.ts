// The calls of the client: where they go, what their bytes are, and the answers that are values and not errors.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Test } from '@nestjs/testing';
import { Global, Module } from '@nestjs/common';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { Secret } from '../../src/config/secret.js';
import { Clock } from '../../src/domain/ports/clock.js';
import {
  EventRelay,
  PaymentGateway,
  type SignupCall,
  type SignupCustomer,
} from '../../src/domain/ports/payment-gateway.js';
import { Applications, encodeChooseProduct, encodeDescribeBusiness, encodeSubmit } from '../../src/mor/applications.js';
import { decodeDetails, encodeIntent } from '../../src/mor/card-intents.js';
import { HttpEventRelay } from '../../src/mor/event-relay.js';
import { Invoices } from '../../src/mor/invoices.js';
import { HttpMorChannels } from '../../src/mor/mor-channels.js';
import { MorLookups } from '../../src/mor/mor-lookups.js';
import { MorModule } from '../../src/mor/mor.module.js';
import { MOR_OPTIONS } from '../../src/mor/options.js';
import { encodeCreateMerchant, PartnerMerchants } from '../../src/mor/partner-merchants.js';
import { encodeInitiate } from '../../src/mor/partner.js';
import { PaymentLinks } from '../../src/mor/payment-links.js';
import {
  encodeDeleteProforma,
  encodeProformaFromCalculation,
  ProformaInvoices,
} from '../../src/mor/proforma-invoices.js';
import { encodeRefund } from '../../src/mor/refunds.js';
import { TaxTransactions } from '../../src/mor/tax-transactions.js';
import { WebhookEndpoints } from '../../src/mor/webhook-endpoints.js';
import { encodeJson, segment } from '../../src/mor/wire.js';
import { aRig, json, type Rig } from './mor-peer.js';
import { anyCharacter } from '../../packages/proof/src/fuzz/inputs/character.js';

const wire = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../wire/mor/${name}.json`, import.meta.url), 'utf8'));
const SEND = { psp: 'cardpsp', setupCustomer: 'send' } as const;
const setup = (customer: SignupCustomer): SignupCall => ({
  kind: 'create_setup_intent',
  customer,
  paymentMethodTypes: null,
  taxCalculationId: null,
});
const DATES = { taxCalculationId: 'c', jurisdiction: 'GB', dueDate: '2026-03-31' };

let rig: Rig & { close: () => Promise<void> };
beforeEach(async () => {
  rig = await aRig();
});
afterEach(() => rig.close());

describe('bytes', () => {
  it('a payment intent names the customer in the field of the processor', () => {
    const call = {
      kind: 'create_payment_intent',
      amountMinor: 2990n,
      currency: 'EUR',
      customer: { id: 'cus_1', email: 'a@heron.example', country: 'DE', address: { line1: 'x', city: 'y' } },
      description: null,
      taxCalculationId: 'calc_1',
    } as const;
    expect(encodeIntent(SEND, call)).toEqual({
      method: 'POST',
      path: '/api/payments/cardpsp/payment-intents',
      body:
        '{"amount":2990,"currency":"EUR","merchant_customer":{"address":{"city":"y","line1":"x"},"cardpsp_id":"cus_1",' +
        '"country":"DE","email":"a@heron.example"},"tax_calculation_id":"calc_1"}',
    });
    expect(encodeIntent({ ...SEND, psp: 'otherpsp' }, call).body).toContain('"otherpsp_id":"cus_1"');
    expect(() => encodeIntent(SEND, { ...call, amountMinor: 0n })).toThrow(RangeError);
  });

  it('a setup intent names its customer as a payment intent does, and leaves out what was not given', () => {
    expect(encodeIntent(SEND, setup({ id: 'cus_1' }))).toEqual({
      method: 'POST',
      path: '/api/payments/cardpsp/setup-intents',
      body: '{"merchant_customer":{"cardpsp_id":"cus_1"}}',
    });
    const customer = { id: 'cus_1', email: 'a@heron.example', name: 'Ada', country: 'DE', address: { line1: 'x' } };
    const call = { ...setup(customer), paymentMethodTypes: ['sepa_debit'] };
    expect(encodeIntent({ ...SEND, psp: 'otherpsp' }, call).body).toBe(
      '{"merchant_customer":{"address":{"line1":"x"},"country":"DE","email":"a@heron.example","name":"Ada",' +
        '"otherpsp_id":"cus_1"},"payment_method_types":["sepa_debit"]}',
    );
  });

  it("the details of a signup's customer are read from its stored body, and from a body without a customer none", () => {
    const details = { email: 'a@heron.example', name: 'Ada', country: 'DE', address: { line1: 'x', city: 'y' } };
    const stored = (customer: SignupCustomer): string => encodeIntent(SEND, setup(customer)).body ?? '';
    expect(decodeDetails(stored({ id: 'cus_1', ...details }))).toEqual(details);
    expect(decodeDetails(stored({ id: 'cus_1' }))).toEqual({});
    expect(decodeDetails('{}')).toEqual({});
  });

  it('with MOR_SETUP_CUSTOMER=omit a setup intent names nobody, and a payment intent still does', () => {
    const omit = { ...SEND, setupCustomer: 'omit' } as const;
    expect(encodeIntent(omit, setup({ id: 'cus_1', email: 'a@heron.example' })).body).toBe('{}');
    const payment = {
      kind: 'create_payment_intent',
      amountMinor: 2990n,
      currency: 'EUR',
      customer: { id: 'cus_1' },
      description: null,
      taxCalculationId: null,
    } as const;
    expect(encodeIntent(omit, payment).body).toContain('"cardpsp_id":"cus_1"');
  });

  it('a refund always writes its amount', () => {
    const call = {
      kind: 'create_refund',
      paymentId: 'pay_1',
      amountMinor: 500n,
      reason: null,
      metadata: { b: 1, a: null },
    } as const;
    expect(encodeRefund(call)).toEqual({
      method: 'POST',
      path: '/api/payments/pay_1/refund',
      body: '{"amount":500,"metadata":{"a":null,"b":1}}',
    });
    expect(() => encodeRefund({ ...call, amountMinor: 0n })).toThrow(RangeError);
    expect(() => encodeRefund({ ...call, amountMinor: 2n ** 53n })).toThrow(RangeError);
  });

  it('the same request in another order of keys is the same bytes', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const turned = Object.fromEntries(Object.entries(value).reverse());
        expect(encodeJson(turned)).toBe(encodeJson(value));
        expect(JSON.parse(encodeJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it('an id cannot lead to another route', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: anyCharacter }), (id) => {
        const url = new URL(`http://x/api/payments/${segment(id)}/refund`);
        expect(url.pathname.split('/')).toHaveLength(5);
        expect(url.pathname.endsWith('/refund') && url.pathname.startsWith('/api/payments/')).toBe(true);
      }),
    );
    for (const id of ['..', '.', '../..', '%2e%2e', 'a/b', 'a?b', 'a#b']) {
      expect(new URL(`http://x/a/${segment(id)}/refund`).pathname.split('/')).toHaveLength(4);
    }
    expect(() => segment('')).toThrow(RangeError);
  });

  it('onboarding requests are in mode API, one product, and submit has no body', () => {
    const company = {} as never;
    expect(encodeInitiate({ merchantReference: 'r', productCode: 'tor', company }).body).toContain('"mode":"API"');
    expect(encodeChooseProduct('m', { code: 'tor', regions: ['GB'] })).toEqual({
      method: 'PUT',
      path: '/partner/api/merchants/m/application',
      body: '{"products":[{"code":"tor","regions":["GB"]}]}',
    });
    expect(encodeDescribeBusiness('m', { storeUrls: ['x'] }).body).toBe('{"storeUrls":["x"]}');
    expect(encodeSubmit('m').body).toBeNull();
  });
});

describe('answers that are values', () => {
  it('a taken merchant reference gives the merchant that has it', async () => {
    rig.peer.reply = json(409, { code: 'duplicate_reference', existingMerchantId: 'm-1' });
    const outcome = await new PartnerMerchants(rig.transport).sendCreate(encodeCreateMerchant('shop-1'));
    expect(outcome).toMatchObject({ ok: true, status: 409, value: { kind: 'exists', existingMerchantId: 'm-1' } });
    rig.peer.reply = json(409, { code: 'duplicate_reference' });
    expect(await new PartnerMerchants(rig.transport).sendCreate(encodeCreateMerchant('shop-1'))).toMatchObject({
      ok: false,
      kind: 'refused',
      code: 'duplicate_reference',
    });
  });

  it('a second submission counts as submitted', async () => {
    const applications = new Applications(rig.transport);
    rig.peer.reply = json(409, { code: 'invalid_status', errors: [] });
    expect(await applications.sendSubmit(encodeSubmit('m'))).toMatchObject({ value: { kind: 'already_submitted' } });
    rig.peer.reply = json(400, { code: 'incomplete_application', errors: [{ field: 'checkoutUrl', message: 'due' }] });
    expect(await applications.sendSubmit(encodeSubmit('m'))).toMatchObject({
      ok: false,
      errors: [{ field: 'checkoutUrl' }],
    });
    rig.peer.reply = json(200, { ...(wire('application') as object), status: 'submitted' });
    expect(await applications.sendSubmit(encodeSubmit('m'))).toMatchObject({ value: { kind: 'submitted' } });
  });

  it('a taken proforma reference gives the invoice that holds it; a new one says where to look', async () => {
    const proformas = new ProformaInvoices(rig.transport, rig.clock);
    const request = encodeProformaFromCalculation(DATES);
    rig.peer.reply = json(422, { code: 'merchant_reference_conflict', errors: [], existingProformaInvoiceId: 'p-1' });
    expect(await proformas.sendCreate(request, 'k')).toMatchObject({
      value: { kind: 'reference_taken', existingProformaInvoiceId: 'p-1' },
    });
    const handle = { id: 'p-2', number: 'PF-2', status: 'PENDING_TAX_TRANSACTION', merchantReference: null };
    rig.peer.reply = json(202, handle, { location: '/api/proforma-invoices/p-2', 'retry-after': '2' });
    expect(await proformas.sendCreate(request, 'k')).toMatchObject({
      value: { kind: 'accepted', location: '/api/proforma-invoices/p-2', retryAfterMs: 2_000, invoice: { id: 'p-2' } },
    });
    expect(rig.peer.calls[1]?.headers['idempotency-key']).toBe('k');
    rig.peer.reply = json(422, { code: 'tax_calculation_expired' });
    expect(await proformas.sendCreate(request, 'k')).toMatchObject({ ok: false, kind: 'refused' });
  });

  it('a file that is still being made is a value with the wait', async () => {
    const proformas = new ProformaInvoices(rig.transport, rig.clock);
    const invoices = new Invoices(rig.transport, rig.clock);
    const transactions = new TaxTransactions(rig.transport, rig.clock);
    rig.peer.reply = (_req, res) => res.writeHead(202, { 'retry-after': '3' }).end();
    for (const outcome of [
      await proformas.document('p'),
      await invoices.ofPayment('p'),
      await invoices.ofRefundByReference('re_1'),
      await transactions.invoice('t'),
    ]) {
      expect(outcome).toMatchObject({ ok: true, value: { state: 'pending', retryAfterMs: 3_000 } });
    }
    rig.peer.reply = json(200, wire('invoice-file'));
    expect(await invoices.ofPaymentByReference('ch_1&x=')).toMatchObject({ value: { state: 'ready' } });
    expect(rig.peer.calls.at(-1)?.path).toBe('/api/payments/invoice?psp_reference=ch_1%26x%3D');
    rig.peer.reply = json(409, { code: 'issuance_failed', errors: [] });
    expect(await proformas.document('p')).toMatchObject({ ok: false, kind: 'refused', code: 'issuance_failed' });
    rig.peer.reply = (_req, res) => res.writeHead(204).end();
    expect(await proformas.sendDelete(encodeDeleteProforma('p'))).toMatchObject({ ok: true, value: null });
  });

  it('a proforma invoice or link is gone only by the word of the MoR, not by the 404 of a proxy', async () => {
    const { transport, clock } = rig;
    const channels = new HttpMorChannels(new ProformaInvoices(transport, clock), new PaymentLinks(transport));
    for (const kind of ['proforma', 'payment_link'] as const) {
      rig.peer.reply = (_req, res) => res.writeHead(404).end('<html>no such route</html>');
      expect(await channels.read(kind, 'x')).toMatchObject({ ok: false, status: 404 });
      rig.peer.reply = json(404, { code: 'not_found', errors: [] });
      expect(await channels.read(kind, 'x')).toMatchObject({ ok: true, value: null });
    }
  });

  it('a charge is proven by 200 with its invoice alone, pending by 202, unknown by 404, and anything else says nothing', async () => {
    const invoices = new Invoices(rig.transport, rig.clock);
    const asked: [number, unknown, unknown][] = [
      [200, wire('invoice-file'), 'charged'],
      [200, {}, undefined],
      [200, 'ok', undefined],
      [200, { invoice: null }, undefined],
      [202, {}, 'pending'],
      [404, {}, 'unknown'],
      [500, {}, undefined],
      [400, {}, undefined],
    ];
    for (const [status, body, known] of asked) {
      rig.peer.reply = json(status, body);
      const outcome = await invoices.lookUpCharge('ch_1');
      expect(outcome.ok ? outcome.value : undefined).toBe(known);
    }
  });

  it('a charge is not proven by an answer without a body', async () => {
    rig.peer.reply = (_req, res) => res.writeHead(204).end();
    expect(await new Invoices(rig.transport, rig.clock).lookUpCharge('ch_1')).toMatchObject({
      ok: false,
      kind: 'unknown',
    });
  });

  it('a refund or payment whose name the MoR does not take is not found, and ends no run; trouble of the MoR does', async () => {
    const lookups = new MorLookups(new Invoices(rig.transport, rig.clock));
    const refund = { morRefundId: 'rfnd_1', processorRefundId: null };
    for (const status of [400, 404]) {
      rig.peer.reply = json(status, { code: 'invalid_argument', errors: [] });
      expect(await lookups.hasRefundDocument(refund)).toMatchObject({ ok: true, value: false, status });
      expect(await lookups.hasCharged('pi_1')).toMatchObject({ ok: true, value: false, status });
    }
    for (const status of [401, 429, 503]) {
      rig.peer.reply = json(status, {});
      expect(await lookups.hasRefundDocument(refund)).toMatchObject({ ok: false, status });
      expect(await lookups.hasCharged('pi_1')).toMatchObject({ ok: false, status });
    }
    rig.peer.reply = json(200, wire('invoice-file'));
    expect(await lookups.hasRefundDocument(refund)).toMatchObject({ ok: true, value: true });
  });

  it('lists go on with the cursor and stop without one', async () => {
    const transactions = new TaxTransactions(rig.transport, rig.clock);
    rig.peer.reply = json(200, wire('tax-transactions'));
    const page = await transactions.list({ size: 1, merchantTransactionReference: 'in_1' });
    expect(page).toMatchObject({ ok: true, value: { nextCursor: 'bmV4dA' } });
    await transactions.list({ size: 1, cursor: 'bmV4dA' });
    expect(rig.peer.calls.map(({ path }) => path)).toEqual([
      '/api/tax/transactions?merchantTransactionReference=in_1&size=1',
      '/api/tax/transactions?size=1&cursor=bmV4dA',
    ]);
    rig.peer.reply = json(200, { transactions: [] });
    expect(await transactions.list()).toMatchObject({ value: { transactions: [], nextCursor: null } });
  });

  it('reads go to the paths of Document 2', async () => {
    rig.peer.reply = json(200, wire('payment-link'));
    expect((await new PaymentLinks(rig.transport).read('l-1')).ok).toBe(true);
    rig.peer.reply = json(200, []);
    expect((await new WebhookEndpoints(rig.transport).list()).ok).toBe(true);
    expect(rig.peer.calls.map(({ path }) => path)).toEqual(['/api/payment-links/l-1', '/api/webhooks']);
  });
});

describe('the relay', () => {
  const body = Buffer.from('{"id":"evt_1","ü":1}');

  it('sends the bytes on, freshly signed and without a bearer', async () => {
    const relay = new HttpEventRelay(
      rig.peer.options({
        relay: { url: `http://127.0.0.1:${rig.peer.port}/in?x=1`, secret: new Secret('canary-relay') },
      }),
      rig.clock,
    );
    expect(relay.enabled).toBe(true);
    const at = new Date('2026-11-20T12:34:56Z'); // the database's time, whatever this process's clock shows
    expect(await relay.send(body, at)).toMatchObject({ ok: true, value: null });
    const [call] = rig.peer.calls;
    const t = at.getTime() / 1000;
    const v1 = createHmac('sha256', 'canary-relay').update(`${t}.${body.toString()}`).digest('hex');
    expect(call).toMatchObject({ method: 'POST', path: '/in?x=1', body: body.toString() });
    expect(call?.headers['stripe-signature']).toBe(`t=${t},v1=${v1}`);
    expect(call?.headers.authorization).toBeUndefined();
    const answers: [number, string][] = [
      [400, 'refused'],
      [408, 'unknown'],
      [424, 'unknown'],
      [425, 'unknown'],
      [429, 'retry'],
      [500, 'unknown'],
      [307, 'refused'],
    ];
    for (const [status, kind] of answers) {
      rig.peer.reply = json(status, {}, { location: 'http://127.0.0.1:1/' });
      expect(await relay.send(body, new Date())).toMatchObject({ ok: false, status, kind });
    }
    await relay.close();
  });

  it('is off without an address', async () => {
    const relay = new HttpEventRelay({ relay: null }, rig.clock);
    expect(relay.enabled).toBe(false);
    expect(await relay.send(body, new Date())).toMatchObject({ ok: false, kind: 'stopped' });
    await relay.close();
  });
});

describe('the module', () => {
  it('gives the ports to the application and closes its connections with it', async () => {
    const globals = [{ provide: Clock, useValue: rig.clock }];
    @Global()
    @Module({ providers: globals, exports: globals })
    class Globals {}
    const app = await Test.createTestingModule({ imports: [Globals, MorModule] })
      .overrideProvider(MOR_OPTIONS)
      .useValue(rig.peer.options())
      .compile();
    const gateway = app.get(PaymentGateway, { strict: false });
    rig.peer.reply = json(200, wire('setup-intent'));
    const call = gateway.encode(setup({ id: 'cus_1' }));
    expect(await gateway.createIntent(call, 'k')).toMatchObject({
      ok: true,
      value: { intentId: 'seti_1', morCustomerId: 'cus_mor_1' },
    });
    rig.peer.reply = json(200, wire('refund'));
    const refund = gateway.encode({
      kind: 'create_refund',
      paymentId: 'pay_1',
      amountMinor: 500n,
      reason: null,
      metadata: null,
    });
    expect(await gateway.createRefund(refund, 'k')).toMatchObject({
      value: { morRefundId: 'rfnd_1', processorRefundId: 're_1' },
    });
    rig.peer.reply = json(404, { code: 'not_found', errors: [] });
    expect(await gateway.lookUpCharge('ch_1')).toMatchObject({ ok: true, value: 'unknown' });
    expect(app.get(EventRelay, { strict: false }).enabled).toBe(false);
    await app.close();
    expect(await gateway.lookUpCharge('ch_1')).toMatchObject({ ok: false });
  });
});
