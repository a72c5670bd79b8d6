// The settings that `npm run sandbox` prints, in a real daemon.
import { expect, it } from '@jest/globals';
import { daemonSettings } from '@crossbill/sandbox/daemon-settings.js';
import { useWorld } from '../support/rigs/world.js';

const world = useWorld({ PORT: '0' }, async (w) => {
  const { API_KEYS: _ours, ...printed } = Object.fromEntries(daemonSettings(w.sandbox));
  await w.startDaemon(printed);
});

it('a daemon with the settings printed by the sandbox tries a refused renewal again, and the MoR charges it once', async () => {
  const s = await world.paidSubscriber();
  await world.control('POST', '/cards', { customer_id: s.customerId, outcome: ['decline', 'succeed'] });
  const invoiceId = await world.renew(s.subscriptionId);
  await world.invoice(invoiceId, 'open');
  await world.advance(3_700);
  await world.shows(`/v1/invoices/${invoiceId}`, (i) => (i['attempts'] as unknown[]).length === 1);
  expect((await world.api('POST', `/v1/invoices/${invoiceId}/retry`, {})).status).toBe(202);
  const relayed = () => world.control('GET', '/requests?side=mor&path=/relay/stripe');
  await world.until('the relay of the retry', relayed, (r) => (r.body['data'] as unknown[]).length === 1);
  await world.morActs();
  await world.invoice(invoiceId, 'paid');
  const { body } = await world.control('GET', `/mor/payments?invoice=${invoiceId}`);
  expect((body['data'] as { status: string }[]).map((p) => p.status)).toEqual(['failed', 'succeeded']);
});
