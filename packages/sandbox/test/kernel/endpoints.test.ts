// Senders that disable a webhook endpoint after hours of failures.
import { expect, it } from '@jest/globals';
import { type Rig, rigForEach } from '../rig.js';

const HOUR = 3600;

let rig: Rig;
rigForEach((started) => (rig = started));

const limit = (body: object) => rig.control('POST', '/endpoints', body);
const disabled = async (): Promise<unknown[]> => {
  const list = (await rig.control('GET', '/endpoints')).body['disabled'] as Record<string, unknown>[];
  return list.map((e) => e['sender']);
};
const pay = (count: number) =>
  rig.control('POST', '/mor/payment-events', { type: 'payment.failed', data: { n: count } });
const received = (type: string): number => rig.events(type).length;

it('by default no sender of the sandbox disables an endpoint, however long the endpoint fails', async () => {
  rig.reply = () => 503;
  await pay(1);
  await rig.stripe.customers.create({ email: 'ada@example.com' });
  await rig.advance(80 * HOUR);
  expect(await disabled()).toEqual([]);
});

it("the sandbox's MoR stops its payment events after hours of 503, until somebody sets the endpoint again", async () => {
  await limit({ disable_after_hours: 6, sender: 'mor_payments' });
  rig.reply = () => 503;
  await pay(1);
  await rig.advance(5 * HOUR);
  expect(await disabled()).toEqual([]);
  await rig.advance(10 * HOUR);
  expect(await disabled()).toEqual(['mor_payments']);
  rig.reply = () => 200;
  const before = received('payment.failed');
  await pay(2);
  await rig.advance(80 * HOUR);
  expect(received('payment.failed')).toBe(before); // neither the old event nor the new one
  await rig.control('POST', '/payment-webhook', { url: `${rig.receiverUrl}/payments` });
  await pay(3);
  await rig.advance(1);
  expect(received('payment.failed')).toBe(before + 1);
});

it('a success starts the hours of a failing endpoint anew', async () => {
  await limit({ disable_after_hours: 6 });
  for (const n of [1, 2, 3]) {
    rig.reply = () => 503;
    await pay(n);
    await rig.advance(4 * HOUR);
    rig.reply = () => 200;
    await rig.advance(4 * HOUR);
  }
  expect(await disabled()).toEqual([]);
});

it("the sandbox's MoR shows an endpoint of Document 2 as DISABLED after hours of 503", async () => {
  await limit({ disable_after_hours: 1, sender: 'mor_events' });
  const made = await rig.mor('POST', '/api/webhooks', {
    url: `${rig.receiverUrl}/events`,
    events: ['dispute.action_needed'],
  });
  const list = async (): Promise<unknown[]> => {
    const token = await rig.mor('GET', '/api/webhooks');
    return (token.body as unknown as Record<string, unknown>[]).map((e) => e['status']);
  };
  expect(await list()).toEqual(['ACTIVE']);
  rig.reply = () => 503;
  await rig.control('POST', '/events', { type: 'dispute.action_needed', data: {} });
  await rig.advance(9 * HOUR);
  expect(await list()).toEqual(['DISABLED']);
  rig.reply = () => 200;
  await rig.control('POST', `/webhooks/${String(made.body['id'])}`, { status: 'ACTIVE' });
  const before = received('dispute.action_needed');
  await rig.control('POST', '/events', { type: 'dispute.action_needed', data: {} });
  await rig.advance(1);
  expect(received('dispute.action_needed')).toBe(before + 1);
});

it("the sandbox's Stripe shows an endpoint as disabled after hours of 503, and a merchant enables it again", async () => {
  await limit({ disable_after_hours: 48, sender: 'stripe' });
  rig.reply = () => 503;
  await rig.stripe.customers.create({ email: 'ada@example.com' });
  await rig.advance(70 * HOUR);
  const [endpoint] = (await rig.stripe.webhookEndpoints.list()).data;
  expect(endpoint?.status).toBe('disabled');
  rig.reply = () => 200;
  const before = received('customer.created');
  await rig.stripe.customers.create({ email: 'grace@example.com' });
  await rig.advance(1);
  expect(received('customer.created')).toBe(before);
  const enabled = await rig.stripe.webhookEndpoints.update(endpoint?.id ?? '', { disabled: false });
  expect(enabled.status).toBe('enabled');
  await rig.stripe.customers.create({ email: 'eve@example.com' });
  await rig.advance(1);
  expect(received('customer.created')).toBe(before + 1);
});
