// Notifications outside an invoice's step: items without an invoice, deadlines, differences, refusing endpoints; and in
// Slack's words.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { NotifyReceiver } from '../support/fakes/notify-receiver.js';
import { startWorld, type World } from '../support/rigs/world.js';
import { cli } from '../cli/rig.js';

let world: World;
let receiver: NotifyReceiver;
let env: Record<string, string>;

beforeAll(async () => {
  receiver = await NotifyReceiver.open();
  world = await startWorld();
  env = { NOTIFY_URL: receiver.url, NOTIFY_FORMAT: 'slack' };
  await world.startDaemon(env);
});
afterAll(async () => {
  await world.close();
  await receiver.close();
});

const texts = (): readonly string[] => receiver.heard.map((h) => (JSON.parse(h.body) as { text: string }).text);
const said = (words: RegExp): Promise<readonly string[]> =>
  world.until(
    `it is said: ${words.source}`,
    () => texts().filter((t) => words.test(t)),
    (found) => found.length > 0,
  );

describe('a channel of Slack', () => {
  it('Crossbill posts one unsigned line to Slack for a paid invoice', async () => {
    const s = await world.subscriber();
    const [line] = await said(/is paid/);
    expect(line).toBe(
      `Invoice ${s.firstInvoiceId} is paid (29.90 EUR). See /console/invoices/${s.firstInvoiceId} in the console.`,
    );
    expect(receiver.heard.every((h) => h.headers['webhook-signature'] === undefined)).toBe(true);
  });

  it('Crossbill posts to Slack when a review item opens, and again before its deadline', async () => {
    await world.query(`insert into review (id, kind, status, topic, subject, fact, actions, created_at, due_at)
      values ('rev_loose', 'signup_overdue', 'open', 'signup-unpaid', 'sup_1',
              '{"code": "signup-unpaid", "signup": "sup_1", "customer": "Ada", "since": "2026-11-20T12:00:00.000Z"}',
              array['dismiss'], now(), now() + interval '5 hours')`);
    await said(/A review item waits for a person: signup overdue/);
    const [due] = await said(/is due by/);
    expect(due).toContain('signup overdue');
    expect(texts().join(' ')).not.toContain('Ada');
    expect(texts().filter((t) => /signup overdue/.test(t))).toHaveLength(2);
  });

  it('when a webhook endpoint refuses six deliveries, Crossbill posts to Slack once', async () => {
    const url = `${world.daemons[0]?.url ?? ''}/webhooks/mor/events`;
    const t = Math.floor(Date.now() / 1000);
    for (let n = 0; n < 6; n++) {
      const headers = { 'Service-Signature': `t=${t},v1=${'ab'.repeat(32)}` };
      expect((await fetch(url, { method: 'POST', headers, body: '{}' })).status).toBe(503);
    }
    const notified = await said(/webhook endpoint mor_events refuses deliveries/);
    expect(notified).toHaveLength(1);
    expect(notified[0]).toContain('MOR_EVENT_WEBHOOK_SECRETS');
  });

  it('Crossbill posts to Slack when `crossbill verify` finds a difference', async () => {
    const s = await world.stripe.customers.create({ name: 'Ada Example' });
    await world.control('DELETE', '/stripe/webhook-endpoints/all');
    const invoice = await world.stripe.invoices.create({ customer: s.id, auto_advance: false });
    expect(invoice.id).toBeDefined();
    await world.advance(7_200);
    const ran = await cli(['verify'], { ...world.env, ...env });
    expect(ran.code).toBe(3);
    await said(/Verify found 1 difference without an open review item/);
  });
});
