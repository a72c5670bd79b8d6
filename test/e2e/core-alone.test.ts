// The core runs alone: a daemon without any feature does the main job, over real HTTP.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { startWorld, type World } from '../support/rigs/world.js';
import { DaemonProcess, ensureBuilt } from './support/daemon-process.js';
import { allPaidOnce, leasesRunOut, renewAtOnce, untilSomeCalls } from './support/load.js';
import { paidRenewal, refund } from './support/story.js';

const WITHOUT_FEATURES = ['--import', pathToFileURL(join(import.meta.dirname, 'support/core-alone.mjs')).href];

describe('a daemon without features', () => {
  let world: World;
  let daemon: DaemonProcess;

  beforeAll(async () => {
    await ensureBuilt();
    world = await startWorld({ BILLING_DRAFT_POLICY: 'finalize', LOG_LEVEL: 'info' });
    daemon = await DaemonProcess.on(world.env, WITHOUT_FEATURES);
    world.daemons.push({ url: daemon.url, stop: async () => void (await daemon.end('SIGKILL')) });
    world.deliverTo(daemon);
    await daemon.start();
  }, 300_000); // the build is most of it, where there is none yet
  afterAll(() => world?.close());

  const notesOf = async (invoice: string): Promise<number> =>
    (await world.stripe.creditNotes.list({ invoice })).data.length;

  it('a daemon without features has the routes of the core and none of a feature', async () => {
    expect((await world.api('GET', '/v1/invoices')).status).toBe(200);
    for (const path of ['/v1/verify', '/v1/onboarding/merchants', '/v1/notifications', '/v1/moves'])
      expect({ path, status: (await world.api('GET', path)).status }).toEqual({ path, status: 404 });
  });

  it('a daemon without features marks a signup and its renewal paid on Stripe', async () => {
    const s = await world.paidSubscriber();
    const { invoiceId } = await paidRenewal(world, s);
    expect((await world.stripe.invoices.retrieve(invoiceId)).status).toBe('paid');
  });

  it('a daemon without features leaves a declined renewal open, and asks for no other try', async () => {
    const s = await world.paidSubscriber();
    await world.control('POST', '/cards', { customer_id: s.customerId, outcome: 'decline' });
    const renewal = await world.renew(s.subscriptionId);
    const open = await world.invoice(renewal, 'open');
    expect(open['payments']).toMatchObject([{ status: 'failed' }]);
    await world.advance(3_700); // Stripe finalizes the draft
    await world.until('Stripe asks for the money', () => world.stripe.invoices.retrieve(renewal), { status: 'open' });
    expect((await world.invoice(renewal, 'open'))['payments']).toHaveLength(1);
  });

  it('a daemon without features refunds a part of a payment once, and mirrors it on Stripe', async () => {
    const { invoiceId, paymentId } = await paidRenewal(world);
    const asked = { amount: 1000, reason: 'requested_by_customer' };
    const made = await refund(world, paymentId, asked, `${paymentId}-1`);
    expect(made).toMatchObject({ status: 201, body: { amount: 1000, status: 'succeeded' } });
    expect((await refund(world, paymentId, asked, `${paymentId}-1`)).body['id']).toBe(made.body['id']);
    await world.until('the refund shows on Stripe', () => notesOf(invoiceId), 1);
    expect((await world.api('GET', `/v1/payments/${paymentId}`)).body).toMatchObject({ amount_refunded: 1000 });
  });

  it('a daemon without features keeps the event of a dispute, and says that nobody takes it', async () => {
    const { invoiceId } = await paidRenewal(world);
    const sent = await world.control('POST', '/events', {
      type: 'dispute.action_needed',
      data: { invoice_id: invoiceId, dispute_id: 'dp_core_alone' },
    });
    expect(sent.status).toBeLessThan(300);
    const decided = await world.until(
      'the event is decided',
      () => world.list('/v1/events?type=dispute.action_needed'),
      (events) => events.length > 0 && events.every((e) => e['status'] !== 'received'),
    );
    expect(decided).toMatchObject([{ status: 'ignored', attempts: 0 }]);
    expect((await world.invoice(invoiceId, 'paid'))['id']).toBe(invoiceId);
  });

  it('a daemon without features, killed under load, marks every renewal paid exactly once', async () => {
    const subscribers = [await world.paidSubscriber({ amount: 1000 }), await world.paidSubscriber({ amount: 1000 })];
    const invoices = await renewAtOnce(world, subscribers, 8);
    await untilSomeCalls(world, 3);
    const { pid } = daemon;
    await daemon.end('SIGKILL');
    await leasesRunOut(world.databaseUrl, pid);
    await daemon.start();
    await allPaidOnce(world, invoices);
  });
});
