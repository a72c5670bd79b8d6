// The last gates in shadow mode: whatever was decided above them, nothing but a read leaves for Stripe, the MoR or the relay.
import { expect, it } from '@jest/globals';
import { Secret } from '../../../../src/shared/config/secret.js';
import { HttpEventRelay } from '../../../../src/frames/mor/event-relay.js';
import { InMemoryRequestBudget } from '../../../support/fakes/request-budget.js';
import { StripeClient } from '../../../../src/frames/stripe/stripe-client.js';
import { anInvoice, API_KEY, reply, startStub } from '../../../support/fakes/stripe-stub.js';
import { aRig, FixedClock } from '../../mor-peer.js';

const HELD_BACK = { ok: false, kind: 'stopped', code: 'shadow_mode', status: null };
const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE'] as const;

it('in shadow mode, Crossbill reads from Stripe, sends no change, and counts only the reads in the request budget', async () => {
  const stub = await startStub(reply(200, anInvoice()));
  const budget = new InMemoryRequestBudget();
  const options = { apiKey: API_KEY, apiBase: stub.base, customPaymentMethodType: null, sendsNothing: true };
  const client = new StripeClient(options, budget);
  for (const method of METHODS) {
    const wire = { method, path: '/v1/invoices/in_1', body: '{}' };
    expect(await client.request('invoices.update', wire, 'key')).toMatchObject(HELD_BACK);
  }
  expect(await client.read('invoices.retrieve', '/v1/invoices/in_1')).toMatchObject({ ok: true });
  expect([stub.seen.length, budget.taken]).toEqual([1, ['invoices.retrieve']]);
  client.close();
  await stub.close();
});

it('in shadow mode, Crossbill reads from the MoR but sends no change', async () => {
  const { peer, transport, close } = await aRig({ sendsNothing: true });
  const accept = (): true => true;
  for (const method of METHODS) {
    const wire = { method, path: '/api/payments/pay_1/refunds', body: '{}' };
    expect(await transport.call(wire, { name: 'refund.create', accept })).toMatchObject(HELD_BACK);
  }
  expect(peer.calls).toEqual([]);
  const read = { method: 'GET', path: '/api/payments/invoice', body: null } as const;
  expect(await transport.call(read, { name: 'invoice.read', accept })).toMatchObject({ ok: true });
  expect(peer.calls.map((c) => c.method)).toEqual(['GET']);
  await close();
});

it('in shadow mode, Crossbill relays no event', async () => {
  const line = { exchange: () => Promise.reject(new Error('something was sent')), close: () => Promise.resolve() };
  const options = {
    relay: { url: 'http://127.0.0.1:9/x', secret: new Secret('whsec_relay') },
    line,
    sendsNothing: true,
  };
  expect(await new HttpEventRelay(options, new FixedClock()).send(Buffer.from('{}'), new Date())).toMatchObject(
    HELD_BACK,
  );
});
