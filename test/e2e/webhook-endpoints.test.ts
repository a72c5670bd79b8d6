// The webhook endpoints and a wrong webhook secret, end to end.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../src/shared/config/index.js';
import { startDaemon } from '../../src/daemon.js';
import { createLogger } from '../../src/shared/observe/index.js';
import { cli, cliJson } from '../cli/rig.js';
import { type PaymentEventOver, aPaymentSucceeded } from '../support/builders/events.js';
import { openInvoice, PROFORMA } from '../support/rigs/channels.js';
import { NotifyReceiver } from '../support/fakes/notify-receiver.js';
import { sign } from '../support/builders/signing.js';
import { type Json, type World, startWorld, useWorld } from '../support/rigs/world.js';
import {
  ENDPOINTS,
  type EndpointName,
  deliver,
  eventStatus,
  eventStatuses,
  post,
  secretOf,
} from './support/endpoint.js';
import { targetOf, TcpProxy } from '../../packages/proof/src/chaos/tcp-proxy.js';

// The webhook endpoints of a running daemon with its database: every row of the answer table, and the event list after
// it.
describe('The webhook endpoints', () => {
  const RECEIVED = { status: 200, body: '{"received":true}' };
  const ENDPOINT_NAMES = Object.keys(ENDPOINTS) as EndpointName[];
  const nowSec = (): number => Math.floor(Date.now() / 1000);
  const paymentBody = (over: PaymentEventOver = {}): string => aPaymentSucceeded(over).body.toString('utf8');

  /** An event of a type unused at every endpoint. */
  const unusedBody = (id: string): string =>
    JSON.stringify({ id, type: 'weather.changed', created: nowSec(), data: {} });

  describe('the endpoints of a running daemon', () => {
    const world = useWorld({ WEBHOOK_BODY_LIMIT: '64kb' });

    /** An endpoint's answer in the case of Stripe's 4xx: the MoR would not repeat its delivery after a 4xx. */
    const at = (endpoint: EndpointName, atStripe: number): number => (endpoint === 'stripe' ? atStripe : 503);
    const codeOf = ({ body }: { body: string }): unknown => (JSON.parse(body) as Json)['code'];
    const url = (endpoint: EndpointName): string => `${world.daemons[0]?.url ?? ''}${ENDPOINTS[endpoint].path}`;
    const countEvents = async (): Promise<number> => {
      const page = await world.api<{ data: Json[] }>('GET', '/v1/events?limit=100');
      return page.body.data.length;
    };

    const wire = join(import.meta.dirname, '../wire');
    const files = (folder: string): string[] => readdirSync(join(wire, folder)).filter((f) => f.endsWith('.json'));

    it.each(files('stripe'))(
      "Crossbill's webhook endpoint for Stripe accepts the event %s, and Crossbill decides the event",
      async (name) => {
        const body = readFileSync(join(wire, 'stripe', name));
        const { id, type } = JSON.parse(body.toString('utf8')) as { id: string; type: string };
        expect(await deliver(world, 'stripe', body)).toEqual(RECEIVED);
        const unused = type.startsWith('customer.') || name.includes('signup');
        expect(await eventStatus(world, 'stripe', id)).toBe(unused ? 'ignored' : 'done');
      },
    );

    it("Crossbill takes the MoR's payment events at one webhook endpoint and the MoR's other events at a second webhook endpoint", async () => {
      const sent: { endpoint: EndpointName; id: string }[] = [];
      for (const name of files('mor-events')) {
        const body = readFileSync(join(wire, 'mor-events', name));
        const event = JSON.parse(body.toString('utf8')) as { id: string; data?: { object?: { payment_id?: string } } };
        const endpoint = event.data?.object?.payment_id === undefined ? 'mor_events' : 'mor_payments';
        expect([name, await deliver(world, endpoint, body)]).toEqual([name, RECEIVED]);
        sent.push({ endpoint, id: event.id });
      }
      // Crossbill looks for an unknown object for some seconds before a person gets it.
      const statuses = await Promise.all(sent.map(({ endpoint, id }) => eventStatus(world, endpoint, id)));
      expect(statuses).toEqual(sent.map(() => 'done'));
    });

    it.each([
      ['half a JSON body', '{"id":'],
      ['no body', ''],
      ['a list as its body', '[1,2]'],
      ['null as its body', 'null'],
      ['an id of 5,000 characters', JSON.stringify({ id: 'e'.repeat(5_000), type: 'payment.succeeded' })],
      ['an id of 256 characters', JSON.stringify({ id: 'e'.repeat(256), type: 'payment.succeeded' })],
      ['a payment without an amount', paymentBody({ eventId: 'evt_none' }).replace('"amount":1000,', '')],
      ['an amount as text', paymentBody({ eventId: 'evt_text' }).replace('"amount":1000', '"amount":"1000"')],
      ['an amount of zero', paymentBody({ eventId: 'evt_zero' }).replace('"amount":1000', '"amount":0')],
      ['an unknown status', paymentBody({ eventId: 'evt_status' }).replace('"succeeded"}', '"won"}')],
      ['a success without a charge', paymentBody({ eventId: 'evt_charge', chargeId: '' })],
      ['a lane without an invoice as its invoice id', paymentBody({ eventId: 'evt_inner', invoiceId: 'mor:pay_1' })],
      ['the same key twice', paymentBody({ eventId: 'evt_twice' }).replace('{"id"', '{"id":"evt_other","id"')],
      [
        'JSON nested 10,000 deep',
        `{"id":"evt_deep","type":"payment.succeeded","data":${'['.repeat(10_000)}${']'.repeat(10_000)}}`,
      ],
      ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d])],
      ['a byte order mark', `\ufeff${paymentBody({ eventId: 'evt_bom' })}`],
    ])('Crossbill parks an authentic delivery with %s', async (_what, body) => {
      const parkedOnes = (): Promise<Json[]> => world.list('/v1/events?status=parked&limit=100');
      const before = await parkedOnes();
      expect(await deliver(world, 'mor_payments', body)).toEqual(RECEIVED);
      expect(await deliver(world, 'mor_payments', body)).toEqual(RECEIVED);
      const parked = await parkedOnes();
      expect(parked).toHaveLength(before.length + 1); // the second delivery is the same event
      const [newest] = parked;
      expect(newest).toMatchObject({ source: 'mor_payments', status: 'parked' });
      expect(newest?.['reason']).toEqual(expect.stringMatching(/./));
      expect((await world.api('GET', `/v1/events/${String(newest?.['id'])}`)).status).toBe(200);
    });

    it('Crossbill applies an event with odd white space, escapes and unknown fields', async () => {
      const invoiceId = 'in_spaces';
      const body = `\r\n  ${paymentBody({ eventId: 'evt_spaces', paymentId: 'pay_spaces', invoiceId }).replace('"type"', '"n\\u00e9w": 1152921504606846976, "__proto__": {"x":1}, "type"')} \n`;
      expect(await deliver(world, 'mor_payments', body)).toEqual(RECEIVED);
      expect(await eventStatus(world, 'mor_payments', 'evt_spaces')).toBe('done');
    });

    it.each(ENDPOINT_NAMES)(
      'the webhook endpoint %s refuses a signature made with another secret, and stores nothing',
      async (endpoint) => {
        const body = paymentBody({ eventId: `evt_forged_${endpoint}` });
        const before = await countEvents();
        for (const other of ENDPOINT_NAMES.filter((d) => d !== endpoint)) {
          expect((await deliver(world, endpoint, body, { secret: secretOf(world, other) })).status).toBe(
            at(endpoint, 401),
          );
        }
        const forged = await deliver(world, endpoint, body, { secret: 'whsec_of_a_stranger' });
        expect([forged.status, codeOf(forged)]).toEqual([at(endpoint, 401), 'signature_mismatch']);
        const changed = await post(url(endpoint), `${body} `, {
          [ENDPOINTS[endpoint].header]: sign(body, secretOf(world, endpoint)),
        });
        expect(changed.status).toBe(at(endpoint, 401));
        // Another endpoint's header counts for nothing, beside the right one or alone.
        const [foreign] = ENDPOINT_NAMES.filter((d) => d !== endpoint).map((d) => ENDPOINTS[d].header);
        expect(
          (await post(url(endpoint), body, { [foreign ?? '']: sign(body, secretOf(world, endpoint)) })).status,
        ).toBe(at(endpoint, 400));
        expect(await countEvents()).toBe(before);
      },
    );

    it.each([
      ['-299', 200],
      ['+299', 200],
      ['-302', 503],
      ['+302', 503],
    ])(
      "a webhook with a valid signature, stamped %s seconds off the daemon's clock, gets status %i",
      async (off, status) => {
        const id = `evt_off_${off}`;
        const body = paymentBody({ eventId: id, paymentId: `pay_off_${off}`, invoiceId: `in_off_${off}` });
        const sent = await deliver(world, 'mor_payments', body, { t: nowSec() + Number(off) });
        expect(sent.status).toBe(status);
        expect(await eventStatus(world, 'mor_payments', id)).toBe(status === 200 ? 'done' : 'quarantined');
        if (status === 200) return;
        expect((await world.api('GET', `/v1/payments/pay_off_${off}`)).status).toBe(404);
        // The sender renews its stamp and comes again: taken now, and no longer in quarantine.
        expect(await deliver(world, 'mor_payments', body)).toEqual(RECEIVED);
        expect(await eventStatus(world, 'mor_payments', id)).toBe('done');
      },
    );

    it('`crossbill events retry` takes a delivery out of quarantine and books its payment', async () => {
      const names = { eventId: 'evt_late_stamp', paymentId: 'pay_late_stamp', invoiceId: 'in_late_stamp' };
      const sent = await deliver(world, 'mor_payments', paymentBody(names), { t: nowSec() - 7_200 });
      expect(sent.status).toBe(503);
      const listed = ['events', 'list', '--event-id', 'evt_late_stamp'];
      const [kept] = (await cliJson<{ data: Json[] }>(listed, world.env)).body.data;
      expect(kept).toMatchObject({ id: expect.stringMatching(/^iq_/), status: 'quarantined' });
      expect((await world.api('GET', '/v1/payments/pay_late_stamp')).status).toBe(404);
      const taken = await cli(['events', 'retry', String(kept?.['id'])], world.env);
      expect(taken).toEqual({ code: 0, out: expect.stringMatching(/^Queued for another decision: i[eq]_/), err: '' });
      expect(await eventStatus(world, 'mor_payments', 'evt_late_stamp')).toBe('done');
      expect((await world.api('GET', '/v1/payments/pay_late_stamp')).body).toMatchObject({
        invoice_id: 'in_late_stamp',
      });
    });

    it.each(ENDPOINT_NAMES)(
      'the webhook endpoint %s takes a body of exactly the limit, and refuses a larger body',
      async (endpoint) => {
        const limit = 64 * 1024;
        const start = `{"id":"evt_big_${endpoint}","type":"weather.changed","pad":"`;
        const exact = `${start}${'x'.repeat(limit - start.length - 2)}"}`;
        expect(exact).toHaveLength(limit);
        expect(await deliver(world, endpoint, exact)).toEqual(RECEIVED);
        const larger = await deliver(world, endpoint, `${exact} `);
        expect([larger.status, codeOf(larger)]).toEqual([at(endpoint, 413), 'too_large']);
      },
    );

    it('Crossbill never applies a second body under a known event id, but opens a review item', async () => {
      const first = { eventId: 'evt_two', paymentId: 'pay_two', invoiceId: 'in_two', amount: 1000 };
      expect(await deliver(world, 'mor_payments', paymentBody(first))).toEqual(RECEIVED);
      expect(await eventStatus(world, 'mor_payments', 'evt_two')).toBe('done');
      const second = paymentBody({ ...first, amount: 999_999 });
      expect(await deliver(world, 'mor_payments', second)).toEqual(RECEIVED);
      expect(await deliver(world, 'mor_payments', second)).toEqual(RECEIVED);
      await world.shows<{ data: Json[] }>(
        '/v1/reviews?kind=conflicting_event&status=open',
        (r) => r.data.filter((item) => item['invoice_id'] === 'in_two').length === 1,
      );
      const own = await world.api<{ data: Json[] }>('GET', '/v1/events?source=crossbill');
      expect([own.status, own.body.data.map((e) => [e['type'], e['status']])]).toEqual([
        200,
        [['event.second_body', 'done']],
      ]);
      const events = await world.api<{ data: Json[] }>('GET', '/v1/events?event_id=evt_two');
      expect(events.body.data.map((e) => e['status']).sort()).toEqual(['done', 'quarantined']);
      const kept = events.body.data.find((e) => e['status'] === 'quarantined');
      expect((await world.api('POST', `/v1/events/${String(kept?.['id'])}/retry`)).status).toBe(409);
      expect((await world.api('GET', '/v1/payments/pay_two')).body).toMatchObject({ amount: 1000 });
    });
  });

  describe('the endpoints while the database is in trouble', () => {
    let world: World;
    let proxy: TcpProxy;

    beforeAll(async () => {
      world = await startWorld();
      proxy = await TcpProxy.before([targetOf(world.databaseUrl)]);
      await world.startDaemon({ DATABASE_URL: proxy.through(world.databaseUrl) });
    });
    afterAll(async () => {
      proxy.set('pass');
      await world.close();
      await proxy.close();
    });

    it.each(['hang', 'cut'] as const)(
      'the webhook endpoints answer 503 during a database fault (connections %s), and store the repeated delivery once',
      async (mode) => {
        const id = `evt_${mode}`;
        const body = paymentBody({ eventId: id, paymentId: `pay_${mode}`, invoiceId: `in_${mode}` });
        proxy.set(mode);
        const sent = await Promise.all([1, 2, 3].map(() => deliver(world, 'mor_payments', body)));
        expect(sent.map((s) => s.status)).toEqual([503, 503, 503]);
        const stale = await deliver(world, 'mor_payments', body, { t: nowSec() - 1_000 });
        expect(stale.status).toBe(503);
        expect((await post(`${world.daemons[0]?.url ?? ''}/readyz`, '', {})).status).not.toBe(200);
        proxy.set('pass');
        await world.until('the event is taken', () => deliver(world, 'mor_payments', body), { status: 200 });
        expect(await deliver(world, 'mor_payments', body)).toEqual(RECEIVED);
        await world.shows<{ data: Json[] }>(
          `/v1/events?event_id=${id}`,
          (r) => r.data.length === 1 && r.data[0]?.['status'] === 'done',
        );
        await world.until('the daemon is ready again', () => world.api('GET', '/readyz'), { status: 200 });
      },
    );

    it('the webhook endpoints answer 503 before the daemon is ready and while the daemon stops', async () => {
      proxy.set('cut');
      const lines: string[] = [];
      const log = createLogger({
        level: 'info',
        secrets: [],
        pretty: false,
        destination: { write: (line) => void lines.push(line) },
      });
      const body = unusedBody('evt_early_and_late');
      const starting = startDaemon(
        loadConfig({ ...world.env, DATABASE_URL: proxy.through(world.databaseUrl) }),
        log,
        new AbortController().signal,
      );
      const listening = await world.until(
        'it listens',
        () => lines.flatMap((l) => /"url":"([^"]+)"/.exec(l)?.[1] ?? [])[0] ?? null,
        (seen) => seen !== null,
      );
      const base = listening ?? '';
      for (const endpoint of ENDPOINT_NAMES) expect((await deliver(world, endpoint, body, { base })).status).toBe(503);
      expect((await fetch(`${base}/readyz`)).status).toBe(503);
      expect((await fetch(`${base}/livez`)).status).toBe(200);
      expect(await fetch(`${base}/v1/events`).then((r) => r.status)).toBe(503);

      proxy.set('pass');
      const daemon = await starting;
      expect(await deliver(world, 'stripe', body, { base })).toEqual(RECEIVED);

      // A delivery with its body still under way at the daemon's stop: not stored, so 503 or no answer.
      const stopped = daemon.stop();
      const late = await deliver(world, 'stripe', unusedBody('evt_late'), { base }).catch(() => ({ status: 503 }));
      expect(late.status).toBe(503);
      await stopped;
      expect(await eventStatuses(world, 'stripe', 'evt_late')).toEqual([]);
    });
  });
});

// The merchant sets a wrong secret for the endpoints of the MoR, and mends it an hour later: no event is lost.
describe('an hour of a wrong secret at both endpoints of the MoR', () => {
  const WRONG = 'whsec_of_another_endpoint';
  const SOURCES = ['mor_payments', 'mor_events'] as const;
  const HOUR_SEC = 3_600;
  type Attempt = {
    readonly event_id: string;
    readonly url: string;
    readonly status: number | null;
    readonly state: string;
  };

  let world: World;
  let receiver: NotifyReceiver;
  let renewal: string;
  let transferred: string;
  let metrics: string;
  let refused: readonly Attempt[];

  const attempts = async (): Promise<readonly Attempt[]> => {
    const { body } = await world.control('GET', '/deliveries');
    return (body['data'] as Attempt[]).filter((a) => a.url.includes('/webhooks/mor/'));
  };

  beforeAll(async () => {
    receiver = await NotifyReceiver.open();
    world = await startWorld({
      NOTIFY_URL: receiver.url,
      NOTIFY_SECRETS: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
    });
    const right = await world.startDaemon();
    const subscriber = await world.paidSubscriber({ email: 'bo@example.com' });
    transferred = await openInvoice(world);
    const made = await world.api('POST', `/v1/invoices/${transferred}/proforma`, PROFORMA);
    await right.stop();

    const env = { PORT: new URL(right.url).port };
    const wrong = await world.startDaemon({
      ...env,
      MOR_PAYMENT_WEBHOOK_SECRETS: WRONG,
      MOR_EVENT_WEBHOOK_SECRETS: WRONG,
    });
    await world.control('DELETE', '/deliveries');
    renewal = await world.renew(subscriber.subscriptionId);
    await world.advance(60);
    await world.control('POST', `/proformas/${String(made.body['id'])}/settle`, {});
    await world.advance(HOUR_SEC);
    await world.until(
      'the backend is notified of both endpoints',
      () => receiver.of('webhooks.refusing'),
      (heard) => heard.length >= 2,
    );
    const page = await fetch(`${wrong.url}/metrics`);
    metrics = await page.text();
    refused = await attempts();
    await wrong.stop();
    await world.startDaemon(env);
  });
  afterAll(async () => {
    await world.close();
    await receiver.close();
  });

  it('with a wrong webhook secret, Crossbill answers 503 to every delivery of the MoR, and the MoR keeps trying', () => {
    expect(new Set(refused.map((a) => `${a.status} ${a.state}`))).toEqual(new Set(['503 retry']));
    for (const path of ['payments', 'events']) {
      const urls = refused.map((a) => a.url).filter((url) => url.endsWith(`/webhooks/mor/${path}`));
      expect(urls.length).toBeGreaterThan(5);
    }
  });

  it('a wrong webhook secret causes one notification and one log line for each endpoint, and the metrics count each refusal', () => {
    const heard = receiver.of('webhooks.refusing').map((h) => (JSON.parse(h.body) as { data: Json }).data);
    const lines = world.logLines.map((l) => JSON.parse(l) as Json).filter((l) => l['event'] === 'webhooks.refusing');
    for (const endpoint of SOURCES) {
      const notified = {
        endpoint,
        reason: 'signature_mismatch',
        refused: 1,
        check: expect.stringMatching(/WEBHOOK_SECRETS/),
      };
      expect(heard.filter((d) => d['endpoint'] === endpoint)).toEqual([expect.objectContaining(notified)]);
      expect(lines.filter((l) => l['endpoint'] === endpoint)).toEqual([expect.objectContaining(notified)]);
      expect(metrics).toMatch(
        new RegExp(`crossbill_webhook_refusals_total\\{endpoint="${endpoint}",reason="signature_mismatch"\\} [1-9]`),
      );
    }
  });

  it('with the right webhook secret, Crossbill takes every repeated event and decides each event once', async () => {
    const ids = [...new Set(refused.map((a) => a.event_id))];
    await world.advance(4 * HOUR_SEC);
    await world.invoice(renewal, 'paid');
    await world.invoice(transferred, 'paid');
    const seen = await world.until(
      'every event is decided',
      () => Promise.all(ids.map((id) => world.api<{ data: Json[] }>('GET', `/v1/events?event_id=${id}`))),
      (all) => all.every((one) => one.body.data.every((e) => e['status'] !== 'received')),
    );
    expect(seen.map((one) => one.body.data.map((e) => e['status']))).toEqual(ids.map(() => ['done']));
    const last = new Map((await attempts()).map((a) => [a.event_id, a.state]));
    expect(ids.map((id) => last.get(id))).toEqual(ids.map(() => 'acknowledged'));
    for (const id of [renewal, transferred]) {
      const { body } = await world.api('GET', `/v1/invoices/${id}`);
      expect(body['payments']).toMatchObject(expect.arrayContaining([expect.objectContaining({ mark: 'confirmed' })]));
    }
  });
});
