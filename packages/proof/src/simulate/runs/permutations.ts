// Holds back the events of one invoice, then delivers them in every order. Every order must end in the same state.
import { Channels } from '../acts/channels.js';
import { People } from '../acts/people.js';
import { run, type RunResult } from './run.js';
import { noFaults } from '../machine/faults.js';
import { type SimRepository, type Snapshot } from '../machine/sim-repository.js';
import { type Story } from '../stories/scenes.js';
import { type World } from '../machine/world.js';

/** A renewal: declined, then paid, finalized in between, and a part refunded. */
const RENEWAL = [
  'invoice.created',
  'payment.failed',
  'payment.succeeded',
  'invoice.finalized',
  'payment.refunded',
] as const;

/**
 * A dispute: the invoice is paid and partly refunded, and a bank raises a dispute. The merchant first loses, then wins.
 */
const DISPUTE = [
  'payment.succeeded',
  'payment.refunded',
  'dispute.action_needed',
  'dispute.outcome lost',
  'dispute.outcome won',
] as const;

type Order = { readonly of: readonly string[]; readonly events: readonly string[] };

/** The pause between two events, in milliseconds: Crossbill finishes its work on an event before the next event. */
const APART_MS = 30_000;

type Notified = { type: string; data: { object?: Record<string, unknown>; disputeId?: string; outcome?: string } };

/** The story of one order: all changes at Stripe and the MoR happen first, then their events arrive in this order. */
function storyIn({ of, events }: Order, end: { state: string }): Story {
  const plan = async (world: World): Promise<void> => {
    const people = new People(world);
    const channels = new Channels(world, people);
    const ada = await people.subscriber('ada', 2_990, 'eur', true);
    await people.cards(ada.customerId, of === DISPUTE ? 'succeed' : ['decline', 'succeed']);
    let invoiceId = '';
    let renewed = false;
    const endpoints = new Map<string, () => void>();
    world.gate = (body) => {
      const { type, data } = JSON.parse(body.toString('utf8')) as Notified;
      const { id, merchant_invoice_id: named } = data.object ?? {};
      const about = typeof named === 'string' ? named : typeof id === 'string' ? id : '';
      if (renewed && invoiceId === '' && type === 'invoice.created') invoiceId = about;
      const name = type === 'dispute.outcome' ? `${type} ${data.outcome ?? ''}` : type;
      if ((about !== invoiceId && data.disputeId === undefined) || !events.includes(name)) return Promise.resolve();
      return new Promise((open) => endpoints.set(name, open));
    };
    const plans = world.scheduler;
    const paid = (): string => people.payments().find((p) => p.status === 'succeeded')?.id ?? '';
    // All changes happen within a minute: a held event keeps its signature, and the signature must stay valid.
    plans.plan(world.at(1), 'a renewal', async () => {
      renewed = true;
      await people.renew(ada);
    });
    if (of !== DISPUTE)
      plans.plan(world.at(1.2), 'the MoR tries again', async () => {
        await people.control('/mor/retry', { invoice_id: invoiceId });
      });
    plans.plan(world.at(1.4), 'the merchant finalizes', async () => {
      await people.stripe('POST', `/v1/invoices/${invoiceId}/finalize`);
    });
    if (of === DISPUTE)
      plans.plan(world.at(1.5), 'a dispute', () =>
        channels.dispute(paid(), { outcome: 'lost_then_won', decidedAfterMs: 3_000 }),
      );
    plans.plan(world.at(1.6), 'a part is given back in the portal', async () => {
      await people.control('/mor/refunds', { payment_id: paid(), amount: 990 });
    });
    events.forEach((name, n) => {
      plans.plan(world.at(2) + n * APART_MS, `${name} arrives`, () => {
        const open = endpoints.get(name);
        if (open === undefined) world.scheduler.broken.push(`${name} was never sent`);
        open?.();
      });
    });
    plans.plan(world.at(600), 'the end is written down', async () => {
      end.state = await stateOf(world);
    });
  };
  return { name: events.join(', '), plan };
}

/** The state to compare: money and statuses, without ids and times. */
async function stateOf(world: World): Promise<string> {
  const seen = await world.repository.snapshot(new Date(world.now));
  const sorted = (lines: readonly string[]): string => lines.toSorted().join('\n');
  return [
    sorted(seen.invoices.map((i) => `invoice ${i.status} ${i.platform_status}`)),
    sorted(seen.payments.map((p) => `payment ${p.status} ${p.amount ?? ''} ${p.mark} ${p.amount_refunded}`)),
    sorted(seen.refunds.map((r) => `refund ${r.status} ${r.amount} ${r.mirror}`)),
    sorted(balancesOf(seen.ledger)),
    sorted(seen.reviews.map((r) => `review ${r.kind} ${r.status}`)),
  ].join('\n');
}

/** Compares only balances: one order may book and reverse an entry, and another order may need neither. */
function balancesOf(entries: Snapshot['ledger']): string[] {
  const sums = new Map<string, number>();
  const add = (account: string, amount: number): void => void sums.set(account, (sums.get(account) ?? 0) + amount);
  for (const e of entries) {
    add(e.debit_account, Number(e.amount));
    add(e.credit_account, -Number(e.amount));
  }
  return [...sums].filter(([, sum]) => sum !== 0).map(([account, sum]) => `ledger ${account} ${sum}`);
}

export function permutationsOf<T>(list: readonly T[]): T[][] {
  if (list.length === 0) return [[]];
  return list.flatMap((head, at) =>
    permutationsOf([...list.slice(0, at), ...list.slice(at + 1)]).map((p) => [head, ...p]),
  );
}

export const ORDERS: readonly Order[] = [RENEWAL, DISPUTE].flatMap((of) =>
  permutationsOf<string>(of).map((events): Order => ({ of, events })),
);

/** A run, and its end state as text (`stateOf`). */
export type OrderRun = RunResult & { readonly end: string };

/** Runs the story of one order. `order`: its index in `ORDERS`. */
export async function runOrder(order: number, repository: SimRepository, keepTrace = false): Promise<OrderRun> {
  const end = { state: '' };
  const chosen = ORDERS[order] ?? { of: RENEWAL, events: RENEWAL };
  const story = storyIn(chosen, end);
  const result = await run({
    name: `order ${order}: ${story.name}`,
    // All orders share one seed, so each order has the same amounts.
    seed: 'orders',
    story,
    shuffled: false,
    faults: () => noFaults,
    keepTrace,
    repository,
  });
  return { ...result, end: end.state };
}

/** Returns a line for each order with another end state than the first order of the same events. */
export function differences(runs: readonly OrderRun[]): readonly string[] {
  // Ignores closed review items: one order may open and close an item, and another may need none.
  const plain = (orderRun: OrderRun): string => orderRun.end.replace(/review \S+ resolved\n?/g, '').trim();
  return runs.flatMap((r) => {
    const first = runs.find((x) => sameEvents(x) === sameEvents(r)) ?? r;
    if (plain(r) === plain(first)) return [];
    return [`${r.name} ends otherwise than ${first.name}:\n${r.end}\ninstead of\n${first.end}`];
  });
}

/** Returns the events of a run, sorted: the story's name lists them in their order. */
function sameEvents({ story }: OrderRun): string {
  return story.split(', ').sort().join(', ');
}

/** Tries every n-th order. Returns the errors, one a line. */
export async function brokenOrders(repository: SimRepository, every: number): Promise<readonly string[]> {
  const runs: OrderRun[] = [];
  for (let order = 0; order < ORDERS.length; order += every) runs.push(await runOrder(order, repository));
  return [...runs.flatMap((r) => r.broken.map((b) => `${r.name}: ${b}`)), ...differences(runs)];
}
