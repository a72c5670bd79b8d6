// A failed renewal with a schedule of retries: charged again over the relay, given a link, given up. Waits of seconds
// stand for days.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { copyDatabase, type TestDatabase } from '../support/rigs/database.js';
import { type Json, type Reply, startWorld, type Subscriber, type World, refusal } from '../support/rigs/world.js';
import { cli, cliJson } from '../cli/rig.js';
import { deafMor, draftRenewal, requestsOf, paidOnce } from './support/story.js';

const LINKS = { RECOVERY_LINK_JURISDICTION: 'GB', RECOVERY_LINK_RETURN_URL: 'https://shop.example/thanks' };

describe('a failed renewal with a schedule of retries', () => {
  let world: World;
  let s: Subscriber;
  const copies: TestDatabase[] = [];
  const settings = (): Record<string, string> => ({
    ...LINKS,
    MOR_RELAY_URL: `${world.sandbox.morUrl}/relay/stripe`,
    MOR_RELAY_SECRET: world.sandbox.secrets.relaySecret,
  });

  beforeAll(async () => {
    world = await startWorld({ BILLING_DRAFT_POLICY: 'finalize' });
    await start('off');
    await deafMor(world);
    s = await world.paidSubscriber();
  });
  afterAll(async () => {
    await world.close();
    for (const copy of copies) await copy.drop();
  });

  /** Ends the running daemons and starts one with this schedule, the receiver of later deliveries. */
  async function start(schedule: string, url = world.databaseUrl): Promise<void> {
    await stop();
    world.deliverTo(await world.startDaemon({ ...settings(), RETRY_SCHEDULE: schedule, DATABASE_URL: url }));
  }

  async function stop(): Promise<void> {
    await Promise.all(world.daemons.splice(0).map((d) => d.stop()));
  }

  const shown = async (id: string): Promise<Json> => (await world.api('GET', `/v1/invoices/${id}`)).body;
  const made = (invoice: Json): Json[] => ((invoice['retries'] as Json | null)?.['made'] as Json[] | undefined) ?? [];
  const retry = (id: string, headers = {}): Promise<Reply> =>
    world.api('POST', `/v1/invoices/${id}/retry`, undefined, headers);
  const charges = async (id: string): Promise<string[]> =>
    ((await world.control('GET', `/mor/payments?invoice=${id}`)).body['data'] as Json[]).map((p) =>
      String(p['status']),
    );

  /** A renewal with the first outcome at the MoR's first charge; the next charges take the others. */
  async function renewal(...outcomes: readonly string[]): Promise<string> {
    await world.control('POST', '/cards', { customer_id: s.customerId, outcome: outcomes });
    const id = await draftRenewal(world, s);
    await world.until(
      'it was refused',
      () => shown(id),
      (i) => (i['retries'] ?? null) !== null,
    );
    await world.stripe.invoices.finalizeInvoice(id, { auto_advance: false });
    return id;
  }

  const until = (id: string, what: string, holds: (json: Json) => boolean): Promise<Json> =>
    world.until(what, () => shown(id), holds);
  const ended = (id: string): Promise<Json> =>
    until(id, 'the schedule is over', (i) => (i['retries'] as Json)['ended_at'] !== null);

  it("Crossbill retries a declined renewal with a fresh invoice.created until the MoR's charge succeeds", async () => {
    await start('soft=1s,2s');
    const id = await renewal('decline', 'decline', 'succeed');
    const paid = await world.invoice(id, 'paid');
    expect(made(paid)).toMatchObject([
      { number: 1, after: 'soft', means: 'charge', by: null, amount: 2990, withdrawn: false },
      { number: 2, after: 'soft', means: 'charge', by: null, amount: 2990, withdrawn: false },
    ]);
    expect((paid['attempts'] as Json[]).map((a) => a['outcome'])).toEqual(['failed', 'failed', 'succeeded']);
    expect(paid).toMatchObject({ next_try_at: null, reviews: [] });
    expect(await charges(id)).toEqual(['failed', 'failed', 'succeeded']);
    await paidOnce(world, id);
    const relayed = (await requestsOf(world, 'side=mor')).filter((r) => r['path'] === '/relay/stripe');
    const bodies = relayed.map((r) => JSON.stringify(r)).filter((text) => text.includes(id));
    const ids = new Set(bodies.map((text) => /evt_[A-Za-z0-9_]+/.exec(text)?.[0]));
    expect(ids.size).toBe(3);
  });

  it("after a hard decline, Crossbill makes a payment link in the customer's country and retries no charge", async () => {
    await world.stripe.customers.update(s.customerId, { address: { country: 'DE', line1: '1', city: 'Berlin' } });
    const id = await renewal('decline:stolen_card', 'succeed');
    const seen = await until(id, 'the link can be paid', (i) =>
      (i['payment_links'] as Json[]).some((l) => l['status'] === 'PAYABLE'),
    );
    expect(seen['retries']).toMatchObject({
      decline_kind: 'hard',
      decline_code: 'stolen_card',
      made: [{ means: 'link' }],
    });
    const asked = await requestsOf(world, 'side=mor');
    expect(JSON.stringify(asked.findLast((r) => r['path'] === '/api/payment-links'))).toContain('DE');
    const refused = await retry(id);
    expect(refused).toMatchObject(refusal(409, 'invoice_not_retryable'));
    expect(String(refused.body['message'])).toContain('a payment link can be paid until');
    await world.control('POST', `/payment-links/${String((seen['payment_links'] as Json[])[0]?.['id'])}/pay`, {});
    await world.invoice(id, 'paid');
    expect(await charges(id)).toEqual(['failed']);
  });

  it.each([
    ['nothing', 'open', 'active'],
    ['uncollectible', 'uncollectible', 'active'],
    ['cancel', 'open', 'canceled'],
  ])(
    'a retry schedule with end=%s leaves the invoice %s and the subscription %s',
    async (end, invoice, subscription) => {
      await start(`soft=1s end=${end}`);
      const one = await world.paidSubscriber();
      const before = s;
      s = one;
      const id = await renewal('decline', 'decline');
      s = before;
      const over = await ended(id);
      expect(over['retries']).toMatchObject({ end });
      await world.until('Stripe shows it', () => world.stripe.invoices.retrieve(id), { status: invoice });
      const seen = await world.until(
        'the subscription is so',
        () => world.stripe.subscriptions.retrieve(one.subscriptionId),
        (x) => (x.status === 'canceled') === (subscription === 'canceled'),
      );
      expect(seen.status === 'canceled').toBe(subscription === 'canceled');
      expect(await charges(id)).toEqual(['failed', 'failed']);
      expect((await shown(id))['next_try_at']).toBeNull();
    },
  );

  it('Crossbill never retries an invoice paid at Stripe, even without an event about the payment', async () => {
    await start('soft=3s end=cancel');
    const id = await renewal('decline', 'succeed');
    await world.fault({ target: 'deliveries', side: 'stripe', action: 'lose', times: 100 });
    await world.stripe.invoices.pay(id, { paid_out_of_band: true });
    const refused = await retry(id);
    expect(refused).toMatchObject(refusal(409, 'invoice_not_retryable'));
    expect(String(refused.body['message'])).toContain('the invoice is paid');
    await world.invoice(id, 'paid');
    await world.control('DELETE', '/faults');
    expect(await charges(id)).toEqual(['failed']);
    expect((await world.stripe.subscriptions.retrieve(s.subscriptionId)).status).not.toBe('canceled');
  });

  it('of two simultaneous retry requests, one gets 202 and the other 409; with the same idempotency key both get 202', async () => {
    await start('soft=30d');
    const id = await renewal('decline', 'decline', 'succeed');
    const both = await Promise.all([retry(id), retry(id)]);
    expect(both.map((r) => r.status).sort()).toEqual([202, 409]);
    expect(both.find((r) => r.status === 409)?.body).toMatchObject({ code: 'invoice_not_retryable' });
    await until(id, 'the second refusal came', (i) => (i['attempts'] as Json[]).length === 2);
    const key = { 'idempotency-key': `again ${id}` };
    const replies = await Promise.all([retry(id, key), retry(id, key)]);
    expect(replies.map((r) => r.status)).toEqual([202, 202]);
    const paid = await world.invoice(id, 'paid');
    expect(made(paid)).toMatchObject([{ by: 'ops' }, { by: 'ops' }]);
    expect(await charges(id)).toEqual(['failed', 'failed', 'succeeded']);
    expect((await retry(id, key)).status).toBe(202);
    expect((await retry(id)).body).toMatchObject({ code: 'invoice_not_retryable' });
  });

  it('Crossbill sends a scheduled retry once, even after a restart and with a second daemon', async () => {
    await start('soft=4s');
    const id = await renewal('decline', 'succeed');
    expect((await shown(id))['next_try_at']).not.toBeNull();
    await start('soft=4s');
    const second = await world.startDaemon({ ...settings(), RETRY_SCHEDULE: 'soft=4s' });
    expect(second.url).toMatch(/^http/);
    const paid = await world.invoice(id, 'paid');
    expect(made(paid)).toHaveLength(1);
    expect(await charges(id)).toEqual(['failed', 'succeeded']);
  });

  it('after a restored backup, Crossbill repeats a retry under its event id, and the MoR does not charge again', async () => {
    await start('soft=30d');
    const id = await renewal('decline', 'succeed');
    await until(id, 'it rests', (i) => i['stripe_status'] === 'open');
    await stop();
    const copy = await copyDatabase(world.databaseUrl);
    copies.push(copy);
    await start('soft=30d');
    // The MoR charges, and nobody ever hears of it.
    await world.fault({ target: 'deliveries', side: 'mor', action: 'lose', times: 100 });
    const first = await retry(id);
    expect(first.status).toBe(202);
    await world.until('the MoR has charged', () => charges(id), { length: 2 });
    await start('soft=30d', copy.url);
    const second = await retry(id);
    expect(second.status).toBe(202);
    const [ref, again] = [made(first.body)[0]?.['ref'], made(second.body)[0]?.['ref']];
    expect(String(ref)).toMatch(/^evt_crossbill_[0-9a-f]{32}$/);
    expect(again).toBe(ref);
    const heard = async (): Promise<number> =>
      (await requestsOf(world, 'side=mor')).filter(
        (r) => r['path'] === '/relay/stripe' && JSON.stringify(r).includes(String(ref)),
      ).length;
    await world.until('the MoR has heard it twice', heard, (n) => n === 2);
    await world.morActs();
    expect(await charges(id)).toEqual(['failed', 'succeeded']);
    await world.control('DELETE', '/faults');
  });

  it('`crossbill retry` makes the MoR charge a refused renewal again, and `crossbill explain` shows the time of the next retry', async () => {
    await start('soft=1h');
    const id = await renewal('decline', 'succeed');
    const env = { ...world.env, ...settings(), RETRY_SCHEDULE: 'soft=1h' };
    const explained = await cli(['explain', id], env);
    expect(explained.out).toMatch(/The last refusal was soft \(insufficient_funds\); next try at \d{4}-/);
    const ran = await cliJson(['retry', id, '--yes'], env);
    expect([ran.code, ran.body]).toMatchObject([0, { id, retries: { made: [{ means: 'charge', by: 'cli:ada' }] } }]);
    await world.invoice(id, 'paid');
    const refused = await cli(['retry', id, '--yes'], env);
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('the invoice is paid')]);
    expect((await cli(['retry', id, '--all-parked'], env)).code).toBe(2);
  });

  it('while no daemon runs, a second `crossbill retry` is refused, and the printed command repeats the first one without a second charge', async () => {
    const id = await renewal('decline', 'succeed');
    await stop();
    const env = { ...world.env, ...settings() };
    const first = await cliJson<Json>(['retry', id, '--yes'], env);
    expect([first.code, made(first.body).length]).toEqual([0, 1]);
    expect((await cli(['retry', id, '--yes'], env)).code).toBe(1);
    const [, key = ''] = /--key (\S+)/.exec(String(first.body['repeat'])) ?? [];
    const again = await cliJson<Json>(['retry', id, '--yes', '--key', key], env);
    expect([again.code, made(again.body).length]).toEqual([0, 1]);
    await start('off');
    await world.invoice(id, 'paid');
    expect(await charges(id)).toEqual(['failed', 'succeeded']);
  });

  it('Crossbill refuses a retry of an unknown invoice, and a retry with a read-only key', async () => {
    expect((await retry('in_nobody')).status).toBe(404);
    const viewer = { authorization: 'Bearer read-key-for-tests-0123456789abcd' };
    expect((await retry('in_nobody', viewer)).status).toBe(403);
  });
});
