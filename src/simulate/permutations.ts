// Order of arrival: the events of one invoice, held back and let through in every order, must end in the same state.
import { People } from './people.js';
import { run, type RunResult } from './run.js';
import { noFaults } from './faults.js';
import { type SimStore } from './sim-store.js';
import { type Story } from './scenes.js';
import { type World } from './world.js';

const HELD = [
  'invoice.created',
  'payment.failed',
  'payment.succeeded',
  'invoice.finalized',
  'payment.refunded',
] as const;
type Held = (typeof HELD)[number];

/** Between two events everything comes to rest, so that each order is told apart from all others. */
const APART_MS = 30_000;

/** Declined, then paid, finalized in between, and a part given back, before the first of the five events is delivered. */
function storyIn(order: readonly Held[], end: { state: string }): Story {
  const plan = async (world: World): Promise<void> => {
    const people = new People(world);
    const ada = await people.subscriber('ada', 2_990, 'eur', true);
    await people.cards(ada.customerId, ['decline', 'succeed']);
    let invoiceId = '';
    let renewed = false;
    const doors = new Map<string, () => void>();
    world.gate = (body) => {
      const event = JSON.parse(body.toString('utf8')) as { type: string; data: { object: Record<string, unknown> } };
      const { id, merchant_invoice_id: named } = event.data.object;
      const about = typeof named === 'string' ? named : typeof id === 'string' ? id : '';
      if (renewed && invoiceId === '' && event.type === 'invoice.created') invoiceId = about;
      if (about !== invoiceId || !order.some((t) => t === event.type)) return Promise.resolve();
      return new Promise((open) => doors.set(event.type, open));
    };
    const plans = world.scheduler;
    // All within the tolerance of a signature, which is not renewed for what is held back.
    plans.plan(world.at(1), 'a renewal', async () => {
      renewed = true;
      await people.renew(ada);
    });
    plans.plan(world.at(1.2), 'the MoR tries again', async () => {
      await people.control('/mor/retry', { invoice_id: invoiceId });
    });
    plans.plan(world.at(1.4), 'the merchant finalizes', async () => {
      await people.stripe('POST', `/v1/invoices/${invoiceId}/finalize`);
    });
    plans.plan(world.at(1.6), 'a part is given back in the portal', async () => {
      const paid = people.payments().find((p) => p.status === 'succeeded');
      await people.control('/mor/refunds', { payment_id: paid?.id ?? '', amount: 990 });
    });
    order.forEach((type, n) => {
      plans.plan(world.at(2) + n * APART_MS, `${type} arrives`, () => {
        const open = doors.get(type);
        if (open === undefined) world.scheduler.broken.push(`${type} was never sent`);
        open?.();
      });
    });
    plans.plan(world.at(600), 'the end is written down', async () => {
      end.state = await stateOf(world);
    });
  };
  return { name: order.join(', '), plan };
}

/** What counts as the same: money and statuses, whatever the names and times. */
async function stateOf(world: World): Promise<string> {
  const seen = await world.store.snapshot(new Date(world.now));
  const sorted = (lines: readonly string[]): string => lines.toSorted().join('\n');
  return [
    sorted(seen.invoices.map((i) => `invoice ${i.status} ${i.platform_status}`)),
    sorted(seen.payments.map((p) => `payment ${p.status} ${p.amount ?? ''} ${p.mark} ${p.amount_refunded}`)),
    sorted(seen.refunds.map((r) => `refund ${r.status} ${r.amount} ${r.mirror}`)),
    sorted(seen.ledger.map((e) => `${e.reason} ${e.debit_account} ${e.credit_account} ${e.amount}`)),
    sorted(seen.reviews.map((r) => `review ${r.kind} ${r.status}`)),
  ].join('\n');
}

export function permutationsOf<T>(list: readonly T[]): T[][] {
  if (list.length === 0) return [[]];
  return list.flatMap((head, at) =>
    permutationsOf([...list.slice(0, at), ...list.slice(at + 1)]).map((p) => [head, ...p]),
  );
}

export const ORDERS: readonly (readonly Held[])[] = permutationsOf(HELD);

/** A run with the money and statuses at its end, as text. */
export type OrderRun = RunResult & { readonly end: string };

/** `order`: its number in `ORDERS`. */
export async function runOrder(order: number, store: SimStore, keepTrace = false): Promise<OrderRun> {
  const end = { state: '' };
  const story = storyIn(ORDERS[order] ?? HELD, end);
  const result = await run({
    name: `order ${order}: ${story.name}`,
    // One seed for all orders: the same money moves on both sides.
    seed: 'orders',
    story,
    shuffled: false,
    faults: () => noFaults,
    keepTrace,
    store,
  });
  return { ...result, end: end.state };
}

/** The orders that do not end like the first. */
export function differences(runs: readonly OrderRun[]): readonly string[] {
  const [first] = runs;
  if (first === undefined) return [];
  // A review that closed itself is history; what is open, and the money, must be the same.
  const plain = (r: OrderRun): string => r.end.replace(/review \S+ resolved\n?/g, '').trim();
  return runs
    .filter((r) => plain(r) !== plain(first))
    .map((r) => `${r.name} ends otherwise than ${first.name}:\n${r.end}\ninstead of\n${first.end}`);
}

/** Every n-th order. Gives what is wrong, one line each. */
export async function brokenOrders(store: SimStore, every: number): Promise<readonly string[]> {
  const runs: OrderRun[] = [];
  for (let order = 0; order < ORDERS.length; order += every) runs.push(await runOrder(order, store));
  return [...runs.flatMap((r) => r.broken.map((b) => `${r.name}: ${b}`)), ...differences(runs)];
}
