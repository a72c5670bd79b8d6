// `crossbill move`: the moved subscriptions, the reasons for the others, and the way back; Stripe and the MoR never
// both charge.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { cli, cliJson } from '../cli/rig.js';
import { Visitor } from '../console/visitor.js';
import { MovesRepository } from '../../src/features/moves/moves.repository.js';
import { Database } from '../../src/frames/store/database.js';
import { ServerTime } from '../../src/frames/store/database-time.js';
import { type Json, monthlyPrice, OPS_KEY, startWorld, type World } from '../support/rigs/world.js';
import { collection, mover, relayTo, takenFor } from './support/movers.js';
import { stranger } from './support/stranger.js';
import { deafMor, requestsOf } from './support/story.js';

type Moved = { subscription_id: string; result: string; fact: { code: string } | null };
type Report = { moved: number; skipped: number; failed: number; would_move: number; subscriptions: Moved[] } & Json;

const CUSTOM = { STRIPE_CUSTOM_PAYMENT_METHOD_TYPE: 'cpmt_mor' };
const MONTH_SEC = 32 * 24 * 3_600;

describe('`crossbill move`', () => {
  let world: World;
  let env: Record<string, string>;
  beforeAll(async () => {
    world = await startWorld({ ENROLMENT: 'linked', BILLING_DRAFT_POLICY: 'finalize' });
    env = { ...world.env, ...relayTo(world), ...CUSTOM };
    await world.startDaemon(relayTo(world));
    await deafMor(world); // it hears only the relay
  });
  afterAll(() => world.close());

  const move = (argv: readonly string[], over: Record<string, string> = {}) =>
    cliJson<Report>(['move', ...argv], { ...env, ...over });
  const row = async (subscriptionId: string): Promise<Json | undefined> =>
    (await world.list('/v1/moves?limit=100')).find((m) => m['subscription_id'] === subscriptionId);
  const writes = async (): Promise<number> =>
    (await requestsOf(world, 'side=stripe')).filter(
      (r) => r['method'] === 'POST' && /payment_methods|subscriptions\//.test(String(r['path'])),
    ).length;
  /** The newest invoice of the subscription after so long, with both sides done. */
  const renewal = async (subscriptionId: string): Promise<string> => {
    await world.advance(MONTH_SEC);
    const { latest_invoice: latest } = await world.stripe.subscriptions.retrieve(subscriptionId);
    return typeof latest === 'string' ? latest : (latest?.id ?? '');
  };

  // First of all: later the sandbox's clock is ahead of ours.
  it("`crossbill move` skips a subscription due within a day, and moves the customer's other subscription", async () => {
    const s = await mover(world);
    const price = await monthlyPrice(world.stripe, 500);
    const soon = await world.stripe.subscriptions.create({
      customer: s.customerId,
      items: [{ price: price.id }],
      default_payment_method: s.cardId,
      trial_end: Math.floor(Date.now() / 1_000) + 3_600,
    });
    const ran = await move([s.customerId, '--yes']);
    expect(ran).toMatchObject({ code: 3, body: { moved: 1, skipped: 1 } });
    expect(await row(soon.id)).toMatchObject({ status: 'skipped', fact: { code: 'renews_soon' } });
    expect((await collection(world, soon.id))[0]).toBe(s.cardId);
    await world.stripe.subscriptions.cancel(soon.id);
  });

  it('`crossbill move --dry-run` reports its plan without a write to Stripe or the database', async () => {
    const s = await mover(world);
    const before = await writes();
    const ran = await move([s.customerId, '--dry-run']);
    expect(ran).toMatchObject({ code: 0, body: { dry_run: true, would_move: 1, moved: 0, skipped: 0 } });
    expect(ran.body.subscriptions).toMatchObject([{ subscription_id: s.subscriptionId, result: 'would move' }]);
    expect(await writes()).toBe(before);
    expect(await row(s.subscriptionId)).toBeUndefined();
    expect(await collection(world, s.subscriptionId)).toEqual([s.cardId, 'charge_automatically']);
  });

  it("`crossbill move` makes a custom payment method the subscription's default at Stripe, and only the MoR charges the renewal", async () => {
    const s = await mover(world);
    const ran = await move([s.customerId, '--yes']);
    expect(ran).toMatchObject({ code: 0, body: { moved: 1, skipped: 0, failed: 0, complete: true } });
    const [methodId, collected] = await collection(world, s.subscriptionId);
    expect([methodId === s.cardId, collected]).toEqual([false, 'charge_automatically']);
    expect((await world.stripe.paymentMethods.retrieve(methodId ?? '')).type).toBe('custom');
    expect(await row(s.subscriptionId)).toMatchObject({
      status: 'moved',
      way: 'custom_method',
      before_payment_method: s.cardId,
      changed_by: 'cli:ada',
      fact: null,
    });
    const invoiceId = await renewal(s.subscriptionId);
    await world.invoice(invoiceId, 'paid');
    expect(takenFor(world, invoiceId)).toEqual({ stripe: 0, mor: 1 });
  });

  it('a second run of `crossbill move` finds the subscription already moved, and writes nothing to Stripe', async () => {
    const s = await mover(world);
    await move([s.customerId, '--yes']);
    const before = await writes();
    expect(await move([s.customerId, '--yes'])).toMatchObject({ code: 0, body: { moved_before: 1, moved: 0 } });
    expect(await writes()).toBe(before);
  });

  it('without a custom method type, `crossbill move` sets collection to send_invoice, and only the MoR charges the renewal', async () => {
    const s = await mover(world);
    const ran = await move([s.customerId, '--yes'], { STRIPE_CUSTOM_PAYMENT_METHOD_TYPE: '' });
    expect(ran).toMatchObject({ code: 0, body: { moved: 1 } });
    expect(await collection(world, s.subscriptionId)).toEqual([s.cardId, 'send_invoice']);
    const invoiceId = await renewal(s.subscriptionId);
    await world.invoice(invoiceId, 'paid');
    expect(takenFor(world, invoiceId)).toEqual({ stripe: 0, mor: 1 });
    expect(await move([s.customerId, '--back', '--yes'], { STRIPE_CUSTOM_PAYMENT_METHOD_TYPE: '' })).toMatchObject({
      code: 0,
      body: { returned: 1 },
    });
    expect(await collection(world, s.subscriptionId)).toEqual([s.cardId, 'charge_automatically']);
  });

  it('`crossbill move --back` restores the card, and only Stripe charges the next renewal', async () => {
    const s = await mover(world);
    await move([s.customerId, '--yes']);
    const ran = await move([s.customerId, '--back', '--yes']);
    expect(ran).toMatchObject({ code: 0, body: { direction: 'back', returned: 1, skipped: 0 } });
    expect(await collection(world, s.subscriptionId)).toEqual([s.cardId, 'charge_automatically']);
    expect(await row(s.subscriptionId)).toMatchObject({ status: 'returned' });
    const invoiceId = await renewal(s.subscriptionId);
    await world.invoice(invoiceId, 'ignored');
    await world.until('Stripe has charged it', () => takenFor(world, invoiceId), { stripe: 1 });
    expect(takenFor(world, invoiceId)).toEqual({ stripe: 1, mor: 0 });
    expect(await move([s.customerId, '--yes'])).toMatchObject({ code: 0, body: { moved: 1 } });
    const next = await renewal(s.subscriptionId);
    await world.invoice(next, 'paid');
    expect(takenFor(world, next)).toEqual({ stripe: 0, mor: 1 });
  });

  it('after `crossbill move --back`, and for an ended subscription, `crossbill doctor` reports no double charge', async () => {
    const [back, ended, both] = [await mover(world), await mover(world), await mover(world)];
    const customers = [back, ended, both].map((s) => s.customerId);
    for (const s of [back, ended, both])
      await world.stripe.customers.update(s.customerId, { invoice_settings: { default_payment_method: s.cardId } });
    await move([back.customerId, '--yes']);
    await move([back.customerId, '--back', '--yes']);
    await world.stripe.subscriptions.cancel(ended.subscriptionId);
    const { body } = await cliJson<{
      checks: { name: string; state: string; detail: string }[];
      charged: { customer_id: string }[];
    }>(['doctor', '--all'], env);
    expect(body.charged.map((c) => c.customer_id).filter((id) => customers.includes(id))).toEqual([both.customerId]);
    const named = body.checks.find((c) => c.name === 'customers whom Stripe would charge as well');
    expect(customers.map((id) => named?.detail.includes(id))).toEqual([false, false, true]);
  });

  it('the messages of `crossbill move` on a terminal leave no line of progress beside the result', async () => {
    const s = await mover(world);
    const ran = await cli(['move', s.customerId], env, { reply: 'y' });
    expect([ran.code, ran.err.match(/moved/g)]).toEqual([0, null]);
    expect(ran.out).toMatch(/\n1 moved\.\n$/);
  });

  it('`crossbill move --back` keeps a card the customer chose at Stripe after the move', async () => {
    const s = await mover(world);
    await move([s.customerId, '--yes']);
    const other = await world.stripe.paymentMethods.attach('pm_card_visa', { customer: s.customerId });
    await world.stripe.subscriptions.update(s.subscriptionId, { default_payment_method: other.id });
    const ran = await move([s.customerId, '--back', '--yes']);
    expect(ran).toMatchObject({ code: 3, body: { returned: 0, skipped: 1 } });
    expect(ran.body.subscriptions[0]?.fact).toMatchObject({ code: 'changed', method_id: other.id });
    expect((await collection(world, s.subscriptionId))[0]).toBe(other.id);
  });

  describe('a skipped subscription with a reason, still charged by Stripe alone', () => {
    const leaves = async (customerId: string, subscriptionId: string, code: string): Promise<Moved['fact']> => {
      const before = await writes();
      const ran = await move([customerId, '--yes']);
      expect([ran.code, ran.body.skipped, ran.body.moved]).toEqual([3, 1, 0]);
      expect(ran.body.subscriptions[0]?.fact?.code).toBe(code);
      expect(await row(subscriptionId)).toMatchObject({ status: 'skipped', fact: { code } });
      expect(await writes()).toBe(before);
      return ran.body.subscriptions[0]?.fact ?? null;
    };

    it('`crossbill move` skips the subscription of a customer without a confirmed method at the MoR', async () => {
      const s = await stranger(world, { card: true });
      const asked = { payment_method_types: ['card'] };
      await world.api('POST', `/v1/customers/${s.customerId}/payment-method`, asked);
      const trial = { kind: 'trial', customer: { id: s.customerId } };
      expect((await world.api('POST', '/v1/signups', trial)).status).toBe(201);
      await leaves(s.customerId, s.subscriptionId, 'method_missing');
      const invoiceId = await renewal(s.subscriptionId);
      await world.invoice(invoiceId, 'ignored');
      expect(takenFor(world, invoiceId)).toEqual({ stripe: 1, mor: 0 });
    });

    it('`crossbill move` skips a subscription with an open invoice at Stripe', async () => {
      const s = await mover(world);
      await world.control('POST', '/cards', { customer_id: s.customerId, outcome: 'decline' }); // so it stays unpaid
      const renewed = await world.control('POST', '/stripe/renew', { subscription: s.subscriptionId });
      const fact = await leaves(s.customerId, s.subscriptionId, 'invoice_open');
      expect(fact).toMatchObject({ invoice_id: renewed.body['id'], invoice_status: 'draft' });
    });

    it('`crossbill move` skips a subscription that already has a custom payment method, and the MoR still charges the renewal', async () => {
      const s = await world.paidSubscriber({ email: 'ida@example.com' });
      await leaves(s.customerId, s.subscriptionId, 'not_charged');
      const invoiceId = await renewal(s.subscriptionId);
      await world.invoice(invoiceId, 'paid');
      expect(takenFor(world, invoiceId)).toEqual({ stripe: 0, mor: 1 });
    });
  });

  it('`crossbill move` reports the reason for a subscription refused by Stripe, and moves the other subscriptions', async () => {
    const [bad, good] = [await mover(world), await mover(world)];
    await world.fault({
      side: 'stripe',
      method: 'POST',
      path: `/v1/subscriptions/${bad.subscriptionId}`,
      action: 'status',
      status: 400,
      body: { error: { type: 'invalid_request_error', message: 'No.' } },
    });
    const ran = await move([bad.customerId, good.customerId, '--yes']);
    expect(ran).toMatchObject({ code: 1, body: { moved: 1, failed: 1 } });
    expect(await row(bad.subscriptionId)).toMatchObject({ status: 'failed', fact: { code: 'refused', status: 400 } });
    expect(await collection(world, bad.subscriptionId)).toEqual([bad.cardId, 'charge_automatically']);
    await world.control('DELETE', '/faults');
  });

  it.each(['drop_before', 'drop_after', 'store_500'])(
    '`crossbill move` moves a subscription once in spite of the Stripe fault `%s`',
    async (action) => {
      const s = await mover(world);
      const path = `/v1/subscriptions/${s.subscriptionId}`;
      await world.fault({ side: 'stripe', method: 'POST', path, action, times: 1 });
      expect(await move([s.customerId, '--yes'])).toMatchObject({ code: 0, body: { moved: 1 } });
      await world.control('DELETE', '/faults');
      expect(await row(s.subscriptionId)).toMatchObject({ status: 'moved', before_payment_method: s.cardId });
      expect(await move([s.customerId, '--back', '--yes'])).toMatchObject({ code: 0, body: { returned: 1 } });
      expect((await collection(world, s.subscriptionId))[0]).toBe(s.cardId);
    },
  );

  describe('a refusal in one sentence, without a change', () => {
    const refuses = async (
      argv: readonly string[],
      over: Record<string, string>,
      code: string,
      settings = env,
    ): Promise<void> => {
      const before = await writes();
      const ran = await cli(['move', ...argv, '--json'], { ...settings, ...over });
      expect([ran.code, (JSON.parse(ran.out) as { error: Json }).error['code']]).toEqual([1, code]);
      expect(ran.err.trim().split('\n')).toHaveLength(1);
      expect(await writes()).toBe(before);
    };

    it.each<[string, string[], string, Record<string, string>?]>([
      ['`crossbill move` refuses a customer without a link to the MoR', ['cus_nobody'], 'not_linked'],
      ['`crossbill move` refuses a reference without a linked customer', ['--reference', 'batch 9'], 'not_linked'],
      ['`crossbill move` refuses to run in shadow mode', [], 'shadow_mode', { CROSSBILL_SHADOW: 'true' }],
      [
        '`crossbill move --back` refuses to run while every customer is enrolled',
        ['--back'],
        'enrolment_all',
        { ENROLMENT: 'all' },
      ],
    ])('%s', (_, argv, code, over = {}) => refuses([...argv, '--yes'], over, code));
    it("`crossbill move --back` refuses to run while the MoR receives Stripe's webhooks directly", () =>
      refuses(['--back', '--yes'], {}, 'mor_hears_stripe', world.env));

    it('`crossbill move` refuses to run during another move', async () => {
      const db = await Database.open({ url: world.databaseUrl, poolSize: 3, onError: () => undefined });
      try {
        await new MovesRepository(db, new ServerTime()).exclusively(() => refuses(['--yes'], {}, 'move_running'));
      } finally {
        await db.close();
      }
    });
  });

  it('`crossbill move` refuses wrong usage, and stops at a Stripe key without the right to write', async () => {
    expect((await cli(['move', 'cus_1', '--reference', 'x', '--yes'], env)).code).toBe(2);
    expect((await cli(['move'], env)).code).toBe(2); // nobody answers
    const s = await mover(world);
    await world.fault({ side: 'stripe', method: 'POST', path: '/v1/payment_methods', action: 'status', status: 403 });
    const ran = await move([s.customerId, '--yes']);
    expect(ran).toMatchObject({ code: 1, body: { complete: false, problem: { code: 'stripe_refuses_us' } } });
    await world.control('DELETE', '/faults');
    expect(await row(s.subscriptionId)).toMatchObject({ status: 'moving' });
    expect(await move([s.customerId, '--yes'])).toMatchObject({ code: 0, body: { moved: 1 } });
  });

  it('an interrupted run of `crossbill move` exits with code 4, and the next run moves every subscription', async () => {
    const some = [await mover(world), await mover(world)];
    const ended = new AbortController();
    ended.abort();
    const ran = await cli(['move', ...some.map((s) => s.customerId), '--yes', '--json'], env, { signal: ended.signal });
    expect(ran.code).toBe(4);
    expect(JSON.parse(ran.out)).toMatchObject({ complete: false, problem: { code: 'interrupted' } });
    expect(await move([...some.map((s) => s.customerId), '--yes'])).toMatchObject({ code: 0, body: { moved: 2 } });
  });

  it('the API, the console and `crossbill status` show the moves and their progress', async () => {
    const moved = await world.api<{ data: Json[] }>('GET', '/v1/moves?status=moved&limit=2');
    expect(moved.body.data.map((m) => m['status'])).toEqual(['moved', 'moved']);
    expect((await world.api('GET', '/v1/moves?status=odd')).status).toBe(400);
    const page = await new Visitor(world.daemons[0]?.url ?? '').login(OPS_KEY);
    const shown = await page.get('/console/moves?status=skipped');
    expect(shown.text).toContain('in less than 24 hours');
    const { body } = await cliJson<{ enrolment: { moves: Json } }>(['status'], env);
    const all = await world.list('/v1/moves?status=moved&limit=100');
    expect(body.enrolment.moves).toMatchObject({ moved: all.length, moving: 0 });
  });
});
