// The merchant sets a wrong secret for the endpoints of the MoR, and mends it an hour later: no event is lost.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openInvoice } from '../support/channels.js';
import { NotifyReceiver } from '../support/notify-receiver.js';
import { type Json, startWorld, type World } from '../support/world.js';

const WRONG = 'whsec_of_another_endpoint';
const SOURCES = ['mor_payments', 'mor_events'] as const;
const HOUR_SEC = 3_600;

type Attempt = {
  readonly event_id: string;
  readonly url: string;
  readonly status: number | null;
  readonly state: string;
};

describe('an hour of a wrong secret at both endpoints of the MoR', () => {
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
    const subscriber = await world.subscriber({ email: 'bo@example.com' });
    await world.invoice(subscriber.firstInvoiceId, 'paid');
    transferred = await openInvoice(world);
    const made = await world.api('POST', `/v1/invoices/${transferred}/proforma`, {
      jurisdiction: 'GB',
      due_date: '2099-12-31',
      recipient: {
        legalName: 'Ada Example Ltd',
        address: { line1: '1 High Street', locality: 'London', postalCode: 'N1 1AA', country: 'GB' },
        taxIdentifiers: [{ type: 'GB_VAT', code: 'GB123456789', country: 'GB' }],
        contact: { email: 'ada@example.com' },
      },
    });
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
      () => Promise.resolve(receiver.of('webhooks.refusing')),
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

  it('refuses every attempt with 503, and the MoR gives none up', () => {
    expect(new Set(refused.map((a) => `${a.status} ${a.state}`))).toEqual(new Set(['503 retry']));
    for (const path of ['payments', 'events']) {
      const urls = refused.map((a) => a.url).filter((url) => url.endsWith(`/webhooks/mor/${path}`));
      expect(urls.length).toBeGreaterThan(5);
    }
  });

  it('says so at once: one notification, one log line and a count for each endpoint', () => {
    const heard = receiver.of('webhooks.refusing').map((h) => (JSON.parse(h.body) as { data: Json }).data);
    const lines = world.logLines.map((l) => JSON.parse(l) as Json).filter((l) => l['event'] === 'webhooks.refusing');
    for (const endpoint of SOURCES) {
      const told = {
        endpoint,
        reason: 'signature_mismatch',
        refused: 1,
        check: expect.stringMatching(/WEBHOOK_SECRETS/),
      };
      expect(heard.filter((d) => d['endpoint'] === endpoint)).toEqual([expect.objectContaining(told)]);
      expect(lines.filter((l) => l['endpoint'] === endpoint)).toEqual([expect.objectContaining(told)]);
      expect(metrics).toMatch(
        new RegExp(`crossbill_webhook_refusals_total\\{endpoint="${endpoint}",reason="signature_mismatch"\\} [1-9]`),
      );
    }
  });

  it('takes every event once the secret is right, and decides each once', async () => {
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
