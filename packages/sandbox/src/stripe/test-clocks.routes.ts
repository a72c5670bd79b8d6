// Test clocks (Stripe docs, "Test clocks"): up to three customers live in a separate time. This time stands still
// until a request advances it.
import { VirtualClock } from '../kernel/clock.js';
import { type JsonObject } from '../kernel/json.js';
import { type StripeContext } from './context.js';
import { cannot, invalidParam, missing } from './errors.js';
import { page } from './lists.js';
import { type TestClock } from './model.js';

const DAY = 86_400;
const DELETED_AFTER = 30 * DAY;
const YEAR = 366 * DAY;
const INTERVAL_SEC = { day: DAY, week: 7 * DAY, month: 31 * DAY, year: YEAR };

export function addTestClockRoutes(ctx: StripeContext): void {
  const { state } = ctx;
  const find = (id: string): TestClock => state.testClocks.get(id) ?? missing('test_helpers.test_clock', id);

  ctx.route('POST', '/v1/test_helpers/test_clocks', (params) => {
    const startMs = params.integer('frozen_time') * 1000;
    const clock: TestClock = {
      id: state.id('clock'),
      created: state.now,
      name: params.optionalText('name'),
      timers: new VirtualClock({ source: () => startMs, manual: true }),
      status: 'ready',
    };
    clock.timers.settle = () => state.kernel.deliverer.settle();
    state.testClocks.set(clock.id, clock);
    state.emit('test_helpers.test_clock.created', render(clock));
    return render(clock);
  });
  ctx.route('GET', '/v1/test_helpers/test_clocks', (params) =>
    page([...state.testClocks.values()], params, '/v1/test_helpers/test_clocks', render),
  );
  ctx.route('GET', '/v1/test_helpers/test_clocks/:id', (_params, id) => render(find(id)));

  ctx.route('POST', '/v1/test_helpers/test_clocks/:id/advance', (params, id) => {
    const clock = find(id);
    const to = params.integer('frozen_time');
    if (clock.status === 'advancing') cannot('test_clock_advancing', 'The test clock is advancing.');
    const now = clock.timers.nowSec();
    if (to <= now) invalidParam('frozen_time', 'The time must be after the current frozen time of the test clock.');
    if (to > now + furthest(ctx, clock))
      invalidParam('frozen_time', 'The time is more than two intervals of the shortest subscription ahead.');
    clock.status = 'advancing';
    state.emit('test_helpers.test_clock.advancing', render(clock));
    void clock.timers.advance((to - now) * 1000).then(() => {
      clock.status = 'ready';
      state.emit('test_helpers.test_clock.ready', render(clock));
    });
    return render(clock);
  });

  ctx.route('DELETE', '/v1/test_helpers/test_clocks/:id', (_params, id) => {
    const clock = find(id);
    for (const customer of state.customers.values()) {
      if (customer.testClock !== id || customer.deleted) continue;
      for (const s of state.subscriptions.values()) if (s.customer === customer.id) ctx.cycles.cancel(s);
      customer.deleted = true;
    }
    clock.timers.close();
    state.testClocks.delete(id);
    return { id, object: 'test_helpers.test_clock', deleted: true };
  });
}

/** The most seconds of an advance: two intervals of the shortest subscription, or two years without a subscription. */
function furthest({ state }: StripeContext, clock: TestClock): number {
  const spans = [...state.subscriptions.values()]
    .filter((s) => s.status !== 'canceled' && state.customers.get(s.customer)?.testClock === clock.id)
    .map((s) => state.prices.get(s.items[0]?.price ?? '')?.recurring)
    .map((r) => (r === null || r === undefined ? YEAR : INTERVAL_SEC[r.interval] * r.count));
  return 2 * Math.min(YEAR, ...spans);
}

function render(testClock: TestClock): JsonObject {
  const now = testClock.timers.nowSec();
  return {
    id: testClock.id,
    object: 'test_helpers.test_clock',
    created: testClock.created,
    deletes_after: testClock.created + DELETED_AFTER,
    frozen_time: now,
    livemode: false,
    name: testClock.name,
    status: testClock.status,
    status_details: testClock.status === 'advancing' ? { advancing: { target_frozen_time: now } } : {},
  };
}
