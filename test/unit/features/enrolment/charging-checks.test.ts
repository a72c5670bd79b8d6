// The walk over all subscriptions that doctor makes: pages, what is kept, what is said when Stripe does not let one look.
import { expect, it } from '@jest/globals';
import { chargingChecks } from '../../../../src/features/enrolment/charging-checks.js';
import { type BillingReader, type SubscriptionFacts } from '../../../../src/shared/domain/ports/billing-reader.js';
import { type ChargeLookup } from '../../../../src/features/enrolment/charge-lookups.repository.js';

const subscription = (count: number, over: Partial<SubscriptionFacts> = {}): SubscriptionFacts => ({
  subscriptionId: `sub_${count}`,
  customerId: `cus_${count}`,
  createdAt: null,
  status: 'active',
  collectionMethod: 'charge_automatically',
  metadata: {},
  customerMetadata: {},
  charged: { from: 'subscription', id: `pm_${count}`, type: 'custom' },
  usageBased: false,
  ...over,
});
const CARD = { charged: { from: 'customer', id: 'pm_card', type: 'card' } } as const;

function walk(
  pages: readonly (readonly SubscriptionFacts[])[],
  all: boolean,
  failsAt = Infinity,
  relay: 'created' | 'finalized' | 'retries' | null = null,
) {
  const asked: (string | null)[] = [];
  const kept: ChargeLookup[] = [];
  const progress: number[] = [];
  const reader = {
    listSubscriptions: (at: string | null) => {
      const page = asked.push(at) - 1;
      if (page >= failsAt)
        return Promise.resolve({
          ok: false,
          kind: 'stopped',
          status: 403,
          code: null,
          message: 'no right',
          errors: [],
          retryAfterMs: null,
          requestId: null,
          replayed: false,
        });
      const items = pages[page] ?? [];
      const next = page + 1 < pages.length ? (items.at(-1)?.subscriptionId ?? null) : null;
      return Promise.resolve({ ok: true, value: { items, unreadable: [], next }, status: 200, requestId: null });
    },
  } as unknown as BillingReader;
  const done = chargingChecks({
    relay,
    reader,
    enrolment: { expectsMor: (s: SubscriptionFacts) => Promise.resolve(s.customerId !== 'cus_stranger') } as never,
    lookups: { keep: (some: readonly ChargeLookup[]) => Promise.resolve(void kept.push(...some)) } as never,
    all,
    signal: new AbortController().signal,
    onProgress: (looked) => void progress.push(looked),
  });
  return done.then((found) => ({ ...found, check: found.checks[0], usage: found.checks[1], asked, kept, progress }));
}

const first = Array.from({ length: 100 }, (_, n) => subscription(n));
const second = [
  subscription(100, CARD),
  subscription(101, { ...CARD, collectionMethod: 'send_invoice' }),
  subscription(102, { ...CARD, customerId: 'cus_stranger' }),
  subscription(103, { charged: null }),
];

it('the command `crossbill doctor --all` reads every subscription and names each enrolled subscription still charged by Stripe itself', async () => {
  const { check, charged, asked, kept, progress } = await walk([first, second], true);
  expect(asked).toEqual([null, 'sub_99']);
  expect(progress).toEqual([100, 104]);
  expect(kept).toHaveLength(104);
  expect(check).toMatchObject({
    state: 'fail',
    detail: '1 of 103 enrolled subscriptions: sub_100 of cus_100 (card pm_card, customer default)',
  });
  expect(charged).toEqual([
    { subscription_id: 'sub_100', customer_id: 'cus_100', method: 'pm_card', type: 'card', from: 'customer' },
  ]);
});

it('the command `crossbill doctor` without `--all` checks only the newest 100 subscriptions, and the result says so', async () => {
  const { check, asked } = await walk([first, second], false);
  expect(asked).toEqual([null]);
  expect(check).toMatchObject({
    state: 'ok',
    detail: 'none of 100 enrolled among the newest 100 subscriptions (for all: `crossbill doctor --all`)',
  });
});

it("if Stripe refuses to list subscriptions, `crossbill doctor` names the key's missing right and the number of checked subscriptions", async () => {
  expect((await walk([first, second], true, 1)).check).toMatchObject({
    state: 'warn',
    detail: '403 no right, after 100 subscriptions',
    todo: expect.stringContaining('Let the Stripe key read subscriptions, customers and payment methods'),
  });
  expect((await walk([], true, 0)).check).toMatchObject({ state: 'warn', detail: '403 no right' });
});

it('the command `crossbill doctor` passes its check for charges by Stripe itself if the account has no subscription', async () => {
  expect((await walk([[]], true)).check).toMatchObject({ state: 'ok', detail: 'there is none' });
});

it.each([
  ['created', 'warn'],
  ['retries', 'warn'],
  [null, 'warn'],
  ['finalized', 'ok'],
] as const)(
  'doctor warns of metered prices unless the MoR gets final invoices (MOR_RELAY_EVENTS=%s)',
  async (relay, state) => {
    const metered = [subscription(1, { usageBased: true }), subscription(2)];
    expect((await walk([metered], true, Infinity, relay)).usage?.state).toBe(state);
    const stranger = [subscription(3, { usageBased: true, customerId: 'cus_stranger' })];
    expect((await walk([stranger], true, Infinity, relay)).usage?.state).toBe('ok');
  },
);
