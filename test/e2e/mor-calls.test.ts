// Webhook endpoints at the MoR and the bytes of a call, end to end.
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Json, type World, startWorld, useWorld, refusal } from '../support/rigs/world.js';
import { deafMor, openRenewal, refund, untilPayment, chargeByMor } from './support/story.js';
import { targetOf, TcpProxy } from '../../packages/proof/src/chaos/tcp-proxy.js';

// Registering the address for the MoR's events (Document 2), end to end.
describe('webhook endpoints at the MoR', () => {
  type List = { data: { id: string; url: string; secret?: string }[] };

  const world = useWorld();
  afterEach(async () => {
    await world.control('DELETE', '/faults');
  });

  const register = (body: Json) => world.api('POST', '/v1/mor/webhooks', body);
  const list = async () => (await world.api<List>('GET', '/v1/mor/webhooks')).body.data;

  it('Crossbill shows the secret of a new MoR webhook endpoint once, but not in lists, logs or the audit trail', async () => {
    const url = 'https://hooks.larch.example/mor';
    const made = await register({ url, events: ['proforma_invoice.settled'], description: 'bank transfers' });
    expect(made).toMatchObject({ status: 201, body: { url, events: ['proforma_invoice.settled'], status: 'ACTIVE' } });
    const secret = String(made.body['secret']);
    expect(secret.length).toBeGreaterThan(10);
    expect(made.body['next']).toContain('MOR_EVENT_WEBHOOK_SECRETS');
    const id = String(made.body['id']);
    expect((await list()).find((e) => e.id === id)).toEqual(expect.not.objectContaining({ secret: expect.anything() }));
    expect(world.logLines.join('')).not.toContain(secret);
    const audit = await world.query(`select * from audit where action = 'mor_webhook.create' order by id`);
    expect(audit.map((r) => r['outcome'])).toEqual(['begun', 'done']);
    expect(JSON.stringify(audit)).not.toContain(secret);
    expect(JSON.stringify(audit)).toContain(id);
    expect((await world.api('DELETE', `/v1/mor/webhooks/${id}`)).status).toBe(204);
    expect((await world.api('DELETE', `/v1/mor/webhooks/${id}`)).status).toBe(204);
    expect((await list()).some((e) => e.id === id)).toBe(false);
  });

  it('after an unanswered registration, Crossbill tells the caller whether the MoR has the webhook endpoint', async () => {
    const body = { url: 'https://hooks.larch.example/lost', events: ['dispute.outcome'] };
    await world.fault({ side: 'mor', method: 'POST', path: '/api/webhooks', action: 'drop_after' });
    const lost = await register(body);
    expect(lost).toMatchObject(refusal(502, 'mor_unavailable'));
    const made = (await list()).find((e) => e.url === body.url);
    expect(lost.body['message']).toContain(made?.id);
    expect(lost.body['message']).toContain('register it again');
    await world.api('DELETE', `/v1/mor/webhooks/${made?.id ?? ''}`);
    await world.fault({ side: 'mor', method: 'POST', path: '/api/webhooks', action: 'drop_before' });
    const never = await register(body);
    expect(never.body['message']).toContain('names no new endpoint');
    expect((await list()).some((e) => e.url === body.url)).toBe(false);
  });
});

// A call's row holds exactly the bytes on the socket: method, path, key and body, on every try.
type Sent = { readonly head: string; readonly body: string };
/** Every request of a connection, from its bytes. */
function requestsIn(chunks: readonly Buffer[]): readonly Sent[] {
  const found: Sent[] = [];
  for (let remaining = Buffer.concat(chunks); remaining.length > 0;) {
    const end = remaining.indexOf('\r\n\r\n');
    const head = remaining.subarray(0, end).toString('latin1');
    const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
    found.push({ head, body: remaining.subarray(end + 4, end + 4 + length).toString() });
    remaining = remaining.subarray(end + 4 + length);
  }
  return found;
}
/** Changes, as method, path, key and body. Reads, and the token's requests, are no call of a lane. */
const changesIn = (proxy: TcpProxy): readonly string[] =>
  [...(proxy.written?.values() ?? [])].flatMap(requestsIn).flatMap(({ head, body }) => {
    const [method = '', path = ''] = head.split(' ');
    const key = /^(?:idempotency-key|x-idempotency-key): (.+)$/im.exec(head)?.[1] ?? null;
    return method === 'GET' || key === null ? [] : [[method, path, key, body].join('\n')];
  });

describe.each(['payment_record', 'out_of_band'])('a renewal marked by %s, and a refund of it', (markMode) => {
  let world: World;
  let proxies: TcpProxy[] = [];
  afterEach(async () => {
    await world.close();
    await Promise.all(proxies.map((p) => p.close()));
  });

  it('Crossbill sends the stored bytes of each call, and the same bytes again after a lost response', async () => {
    world = await startWorld();
    const stripe = await TcpProxy.before([targetOf(world.sandbox.stripeUrl)]);
    const mor = await TcpProxy.before([targetOf(world.sandbox.morUrl)]);
    proxies = [stripe, mor];
    await world.startDaemon({ STRIPE_API_BASE: stripe.url, MOR_BASE_URL: mor.url, BILLING_MARK_MODE: markMode });
    const s = await world.paidSubscriber({ amount: 1000 });
    await deafMor(world);
    for (const proxy of proxies) proxy.written = new Map();
    const first = markMode === 'payment_record' ? 'amount_requested[value]' : 'metadata[mor_payment_id]';
    stripe.loseReplies(first, '"object"', 1);

    const invoiceId = await openRenewal(world, s);
    const paid = await chargeByMor(world, s, invoiceId, 1000);
    await world.invoice(invoiceId, 'paid');
    await refund(world, paid.paymentId, { amount: 600, reason: 'Größe passt nicht — 100% „ärgerlich“' }, 'once');
    await untilPayment(world, paid.paymentId, (p) =>
      (p['refunds'] as Record<string, unknown>[]).every((r) => r['mirror'] === 'done'),
    );

    const stored = await world.query<Record<'peer' | 'method' | 'path' | 'key' | 'body', string>>(
      `select c ->> 'peer' as peer, c -> 'wire' ->> 'method' as method, c -> 'wire' ->> 'path' as path, c ->> 'key' as key, l.bodies ->> (c ->> 'id') as body
         from lane_log l, json_array_elements(l.change -> 'calls') as c where l.lane = $1 and c -> 'wire' is not null`,
      [invoiceId],
    );
    const storedFor = (peer: string): string[] =>
      stored.filter((c) => c.peer === peer).map((c) => [c.method, c.path, c.key, c.body].join('\n'));
    expect(stripe.lost).toBe(1);
    expect(changesIn(stripe)).toHaveLength(storedFor('stripe').length + 1);
    expect([...new Set(changesIn(stripe))].sort()).toEqual(storedFor('stripe').sort());
    expect(storedFor('stripe')).toHaveLength(markMode === 'payment_record' ? 4 : 3);
    expect([...new Set(changesIn(mor))]).toEqual(storedFor('mor'));
    expect(storedFor('mor')).toHaveLength(1);
  });
});
