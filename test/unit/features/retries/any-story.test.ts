// Any story of a renewal that fails, under any schedule: what must hold in all of them, and what people are shown.
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type RetrySchedule, type RetryStep } from '../../../../src/shared/domain/retry.js';
import { invoiceView } from '../../../../src/core/invoices/invoice.view.js';
import { invoicePart } from '../../../../src/core/invoices/invoice-page.js';
import {
  aPaymentFailed,
  aPaymentSucceeded,
  aRequiredAction,
  INVOICE_ID,
  invoiceEvent,
} from '../../../support/builders/events.js';
import { openKinds } from '../../../support/rigs/lane-harness.js';
import {
  after,
  DAY_MS,
  declined,
  HOUR_MS,
  refused,
  relayed,
  retry,
  type Rig,
  rig,
  state,
} from '../../../support/rigs/retry-rig.js';

const charge = fc.integer({ min: 1, max: 96 }).map((hours): RetryStep => ({ do: 'charge', afterMs: hours * HOUR_MS }));
const steps = fc
  .tuple(fc.array(charge, { maxLength: 3 }), fc.boolean())
  .map(([charges, link]): RetryStep[] => (link ? [...charges, { do: 'link' }] : charges));
const schedules: fc.Arbitrary<RetrySchedule> = fc.record({
  soft: steps,
  hard: steps,
  authentication: steps,
  end: fc.constantFrom('nothing', 'uncollectible', 'cancel'),
});

type Act = 'soft' | 'hard' | 'authentication' | 'wait' | 'week' | 'person' | 'asked' | 'paid' | 'money' | 'gone';
const acts = fc.array(
  fc.constantFrom<Act>(
    'soft',
    'soft',
    'soft',
    'hard',
    'authentication',
    'wait',
    'wait',
    'week',
    'person',
    'asked',
    'paid',
    'money',
    'gone',
  ),
  { maxLength: 12 },
);

let count = 0;

async function act(rig: Rig, what: Act): Promise<void> {
  const { clock, platform } = rig.h;
  const over = { at: clock.now(), paymentId: `pay_any_${++count}` };
  const id = { eventId: `evt_any_${count}`, at: clock.now() };
  switch (what) {
    case 'soft':
      return rig.h.take(aPaymentFailed(over));
    case 'hard':
      return rig.h.take(aPaymentFailed({ ...over, declineCode: 'lost_card' }));
    case 'authentication':
      return rig.h.take(aRequiredAction(over));
    case 'wait':
      return after(rig, 20 * HOUR_MS);
    case 'week':
      return rig.h.idle(24 * 8);
    case 'person':
      return void (await retry(rig));
    case 'asked':
      return rig.h.take(invoiceEvent('invoice.payment_attempt_required', id));
    case 'paid':
      clock.advance(60_000); // a read is good for ten seconds: what was decided just before goes out
      if (platform.invoices.get(INVOICE_ID)?.status === 'open') platform.payAnotherWay(INVOICE_ID);
      return;
    case 'money':
      return rig.h.take(aPaymentSucceeded(over));
    case 'gone':
      platform.ended.add('sub_oak');
  }
}

it('in any order of events the MoR charges a failed renewal at most once per step of the schedule, and an open renewal has a next step, an ended schedule or a review item', async () => {
  await fc.assert(
    fc.asyncProperty(schedules, acts, async (retrySchedule, story) => {
      const r = rig({ retrySchedule });
      await refused(r);
      let paidAt: number | null = null;
      for (const what of story) {
        await act(r, what);
        const isPaid = r.h.platform.invoices.get(INVOICE_ID)?.status === 'paid';
        if (isPaid && paidAt === null) paidAt = relayed(r).length;
      }
      await r.h.idle(24 * 120);
      const s = await state(r);
      const history = s.invoice?.retries;
      const orders = relayed(r);
      // Once each, whatever else happened, and none after the invoice was paid, whether or not an event said so.
      expect(new Set(orders.map((e) => e.id)).size).toBe(orders.length);
      if (paidAt !== null) expect(orders).toHaveLength(paidAt);
      const own = (history?.retries ?? []).filter((x) => x.by === null && !x.withdrawn);
      for (const kind of ['soft', 'hard', 'authentication'] as const)
        expect(own.filter((x) => x.kind === kind).length).toBeLessThanOrEqual(retrySchedule[kind].length);
      const { mark_uncollectible: marked = 0, cancel_subscription: cancelled = 0 } = r.h.platform.effects;
      expect(marked + cancelled).toBeLessThanOrEqual(1);
      if (s.invoice?.status !== 'open') return;
      const settled = ['paid', 'uncollectible'].includes(s.invoice.platformStatus);
      const follows = s.invoice.nextTryAt !== null || history?.ended !== null || openKinds(s).length > 0;
      expect(settled || follows).toBe(true);
    }),
    { numRuns: 150 },
  );
});

it("the API and the console show a failed renewal's decline, its retries and the time of the next retry", async () => {
  const r = rig();
  await refused(r);
  await retry(r, 'backend');
  await r.h.drain();
  r.h.clock.advance(HOUR_MS);
  await r.h.take(declined(r));
  const { invoice, payments, refunds, attempts, objects, calls, reviews, journal } = await state(r);
  if (invoice === null) throw new Error('there is no invoice');
  const next = new Date(r.h.clock.now().getTime() + 5 * DAY_MS).toISOString();
  const rows = { payments, refunds, attempts, objects, calls, reviews, journal };
  const seen = { invoice, morCustomerId: null, ...rows } as Parameters<typeof invoiceView>[0];
  expect(invoiceView(seen, [])).toMatchObject({
    next_try_at: next,
    attempts: [{ outcome: 'failed' }, { outcome: 'failed' }],
    retries: {
      decline_kind: 'soft',
      decline_code: 'insufficient_funds',
      made: [{ number: 1, after: 'soft', means: 'charge', by: 'backend', amount: 1000 }],
      waiting_since: null,
      ended_at: null,
    },
  });
  const session = { name: 'ops', role: 'ops', id: 's', formToken: 't', expiresAt: r.h.clock.now() } as const;
  const page = String(
    invoicePart(seen, { session, ctx: r.h.context.now(), live: false, portal: null, names: new Map() }),
  );
  expect(page).toContain('Not paid: there is not enough money in the account');
  expect(page).toContain(`next try at ${next.slice(0, 16).replace('T', ' ')} UTC`);
  expect(page).toContain('the MoR charges again');
  expect(page).toContain('backend');
});
