// A schedule of retries when something comes late or is refused: Stripe's own request for an attempt, and the end on Stripe.
import { chooseItem } from '../../../support/rigs/choose-item.js';
import { expect, it } from '@jest/globals';
import { aPaymentFailed, delivery, INVOICE_ID, invoiceEvent } from '../../../support/builders/events.js';
import { failed } from '../../../support/fakes/fake-platform.js';
import {
  after,
  DAY_MS,
  declined,
  HOUR_MS,
  refused,
  relayed,
  retry,
  rig,
  SCHEDULE,
  state,
} from '../../../support/rigs/retry-rig.js';

it('a late payment_attempt_required event of Stripe brings no retry forward', async () => {
  const r = rig();
  const madeAt = new Date(r.h.clock.now().getTime() + HOUR_MS);
  await refused(r);
  await after(r, 13 * HOUR_MS);
  await r.h.take(invoiceEvent('invoice.payment_attempt_required', { at: madeAt }));
  expect(relayed(r)).toEqual([]);
});

it.each(['uncollectible', 'cancel'] as const)(
  "if Stripe refuses the call for end=%s of the retry schedule, an item opens, and the operator's retry sends the call again",
  async (end) => {
    const r = rig({ retrySchedule: { ...SCHEDULE, soft: [], end } });
    r.h.platform.fail(end === 'cancel' ? 'cancel_subscription' : 'mark_uncollectible', 'refused');
    await refused(r);
    await r.h.idle(1);
    const [item] = (await state(r)).reviews;
    expect(item).toMatchObject({ kind: 'effect_failed', status: 'open' });
    await chooseItem(r.h, 'retry');
    await r.h.idle(1);
    expect((await state(r)).reviews.filter((x) => x.status === 'open')).toEqual([]);
    const { ended, invoices } = r.h.platform;
    expect([ended.size, invoices.get(INVOICE_ID)?.status]).toEqual(end === 'cancel' ? [1, 'open'] : [0, end]);
  },
);

it("an operator's charge withdraws a pending cancellation of the subscription, and a decline brings the cancellation back", async () => {
  const r = rig({ retrySchedule: { ...SCHEDULE, soft: [], end: 'cancel' } });
  r.h.platform.fail('cancel_subscription', ...Array.from({ length: 6 }, () => 'retry' as const));
  await refused(r);
  expect((await state(r)).calls.map((m) => [m.kind, m.status])).toEqual([['cancel_subscription', 'pending']]);
  expect((await retry(r)).ok).toBe(true);
  await r.h.idle(2);
  expect([relayed(r).length, r.h.platform.ended.size]).toEqual([1, 0]);
  await r.h.take(declined(r));
  r.h.platform.trouble.length = 0;
  await r.h.idle(2);
  expect([relayed(r).length, r.h.platform.ended.size]).toEqual([1, 1]);
});

it('if Crossbill crashes after a retry went out, Crossbill requests no second charge for another amount', async () => {
  const r = rig();
  await refused(r);
  const { relay, repository } = r.h;
  const send = relay.send.bind(relay);
  relay.send = (body) => {
    repository.dieBefore = repository.transactions + 1;
    return send(body);
  };
  await after(r, 3 * DAY_MS);
  relay.send = send;
  expect([relayed(r).length, r.h.crashes]).toEqual([1, 1]);
  r.h.platform.change(INVOICE_ID, { amountDue: 900n, amountRemaining: 900n, total: 900n });
  await r.h.idle(12);
  expect(relayed(r)).toHaveLength(1);
  const s = await state(r);
  expect(s.calls.map((m) => [m.kind, m.status])).toEqual([['retry_charge', 'cancelled']]);
  expect(s.invoice?.retries).toMatchObject({ waitingSince: expect.any(String), retries: [{ withdrawn: false }] });
});

it('a capture on an expired link withdraws a waiting retry', async () => {
  const r = rig({ retrySchedule: { ...SCHEDULE, hard: [{ do: 'link' }, { do: 'charge', afterMs: DAY_MS }] } });
  await refused(r, 'stolen_card');
  const { relay } = r.h;
  const send = relay.send.bind(relay);
  let isDown = false;
  relay.send = () => {
    isDown = true;
    return Promise.resolve(failed('retry', { status: 503 }));
  };
  while (!isDown) await r.h.idle(24);
  relay.send = send;
  r.h.clock.advance(HOUR_MS);
  const [id, type] = ['evt_captured', 'payment.captured'];
  const data = { paymentLinkId: 'link_1', pspReference: 'ch_9' };
  const event = { id, type, created: r.h.clock.now().toISOString(), data };
  await r.h.take(delivery('mor_events', id, type, INVOICE_ID, event));
  await r.h.idle(1); // its read does not confirm it yet
  expect((await state(r)).calls.at(-1)).toMatchObject({ kind: 'retry_charge', status: 'cancelled' });
  r.links.pay('link_1');
  await r.h.idle(24);
  expect([relayed(r).length, (await state(r)).invoice?.status]).toEqual([0, 'paid']);
});

it('if the MoR declines a retry whose answer was lost, Crossbill does not send that retry again', async () => {
  const r = rig();
  await refused(r);
  r.h.relay.down = true;
  await after(r, 3 * DAY_MS);
  await r.h.take(declined(r));
  const tried = relayed(r).length;
  r.h.relay.down = false;
  await r.h.idle(12);
  expect(relayed(r)).toHaveLength(tried);
});

it.each([
  ['got no answer', 1, 'unknown'],
  ['was refused as well', 2, 'refused'],
] as const)(
  'if the MoR refuses the event of a retry whose earlier try %s, the number of retries sent to the MoR is %i',
  async (_, charges, first) => {
    const r = rig();
    await refused(r);
    const { relay } = r.h;
    const send = relay.send.bind(relay);
    const replies = [failed(first), failed('refused', { status: 409 })];
    relay.send = async (body) => {
      const sent = await send(body);
      return replies.shift() ?? sent;
    };
    const choose = async (resolution: 'retry' | 'dismiss'): Promise<void> => {
      const item = (await state(r)).reviews.findLast((x) => x.kind === 'effect_failed');
      expect(item?.status).toBe('open');
      await chooseItem(r.h, resolution, { kind: 'effect_failed' });
      await r.h.idle(0.1);
    };
    await after(r, 3 * DAY_MS);
    await r.h.idle(0.1);
    if (first === 'refused') await choose('retry');
    expect((await state(r)).reviews.at(-1)?.fact).toMatchObject({ heard: first === 'unknown' });
    await choose('dismiss');
    await after(r, 5 * DAY_MS);
    expect(new Set(relayed(r).map((e) => e.id)).size).toBe(charges);
  },
);

it.each(['insufficient_funds', 'stolen_card'])(
  "after an operator's newer retry, a late decline (%s) of an earlier retry leads to no charge and no payment link",
  async (declineCode) => {
    const r = rig();
    await refused(r);
    await after(r, 3 * DAY_MS);
    const madeAt = new Date(r.h.clock.now().getTime() + 60_000);
    await after(r, 25 * HOUR_MS); // nobody answers, and a person is told so
    expect((await retry(r)).ok).toBe(true);
    await after(r, HOUR_MS);
    await r.h.take(aPaymentFailed({ paymentId: 'pay_late', at: madeAt, declineCode }));
    await after(r, 9 * DAY_MS);
    expect([relayed(r).length, r.links.asked.length]).toEqual([2, 0]);
    expect((await state(r)).reviews.at(-1)).toMatchObject({ kind: 'renewal_overdue', status: 'open' });
  },
);

it('a repeated invoice.created event of a declined renewal reaches the MoR only when the schedule allows a charge', async () => {
  const r = rig();
  await r.h.take(invoiceEvent('invoice.created', { eventId: 'evt_1', createdAt: r.h.clock.now() }));
  await refused(r);
  const again = (eventId: string) => invoiceEvent('invoice.created', { eventId, at: r.h.clock.now() });
  await r.h.take(again('evt_2')); // the same one, told under a second id
  await after(r, HOUR_MS);
  expect(relayed(r).map((e) => e.id)).toEqual(['evt_1']);
  await after(r, 2 * DAY_MS);
  await r.h.take(again('evt_3')); // a retry of Stripe's, as the MoR's documents have it
  expect(relayed(r).map((e) => e.id)).toEqual(['evt_1', expect.stringMatching(/^evt_crossbill_/)]);
  await after(r, 9 * DAY_MS);
  expect(relayed(r)).toHaveLength(2); // its verdict is awaited
});

it('after a restore, a late decline from before the only known retry still counts as the verdict on that retry', async () => {
  const r = rig();
  await refused(r);
  const madeAt = new Date(r.h.clock.now().getTime() + 2 * HOUR_MS); // the MoR's answer to the retry of before the restore
  await after(r, 3 * DAY_MS);
  expect(relayed(r)).toHaveLength(1);
  await r.h.take(aPaymentFailed({ paymentId: 'pay_late', at: madeAt }));
  expect((await state(r)).invoice?.retries).toMatchObject({
    waitingSince: null,
    refusal: { at: madeAt.toISOString() },
  });
  await after(r, 9 * DAY_MS);
  expect(relayed(r)).toHaveLength(2);
});

it('if the MoR answers a retry with a redirect, Crossbill waits for a verdict and sends no other retry', async () => {
  const r = rig();
  await refused(r);
  const { relay } = r.h;
  const send = relay.send.bind(relay);
  relay.send = async (body) => {
    await send(body);
    return failed('refused', { status: 303, code: 'unexpected_redirect' });
  };
  await after(r, 3 * DAY_MS);
  const [item] = (await state(r)).reviews;
  expect(item?.fact).toMatchObject({ code: 'retry-refused' });
  await chooseItem(r.h, 'dismiss');
  await after(r, 9 * DAY_MS);
  expect(new Set(relayed(r).map((e) => e.id)).size).toBe(1);
});
