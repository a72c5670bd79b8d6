// Webhook deliveries: the three retry schedules on the virtual clock, signatures, and the faults of deliveries.
import { expect, it } from '@jest/globals';
import { morEventSchedule, morPaymentSchedule, stripeSchedule } from '../../src/kernel/schedules.js';
import { VirtualClock } from '../../src/kernel/clock.js';
import { signatureFits } from '../../src/kernel/signature.js';
import { type Rig, rigForEach } from '../rig.js';

let rig: Rig;
rigForEach((started) => (rig = started));

const post = (count: number) =>
  rig.control('POST', '/mor/payment-events', { type: 'payment.failed', data: { n: count } });
const numbers = (): unknown[] => rig.events('payment.failed').map((e) => e.data.object['n']);
const lose = (body: object) => rig.control('POST', '/faults', { target: 'deliveries', type: 'payment.*', ...body });

it("the sandbox's MoR repeats a delivery until it gets 200, under the same id with a new signature", async () => {
  let tries = 0;
  rig.reply = () => ((tries += 1) < 3 ? 503 : 200);
  await post(1);
  await rig.advance(60);
  const events = rig.events('payment.failed');
  expect(events).toHaveLength(3);
  expect(new Set(events.map((e) => e.id)).size).toBe(1);
  const { paymentWebhookSecret } = rig.sandbox.secrets;
  for (const one of rig.received) {
    const header = String(one.headers['mor-signature']);
    expect(signatureFits(Buffer.from(one.body), header, paymentWebhookSecret, Math.floor(Date.now() / 1000))).toBe(
      true,
    );
  }
  const log = await rig.control('GET', '/deliveries');
  expect((log.body['data'] as { status: number; state: string }[]).map((d) => [d.status, d.state])).toEqual([
    [503, 'retry'],
    [503, 'retry'],
    [200, 'acknowledged'],
  ]);
});

it("the sandbox's MoR sends all events since a given time again at the merchant's request, byte for byte", async () => {
  await post(1);
  await rig.advance(60);
  const sinceSec = Number((await rig.control('GET', '/clock')).body['now_sec']);
  await post(2);
  await rig.advance(1);
  const again = await rig.control('POST', '/mor/payment-events/again', { since_sec: sinceSec });
  await rig.advance(1);
  expect(again.body['data']).toHaveLength(1);
  expect(numbers()).toEqual([1, 2, 2]);
  expect(rig.received.at(-1)?.body).toBe(rig.received.at(-2)?.body);
});

it("the sandbox's MoR stops delivering an event after a 4xx", async () => {
  rig.reply = () => 401;
  await post(1);
  await rig.advance(86_400);
  expect(rig.received).toHaveLength(1);
});

it("with the sandbox's option `restamp` off, the MoR repeats a delivery with the first signature and the old time", async () => {
  await lose({ action: { restamp: false } });
  let tries = 0;
  rig.reply = () => ((tries += 1) < 8 ? 503 : 200);
  await post(1);
  await rig.advance(3600);
  const header = String(rig.received.at(-1)?.headers['mor-signature']);
  const body = Buffer.from(rig.received.at(-1)?.body ?? '');
  const now = Math.floor(Date.now() / 1000);
  const { paymentWebhookSecret } = rig.sandbox.secrets;
  expect(signatureFits(body, header, paymentWebhookSecret, now)).toBe(false); // too old
  expect(signatureFits(body, header, paymentWebhookSecret, now, 7200)).toBe(true); // and yet authentic
});

it("the sandbox's fault `lose` drops a delivery, and the fault `duplicate` sends a delivery twice", async () => {
  await lose({ action: 'lose' });
  await post(1);
  await rig.advance(86_400);
  expect(numbers()).toEqual([]);
  await lose({ action: 'duplicate' });
  await post(2);
  await rig.advance(1);
  expect(numbers()).toEqual([2, 2]);
});

it("the sandbox's fault `delay_ms` delays a delivery, and the fault `reorder` sends a delivery after later deliveries", async () => {
  await lose({ action: 'delay_ms', delay_ms: 60_000 });
  await post(1);
  await rig.advance(30);
  expect(numbers()).toEqual([]);
  await rig.advance(31);
  expect(numbers()).toEqual([1]);
  await lose({ action: 'reorder', after: 2 });
  for (const n of [2, 3, 4]) {
    await post(n);
    await rig.advance(0.01); // each arrives before the next goes out
  }
  await rig.advance(1);
  expect(numbers()).toEqual([1, 3, 4, 2]);
});

it('with the fault `fail`, the sandbox leaves one attempt unanswered, and the sender repeats the delivery', async () => {
  await lose({ action: 'fail' });
  await post(1);
  await rig.advance(5);
  expect(numbers()).toEqual([]);
  await rig.advance(10);
  expect(numbers()).toEqual([1]);
});

/** The seconds of the attempts if every one gets `status`. */
function attempts(schedule: typeof stripeSchedule, status: number | null): number[] {
  const at = [0];
  for (let attempt = 1; ; attempt += 1) {
    const next = schedule.after(attempt, { status }, (at.at(-1) ?? 0) * 1000);
    if (typeof next === 'string') return at;
    at.push((at.at(-1) ?? 0) + next / 1000);
  }
}

it("the sandbox's MoR attempts a delivery eight times: immediately, after 10 seconds, then each wait is three times as long", () => {
  expect(attempts(morEventSchedule, 503)).toEqual([0, 10, 40, 130, 400, 1210, 3640, 10_930]);
  expect(attempts(morEventSchedule, null)).toHaveLength(8);
  expect(attempts(morEventSchedule, 429)).toHaveLength(8);
  expect(attempts(morEventSchedule, 410)).toEqual([0]);
  expect(morEventSchedule.after(1, { status: 204 }, 0)).toBe('done');
});

it("the sandbox's MoR repeats a payment event until the receiver answers 200 or a 4xx, as Document 3 of the MoR's API says", () => {
  expect(morPaymentSchedule.after(1, { status: 200 }, 0)).toBe('done');
  expect(morPaymentSchedule.after(1, { status: 201 }, 0)).toBe(10_000);
  expect(attempts(morPaymentSchedule, 429)).toEqual([0]);
  expect(attempts(morPaymentSchedule, null).length).toBeGreaterThan(10);
});

it("the sandbox's Stripe repeats a delivery for three days until it gets a 2xx", () => {
  for (const status of [400, 302, 503, null]) {
    const made = attempts(stripeSchedule, status);
    expect(made.at(-1)).toBeGreaterThan(48 * 3600);
    expect(made.at(-1)).toBeLessThanOrEqual(72 * 3600);
  }
});

it("the sandbox's virtual clock fires timers in due order, including timers set by other timers", async () => {
  const clock = new VirtualClock({ source: () => 1_000_000, manual: true });
  const seen: [string, number][] = [];
  const note = (name: string) => () => void seen.push([name, clock.nowMs() - 1_000_000]);
  clock.after(3000, 'c', note('c'));
  clock.after(1000, 'a', () => {
    note('a')();
    clock.after(500, 'b', note('b'));
  });
  clock.after(3000, 'd', note('d'));
  clock.after(2000, 'x', note('x')).cancel();
  await clock.advance(3000);
  expect(seen).toEqual([
    ['a', 1000],
    ['b', 1500],
    ['c', 3000],
    ['d', 3000],
  ]);
  expect(clock.nowMs()).toBe(1_003_000);
});
