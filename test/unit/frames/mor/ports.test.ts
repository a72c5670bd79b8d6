// The daemon's ports on the package's client: what an answer means here, the relay, and the module.
import { Invoices, PaymentLinks, ProformaInvoices } from '@crossbill/mor';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Test } from '@nestjs/testing';
import { Global, Module } from '@nestjs/common';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Secret } from '../../../../src/shared/config/secret.js';
import { Clock } from '../../../../src/shared/domain/ports/clock.js';
import { EventRelay, PaymentGateway } from '../../../../src/shared/domain/ports/payment-gateway.js';
import { HttpEventRelay } from '../../../../src/frames/mor/event-relay.js';
import { HttpMorChannels } from '../../../../src/frames/mor/mor-channels.js';
import { MorLookups } from '../../../../src/frames/mor/mor-lookups.js';
import { MorModule } from '../../../../src/frames/mor/mor.module.js';
import { MOR_OPTIONS } from '../../../../src/frames/mor/options.js';
import { aRig, json, type Rig } from '../../mor-peer.js';

const wire = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../../wire/mor/${name}.json`, import.meta.url), 'utf8'));

let rig: Rig;
beforeEach(async () => {
  rig = await aRig();
});
afterEach(() => rig.close());

it('the message of an MoR refusal has advice for a documented error code, and the metric counts an undocumented code as `other`', async () => {
  const send = () =>
    rig.transport.call({ method: 'GET', path: '/x', body: null }, { name: 'refund.create', accept: () => null });
  rig.peer.reply = json(404, { code: 'payment_not_found' });
  expect(await send()).toMatchObject({
    message: expect.stringMatching(/^the MoR answered 404: payment_not_found\. [A-Z]/),
  });
  rig.peer.reply = json(404, { code: 'made_up' });
  expect(await send()).toMatchObject({ code: 'made_up', message: 'the MoR answered 404: made_up' });
  expect(rig.reports).toMatchObject([
    { peer: 'mor', name: 'refund.create', kind: 'refused', code: 'payment_not_found' },
    { code: 'other' },
  ]);
});

it('Crossbill treats a proforma invoice or payment link as gone only after the MoR’s own 404, not a proxy’s', async () => {
  const { transport } = rig;
  const channels = new HttpMorChannels(new ProformaInvoices(transport), new PaymentLinks(transport));
  for (const kind of ['proforma', 'payment_link'] as const) {
    rig.peer.reply = (_req, res) => res.writeHead(404).end('<html>no such route</html>');
    expect(await channels.read(kind, 'x')).toMatchObject({ ok: false, status: 404 });
    rig.peer.reply = json(404, { code: 'not_found', errors: [] });
    expect(await channels.read(kind, 'x')).toMatchObject({ ok: true, value: null });
  }
});

it('the command `crossbill verify` takes a 400 or 404 of the MoR as not found, and any other error of the MoR as a failed lookup', async () => {
  const lookups = new MorLookups(new Invoices(rig.transport));
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

const body = Buffer.from('{"id":"evt_1","ü":1}');

it('the relay sends the event’s bytes to the MoR with a new signature and without a bearer token', async () => {
  const relay = new HttpEventRelay(
    { relay: { url: `http://127.0.0.1:${rig.peer.port}/in?x=1`, secret: new Secret('canary-relay') } },
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
  const replies: [number, string][] = [
    [400, 'refused'],
    [408, 'unknown'],
    [424, 'unknown'],
    [425, 'unknown'],
    [429, 'retry'],
    [500, 'unknown'],
    [307, 'refused'],
  ];
  for (const [status, kind] of replies) {
    rig.peer.reply = json(status, {}, { location: 'http://127.0.0.1:1/' });
    expect(await relay.send(body, new Date())).toMatchObject({ ok: false, status, kind });
  }
  await relay.close();
});

it('without a relay URL, Crossbill relays no event', async () => {
  const relay = new HttpEventRelay({ relay: null }, rig.clock);
  expect(relay.enabled).toBe(false);
  expect(await relay.send(body, new Date())).toMatchObject({ ok: false, kind: 'stopped' });
  await relay.close();
});

it("the daemon gets its client of the MoR from the MoR module, and the client's connections close on shutdown", async () => {
  const globals = [{ provide: Clock, useValue: rig.clock }];
  @Global()
  @Module({ providers: globals, exports: globals })
  class Globals {}
  const app = await Test.createTestingModule({ imports: [Globals, MorModule] })
    .overrideProvider(MOR_OPTIONS)
    .useValue(rig.options)
    .compile();
  const gateway = app.get(PaymentGateway, { strict: false });
  rig.peer.reply = json(200, wire('setup-intent'));
  const call = gateway.encode({
    kind: 'create_setup_intent',
    customer: { id: 'cus_1' },
    paymentMethodTypes: null,
    taxCalculationId: null,
  });
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
