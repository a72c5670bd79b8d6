// The relay, for merchants whose MoR cannot hear Stripe: byte for byte, freshly signed, once, and never a signup's invoice.
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mac } from '../support/signing.js';
import { startWorld, type Subscriber, type World } from '../support/world.js';
import { deliver } from './support/door.js';
import { deafMor, draftRenewal, stripeSide } from './support/story.js';

type Heard = { readonly headers: Record<string, unknown>; readonly body: Buffer };

describe('the relay of invoice.created', () => {
  let world: World;
  let s: Subscriber;
  let ear: Server;
  const heard: Heard[] = [];
  // Answers given to the first tries of every renewal while set, so that no other test's straggler uses them up.
  let refusals: readonly number[] = [];

  beforeAll(async () => {
    // An ear in front of the sandbox's relay route, to see the bytes.
    ear = createServer((req, res) => {
      const chunks: Buffer[] = [];
      req.on('data', (chunk: Buffer) => chunks.push(chunk));
      req.on('end', () => {
        const body = Buffer.concat(chunks);
        const status = refusals[heard.filter((h) => h.body.equals(body)).length];
        heard.push({ headers: req.headers, body });
        if (status !== undefined) {
          res.writeHead(status).end();
          return;
        }
        void fetch(`${world.sandbox.morUrl}/relay/stripe`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'stripe-signature': String(req.headers['stripe-signature']) },
          body,
        }).then((answer) => res.writeHead(answer.status).end());
      });
    });
    await new Promise<void>((resolve) => ear.listen(0, '127.0.0.1', resolve));
    const { port } = ear.address() as AddressInfo;
    world = await startWorld({ BILLING_DRAFT_POLICY: 'finalize' });
    const relay = {
      MOR_RELAY_URL: `http://127.0.0.1:${port}/relay/stripe`,
      MOR_RELAY_SECRET: world.sandbox.secrets.relaySecret,
    };
    await world.startDaemon(relay);
    await world.startDaemon(relay);
    await deafMor(world);
    s = await world.subscriber({ amount: 1000 });
    await world.invoice(s.firstInvoiceId, 'paid');
  });
  afterAll(async () => {
    await world.close();
    await new Promise((resolve) => ear.close(resolve));
  });

  const about = (invoiceId: string): Heard[] => heard.filter((h) => h.body.includes(invoiceId));

  it('sends a renewal on with the bytes as they came, and the MoR charges it', async () => {
    const invoiceId = await draftRenewal(world, s);
    await world.invoice(invoiceId, 'paid');
    const [sent, ...more] = about(invoiceId);
    expect(more).toEqual([]);
    const events = await world.stripe.events.list({ type: 'invoice.created', limit: 1 });
    const event = JSON.parse(sent?.body.toString('utf8') ?? '') as { id: string; type: string };
    expect(event).toMatchObject({ id: events.data[0]?.id, type: 'invoice.created' });
    const header = String(sent?.headers['stripe-signature']);
    const t = /t=(\d+)/.exec(header)?.[1] ?? '';
    expect(header).toContain(`v1=${mac(sent?.body ?? '', world.sandbox.secrets.relaySecret, t)}`);
    expect(sent?.headers['authorization']).toBeUndefined();
    expect((await stripeSide(world, invoiceId)).attached).toHaveLength(1);
  });

  it('keeps odd white space and letters of the body', async () => {
    const invoiceId = await draftRenewal(world, s, 0);
    const { data } = await world.stripe.events.list({ type: 'invoice.created', limit: 1 });
    const twin = JSON.parse(JSON.stringify(data[0])) as {
      id: string;
      data: { object: { id: string; amount_due: number } };
    };
    twin.id = 'evt_odd';
    twin.data.object.id = 'in_odd_bytes';
    const body = `  ${JSON.stringify(twin, null, 3).replace('"object": "event"', '"n\\u00f6te": "Grüße \u{1f332}",\r\n "object": "event"')}\n\n`;
    expect((await deliver(world, 'stripe', body)).status).toBe(200);
    await world.until(
      'it was sent on',
      () => Promise.resolve(about('in_odd_bytes').length),
      (n) => n > 0,
    );
    expect(about('in_odd_bytes')[0]?.body.toString('utf8')).toBe(body);
    expect(invoiceId).toMatch(/^in_/);
  });

  it('does not send a signup’s invoice, nor any other event', () => {
    expect(about(s.firstInvoiceId)).toEqual([]);
    const types = heard.map((h) => (JSON.parse(h.body.toString('utf8')) as { type: string }).type);
    expect(new Set(types)).toEqual(new Set(['invoice.created']));
  });

  it('tries again with a fresh signature when the MoR does not take it, and a second delivery sends nothing more', async () => {
    refusals = [503, 500];
    const invoiceId = await draftRenewal(world, s);
    await world.invoice(invoiceId, 'paid');
    refusals = [];
    const tries = about(invoiceId);
    expect(tries).toHaveLength(3);
    expect(new Set(tries.map((h) => h.body.toString('utf8'))).size).toBe(1);
    const [body] = tries;
    expect((await deliver(world, 'stripe', body?.body ?? '')).status).toBe(200);
    const more = await draftRenewal(world, s);
    await world.invoice(more, 'paid');
    expect(about(invoiceId)).toHaveLength(3);
    expect((await stripeSide(world, invoiceId)).attached).toHaveLength(1);
  });
});
