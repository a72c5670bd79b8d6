// What a call's row holds is what leaves the socket: method, path, key and body, byte for byte, on every try.
import { afterEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { startWorld, type World } from '../support/world.js';
import { deafMor, openRenewal, refund, takenByMor, tellSucceeded, untilPayment } from './support/story.js';
import { TcpProxy } from './support/tcp-proxy.js';

type Sent = { readonly head: string; readonly body: string };

/** Every request of a connection, from its bytes. */
function requestsIn(chunks: readonly Buffer[]): readonly Sent[] {
  const found: Sent[] = [];
  for (let rest = Buffer.concat(chunks); rest.length > 0;) {
    const end = rest.indexOf('\r\n\r\n');
    const head = rest.subarray(0, end).toString('latin1');
    const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0);
    found.push({ head, body: rest.subarray(end + 4, end + 4 + length).toString() });
    rest = rest.subarray(end + 4 + length);
  }
  return found;
}

/** Changes, as method, path, key and body. Reads, and what the token costs, are no call of a lane. */
const changesIn = (proxy: TcpProxy): readonly string[] =>
  proxy.written.flatMap(requestsIn).flatMap(({ head, body }) => {
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

  it('sends the stored bytes of each call, and the same ones again after a lost answer', async () => {
    world = await startWorld();
    proxies = [await TcpProxy.before(world.sandbox.stripeUrl), await TcpProxy.before(world.sandbox.morUrl)];
    const [stripe, mor] = proxies as [TcpProxy, TcpProxy];
    await world.startDaemon({
      STRIPE_API_BASE: stripe.url,
      MOR_BASE_URL: mor.url.replace(/\/$/, ''),
      BILLING_MARK_MODE: markMode,
    });
    const s = await world.subscriber({ amount: 1000 });
    await world.invoice(s.firstInvoiceId, 'paid');
    await deafMor(world);
    for (const proxy of proxies) for (const one of proxy.written) one.length = 0;
    const first = markMode === 'payment_record' ? 'amount_requested[value]' : 'metadata[mor_payment_id]';
    stripe.loseAnswers(first, '"object"', 1);

    const invoiceId = await openRenewal(world, s);
    const paid = takenByMor(world, s, invoiceId, 1000);
    await tellSucceeded(world, paid, { customerId: s.customerId, invoiceId, amount: 1000 });
    await world.invoice(invoiceId, 'paid');
    await refund(world, paid.paymentId, { amount: 600, reason: 'Größe passt nicht — 100% „ärgerlich“' }, 'once');
    await untilPayment(world, paid.paymentId, 'shows its refund on Stripe', (p) =>
      (p['refunds'] as Record<string, unknown>[]).every((r) => r['mirror'] === 'done'),
    );

    const db = new pg.Client(world.databaseUrl);
    await db.connect();
    const { rows: stored } = await db.query<Record<'peer' | 'method' | 'path' | 'key' | 'body', string>>(
      `select c ->> 'peer' as peer, c ->> 'method' as method, c ->> 'path' as path, c ->> 'key' as key, l.bodies ->> (c ->> 'id') as body
         from lane_log l, json_array_elements(l.change -> 'calls') as c where l.lane = $1 and c ->> 'method' is not null`,
      [invoiceId],
    );
    await db.end();
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
