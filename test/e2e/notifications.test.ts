// Notifications to the merchant's backend, over real HTTP with real signatures: at least once, the same bytes each
// time, and never anything false.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Json, READ_KEY, startWorld, type World } from '../support/rigs/world.js';
import { newSecret, NotifyReceiver } from '../support/fakes/notify-receiver.js';
import { deafMor, newPaid, openRenewal, paymentObject, tell, chargeByMor, refund } from './support/story.js';

const [CURRENT, OLD] = [newSecret(1), newSecret(2)];
type Event = { readonly type: string; readonly timestamp: string; readonly data: Json };

let world: World;
let receiver: NotifyReceiver;

beforeAll(async () => {
  receiver = await NotifyReceiver.open();
  world = await startWorld({ NOTIFY_URL: receiver.url, NOTIFY_SECRETS: `${CURRENT},${OLD}` });
  await world.startDaemon();
});
beforeEach(() => {
  receiver.reply = () => 200;
});
afterAll(async () => {
  await world.close();
  await receiver.close();
});

const eventOf = (body: string): Event => JSON.parse(body) as Event;

/** The notifications about one invoice, oldest first. */
const notifiedOf = (invoiceId: string): readonly Event[] =>
  receiver.heard.map((h) => eventOf(h.body)).filter((e) => e.data['invoice_id'] === invoiceId);

async function heard(type: string, invoiceId: string): Promise<Event> {
  const all = await world.until(
    `${type} of ${invoiceId} is told`,
    () => notifiedOf(invoiceId).filter((e) => e.type === type),
    (events) => events.length > 0,
  );
  const [first] = all;
  if (first === undefined) throw new Error('nothing was told');
  return first;
}

describe('a merchant’s backend', () => {
  it('the backend receives one notification each of signup, paid invoice and refund, signed with both NOTIFY_SECRETS', async () => {
    const s = await world.subscriber();
    const paid = await heard('invoice.paid', s.firstInvoiceId);
    expect(paid.data).toMatchObject({ customer_id: s.customerId, status: 'paid', amount_due: 2990, currency: 'eur' });
    expect(paid.data['payments']).toMatchObject([{ processor_charge_id: s.chargeId, amount: 2990, currency: 'eur' }]);
    const signup = await heard('signup.completed', s.firstInvoiceId);
    expect(signup.data).toMatchObject({ signup_id: s.signupId, processor_charge_id: s.chargeId });

    await deafMor(world);
    const invoiceId = await openRenewal(world, s);
    const money = await chargeByMor(world, s, invoiceId, 2990);
    await heard('invoice.paid', invoiceId);
    const given = await refund(world, money.paymentId, { amount: 500 });
    expect(given.status).toBe(201);
    const notified = await heard('refund.succeeded', invoiceId);
    expect(notified.data).toMatchObject({
      refund_id: given.body['id'],
      amount: 500,
      made_elsewhere: false,
      payment_id: money.paymentId,
    });

    for (const h of receiver.heard) {
      expect(h.headers['webhook-signature']?.split(' ')).toHaveLength(2);
      for (const secret of [CURRENT, OLD]) expect(NotifyReceiver.verify(h, secret)).toEqual(eventOf(h.body));
      expect(() => NotifyReceiver.verify(h, newSecret(3))).toThrow();
    }
    const ids = receiver.heard.map((h) => h.id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(receiver.heard.map((h) => h.body).join('')).not.toMatch(/Ada|example\.com|whsec_|client_secret/);
  });

  it('the backend receives invoice.left_open after a decline, and invoice.action_required for an authentication', async () => {
    const s = await world.paidSubscriber();
    const invoiceId = await openRenewal(world, s);
    const said = { customerId: s.customerId, invoiceId, amount: 2990 };
    const money = newPaid();
    const more = { failure_message: 'Your card was declined.', decline_code: 'insufficient_funds' };
    await tell(world, 'payment.failed', paymentObject(money, 'failed', said, more));
    const open = await heard('invoice.left_open', invoiceId);
    expect(open.data).toMatchObject({
      why: 'payment_failed',
      decline_code: 'insufficient_funds',
      payment_id: money.paymentId,
      next_try_at: null,
    });
    await tell(world, 'payment.requires_action', paymentObject(newPaid(), 'requires_action', said));
    expect((await heard('invoice.action_required', invoiceId)).data).toMatchObject({ status: 'open' });
    expect(notifiedOf(invoiceId).map((e) => e.type)).toEqual(['invoice.left_open', 'invoice.action_required']);
  });

  it('the review.opened notification names the review item and its invoice, and contains no free text', async () => {
    const s = await world.paidSubscriber();
    const invoiceId = await openRenewal(world, s);
    await chargeByMor(world, s, invoiceId, 1000);
    const opened = await heard('review.opened', invoiceId);
    expect(opened.data).toMatchObject({
      kind: 'amount_mismatch',
      console: `/console/reviews/${String(opened.data['review_id'])}`,
    });
    expect(Object.keys(opened.data).sort()).toEqual([
      'console',
      'customer_id',
      'due_at',
      'invoice_id',
      'kind',
      'refund_id',
      'review_id',
      'subscription_id',
    ]);
    expect((await heard('invoice.left_open', invoiceId)).data).toMatchObject({
      why: 'review',
      review_id: opened.data['review_id'],
    });
  });

  it("Crossbill repeats a notification with the same id and bytes until the merchant's backend accepts it", async () => {
    const s = await world.paidSubscriber();
    const invoiceId = await openRenewal(world, s);
    let left = 2;
    receiver.reply = (h) =>
      eventOf(h.body).type === 'invoice.paid' && eventOf(h.body).data['invoice_id'] === invoiceId && left-- > 0
        ? 500
        : 200;
    await chargeByMor(world, s, invoiceId, 2990);
    const tries = (): readonly (typeof receiver.heard)[number][] =>
      receiver.of('invoice.paid').filter((h) => eventOf(h.body).data['invoice_id'] === invoiceId);
    await world.until('it was tried once', () => tries(), { length: 1 });
    const id = tries()[0]?.id ?? '';
    const failed = await world.shows<{ status: string; attempts: number; last_error: string }>(
      `/v1/notifications/${id}`,
      (r) => r.attempts === 1 && r.last_error !== undefined,
    );
    expect(failed).toMatchObject({ status: 'pending', last_error: 'the receiver answered 500' });
    await hasten(id);
    await world.until('it was tried twice', () => tries(), { length: 2 });
    await hasten(id);
    await world.until('it was tried three times', () => tries(), { length: 3 });
    const done = await delivered(id);
    expect(done['tries']).toMatchObject([{ status: 500 }, { status: 500 }, { status: 200, error: null }]);
    expect(new Set(tries().map((t) => t.id))).toEqual(new Set([id]));
    expect(new Set(tries().map((t) => t.body)).size).toBe(1);
    for (const t of tries()) NotifyReceiver.verify(t, CURRENT);
  });

  it('POST /v1/notifications/:id/replay sends the same bytes again for an ops key, and refuses a read-only key', async () => {
    const [first] = receiver.heard;
    if (first === undefined) throw new Error('nothing was told before');
    const denied = await world.api('POST', `/v1/notifications/${first.id}/replay`, undefined, {
      authorization: `Bearer ${READ_KEY}`,
    });
    expect(denied.status).toBe(403);
    const before = receiver.heard.filter((h) => h.id === first.id).length;
    const again = await world.api('POST', `/v1/notifications/${first.id}/replay`);
    expect([again.status, again.body['status'], again.body['attempts']]).toEqual([202, 'pending', 0]);
    await world.until('it came again', () => receiver.heard.filter((h) => h.id === first.id), { length: before + 1 });
    expect(receiver.heard.findLast((h) => h.id === first.id)?.body).toBe(first.body);
    expect((await world.api('POST', '/v1/notifications/msg_none/replay')).status).toBe(404);
    const listed = await world.api<{ data: Json[] }>('GET', '/v1/notifications?status=delivered&type=invoice.paid');
    expect(listed.body.data.length).toBeGreaterThan(0);
    expect(new Set(listed.body.data.map((n) => n['type']))).toEqual(new Set(['invoice.paid']));
    expect((await world.api('GET', '/v1/notifications?type=nothing')).status).toBe(400);
  });

  it("Crossbill follows no redirect of the merchant's backend, and the notification's last error gives the reason", async () => {
    const elsewhere = await NotifyReceiver.open();
    receiver.reply = () => ({ status: 302, headers: { location: elsewhere.url } });
    const id = (await failing()).id;
    expect(elsewhere.heard).toEqual([]);
    const { body } = await world.api<{ last_error: string }>('GET', `/v1/notifications/${id}`);
    expect(body.last_error).toContain('Crossbill does not follow');
    await elsewhere.close();
  });

  it("after a 410 from the merchant's backend, Crossbill sends no notification until the operator replays one", async () => {
    receiver.reply = () => 410;
    const s = await world.subscriber();
    await world.until('the receiver is known to be gone', () => gauge('crossbill_notification_receiver_gone'), 1);
    receiver.reply = () => 200;
    const before = receiver.heard.length;
    const waiting = await world.shows<{ data: { id: string; type: string; invoice_id?: string; status: string }[] }>(
      '/v1/notifications?status=pending&limit=100',
      (r) => r.data.some((n) => n.type === 'invoice.paid' && n.invoice_id === s.firstInvoiceId),
    );
    expect(receiver.heard.length).toBe(before);
    await world.api('POST', `/v1/notifications/${waiting.data[0]?.id ?? ''}/replay`);
    await world.shows<{ data: unknown[] }>('/v1/notifications?status=pending', (r) => r.data.length === 0);
    expect(notifiedOf(s.firstInvoiceId).map((e) => e.type)).toContain('invoice.paid');
  });

  it("Crossbill marks invoices paid while the merchant's backend leaves every notification unanswered", async () => {
    receiver.reply = () => 'hang';
    const s = await world.paidSubscriber();
    for (let n = 0; n < 6; n++) {
      const invoiceId = await openRenewal(world, s);
      await chargeByMor(world, s, invoiceId, 2990);
      await world.invoice(invoiceId, 'paid');
    }
    const open = await world.api<{ data: unknown[] }>('GET', '/v1/notifications?status=pending&limit=100');
    expect(open.body.data.length).toBeGreaterThan(6);
    await world.until('no call at a peer waits', () => gauge('crossbill_queue_depth{queue="outbox"}'), 0);
    receiver.reply = () => 200;
  });
});

/** Makes a notification due now: nobody waits five minutes in a test. */
async function hasten(id: string): Promise<void> {
  const sql = 'select 1 from notification where id = $1 and jsonb_array_length(tries) = attempts';
  await world.until('the try is written down', () => world.query(sql, [id]), { length: 1 });
  await world.query('update notification set next_try_at = now() where id = $1', [id]);
}

async function delivered(id: string): Promise<Json> {
  const done = await world.shows(`/v1/notifications/${id}`, (r) => r['status'] === 'delivered');
  return done;
}

/** A notification goes out, and the receiver does not take it. */
async function failing(): Promise<{ readonly id: string }> {
  const s = await world.subscriber();
  const found = await world.shows<{ data: { id: string; last_error?: string; invoice_id?: string }[] }>(
    '/v1/notifications?status=pending',
    (r) => r.data.some((n) => n.invoice_id === s.firstInvoiceId && n.last_error !== undefined),
  );
  const one = found.data.find((n) => n.invoice_id === s.firstInvoiceId && n.last_error !== undefined);
  return { id: one?.id ?? '' };
}

async function gauge(name: string): Promise<number> {
  const page = await fetch(`${world.daemons[0]?.url ?? ''}/metrics`).then((r) => r.text());
  const line = page.split('\n').find((l) => l.startsWith(`${name} `));
  return Number(line?.split(' ')[1] ?? NaN);
}
