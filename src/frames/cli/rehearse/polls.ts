// Waits used by several steps: for an invoice at the daemon, a test clock at Stripe, a charge at the MoR.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Json, listOf, textAt } from './json.js';
import { type Stage } from './stage.js';
import { NotArrived } from './state.js';

const HOUR = 3_600;
const MINUTE = 60;

/** Returns the id from one of Stripe's fields. Stripe sends either an id or the whole object in such a field. */
export const idOf = (of: string | { readonly id?: string } | null | undefined): string =>
  typeof of === 'string' ? of : (of?.id ?? '');

/** Waits until the daemon shows the invoice with one of these statuses. */
export function untilInvoice(stage: Stage, id: string, statuses: readonly string[], sec?: number): Promise<Json> {
  const read = async (): Promise<Json> => (await stage.daemon.get(`/v1/invoices/${id}`)).body;
  const holds = (seen: Json): boolean => statuses.includes(textAt(seen, 'status') ?? '');
  return stage.until(`invoice ${id} is ${statuses.join(' or ')} at Crossbill`, read, holds, sec);
}

/** Moves the customer's test clock to `sec` (Unix seconds). Does nothing if the clock is there already. */
export async function advanceTo(stage: Stage, sec: number): Promise<void> {
  const { testClocks } = stage.stripe.testHelpers;
  const id = stage.id('clock');
  const ready = () =>
    stage.until(
      `test clock ${id} is ready`,
      () => testClocks.retrieve(id),
      (c) => c.status === 'ready',
    );
  if ((await ready()).frozen_time >= sec) return;
  await testClocks.advance(id, { frozen_time: sec });
  await ready();
}

/**
 * Moves the subscription into its next period and returns the id of the new draft invoice. A repeat under the same
 * `name` returns the same id.
 */
export async function nextPeriod(stage: Stage, name: string): Promise<string> {
  const known = stage.rehearsal.ids[name];
  if (known !== undefined) return known;
  const { stripe } = stage;
  const read = () => stripe.subscriptions.retrieve(stage.id('subscription'));
  const { latest_invoice: latest, items } = await read();
  const before = stage.rehearsal.ids[`${name}_after`] ?? idOf(latest);
  stage.keep(`${name}_after`, before);
  const end = items.data[0]?.current_period_end ?? 0;
  if (idOf(latest) === before) await advanceTo(stage, end + 5 * MINUTE);
  const isNew = (subscription: Awaited<ReturnType<typeof read>>): boolean =>
    idOf(subscription.latest_invoice) !== before;
  const renewed = await stage.until('Stripe makes the next invoice', read, isNew);
  stage.keep(name, idOf(renewed.latest_invoice));
  return stage.id(name);
}

/** Moves the test clock two hours past the invoice's creation. Stripe finalizes a draft after about an hour. */
export async function finalize(stage: Stage, invoiceId: string): Promise<void> {
  const { stripe } = stage;
  const invoice = await stripe.invoices.retrieve(invoiceId);
  if (invoice.status !== 'draft') return;
  await advanceTo(stage, invoice.created + 2 * HOUR);
  await stage.until(
    `invoice ${invoiceId} is final`,
    () => stripe.invoices.retrieve(invoiceId),
    (i) => i.status !== 'draft',
  );
}

export const isSuccess = (attempt: Json | undefined): boolean => textAt(attempt, 'outcome') === 'succeeded';

/** Waits until the daemon shows a new verdict of the MoR on the invoice. `before`: the number of verdicts so far. */
export async function nextVerdict(stage: Stage, invoiceId: string, before: number, sec?: number): Promise<Json> {
  const seen = await stage.until(
    `the MoR's verdict on invoice ${invoiceId} arrives`,
    async () => listOf((await stage.daemon.get(`/v1/invoices/${invoiceId}`)).body['attempts']),
    (attempts) => attempts.length > before,
    sec,
  );
  return seen.at(-1) ?? {};
}

/** Waits for a renewal's verdict. Records whether the verdict came before or after Stripe finalized the invoice. */
export async function renewalVerdict(stage: Stage, invoiceId: string): Promise<Json> {
  await untilInvoice(stage, invoiceId, ['expected', 'open', 'held', 'marking', 'paid', 'review']);
  const start = performance.now();
  const observed = async (verdict: Json): Promise<Json> => {
    const { status } = await stage.stripe.invoices.retrieve(invoiceId);
    const seconds = Math.round((performance.now() - start) / 1000);
    stage.observe('draft_charge', { verdict_while: status === 'draft' ? 'draft' : 'final', after_seconds: seconds });
    return verdict;
  };
  try {
    return await observed(await nextVerdict(stage, invoiceId, 0));
  } catch (e) {
    if (!(e instanceof NotArrived)) throw e;
  }
  await finalize(stage, invoiceId);
  return observed(await nextVerdict(stage, invoiceId, 0));
}

/** The amount of a verdict in smallest units. Null: none is known. */
export const chargedIn = ({ amount }: Json): number | null => (typeof amount === 'number' ? amount : null);

const POLL_MS = 1_000;
/** How long the rehearsal still asks the MoR for the charge after the end of `work`, in milliseconds. */
const LINGER_MS = 15_000;

/**
 * Runs `work`, and asks the MoR for the charge every second until the MoR finds it, or until `LINGER_MS` after `work`.
 * Records each change of the MoR's HTTP status with the seconds since the start.
 */
export async function lookUpUntil<T>(stage: Stage, of: string, charge: string, work: () => Promise<T>): Promise<T> {
  const start = performance.now();
  const replies: string[] = [];
  const done = new AbortController();
  const looking = (async () => {
    for (let last: number | null = null; !done.signal.aborted && last !== 200;) {
      const { status } = await stage.mor.charge(charge);
      if (status !== last)
        replies.push(`${status ?? 'none'} after ${Math.round((performance.now() - start) / 1000)} s`);
      last = status;
      // an abort ends the pause
      if (last !== 200) await sleep(POLL_MS, null, { signal: done.signal }).catch(() => null);
    }
  })();
  let lingerMs = 0;
  try {
    const made = await work();
    lingerMs = LINGER_MS;
    return made;
  } finally {
    const end = setTimeout(() => done.abort(), stage.cli.io.signal.aborted ? 0 : lingerMs);
    await looking;
    clearTimeout(end);
    stage.observe('charge_lookup', { charge_of: of, answers: replies });
  }
}
