// Months of renewals: Stripe bills, the MoR charges, cards decline, bank debits take days, drafts wait an hour.
import { billsUsage } from './cast.js';
import { injectFaults } from './drive-faults.js';
import { chargeTwice, giveRefunds, resolveDoublePayments } from './drive-refunds.js';
import { type Sides } from './sides.js';
import { pass, passDays, type Story, type Subscriber, virtualNow } from './story.js';

const MINUTE_SEC = 60;
const DRAFT_SEC = 61 * MINUTE_SEC; // Stripe keeps a renewal's invoice a draft for about an hour
/** A round bills all renewals due within this time: the customers signed up within a few minutes of each other. */
const ROUND_SEC = 30 * MINUTE_SEC;
const DEBIT_DAYS = 4;
const CALLS_A_MONTH = 120;
/** Each round has one fault of each kind for this many customers. */
const CUSTOMERS_PER_FAULT = 12;

type Due = { readonly who: Subscriber; readonly at: number };

/** Drives every subscription through its renewals. Returns when no work is left. */
export async function renewAll(story: Story): Promise<void> {
  const { progress } = story;
  for (let round = await nextRound(story); round.length > 0; round = await nextRound(story)) {
    const month = Math.max(...round.map((d) => d.who.renewals)) + 1;
    const monthly = round.some((d) => !d.who.trial);
    const label = `month ${month} of ${story.months}${monthly ? '' : ' (after trials)'}`;
    const before = story.subscribers.reduce((sum, s) => sum + s.renewals, 0);
    const billed = await bill(story, round, month, label);
    progress.step(`${label}: bank debits settle, cards are tried again`);
    await tryAgain(story, round, month);
    await passDays(story.world, DEBIT_DAYS);
    const sides = await story.rest.settled();
    progress.done(`${label}: ${summary(sides, billed)}`);
    if (monthly) await giveRefunds(story, month);
    else if (month === 1) await doublePayment(story, round);
    if (story.subscribers.reduce((sum, s) => sum + s.renewals, 0) === before) throw new Error('nobody was renewed');
  }
}

/** The next customers to bill, all within half an hour. Empty after everybody's last renewal. */
async function nextRound(story: Story): Promise<readonly Due[]> {
  const due: Due[] = [];
  const bySubscription = new Map(story.subscribers.map((s) => [s.subscriptionId, s]));
  for await (const subscription of story.world.stripe.subscriptions.list({ status: 'all', limit: 100 })) {
    const who = bySubscription.get(subscription.id);
    const at = subscription.items.data[0]?.current_period_end;
    if (who !== undefined && at !== undefined && who.renewals < story.months) due.push({ who, at });
  }
  const first = Math.min(...due.map((d) => d.at));
  return due.filter((d) => d.at < first + ROUND_SEC);
}

/** Advances the clock to the end of the invoices' draft hour. Returns the ids of the new invoices. */
async function bill(story: Story, round: readonly Due[], month: number, label: string): Promise<ReadonlySet<string>> {
  const { world, progress, rest: remaining } = story;
  const known = new Set((await remaining.settled()).stripe.invoices.map((i) => i.id));
  await injectFaults(world, Math.ceil(round.length / CUSTOMERS_PER_FAULT));
  for (const { who } of round) {
    const outcome = outcomesOf(who, month, story.months);
    if (outcome !== null) await world.control.post('/_sandbox/cards', { customer_id: who.customerId, outcome });
  }
  progress.step(`${label}: ${round.length} invoices are made and charged`);
  const last = Math.max(...round.map((d) => d.at));
  await pass(world, last + MINUTE_SEC - (await virtualNow(world)));
  await remaining.decided();
  await reportUsage(story, round, month);
  for (const { who } of round) who.renewals += 1;
  progress.step(`${label}: the draft hour passes`);
  await pass(world, DRAFT_SEC);
  progress.step(`${label}: payments are marked`);
  const sides = await remaining.settled();
  return new Set(sides.stripe.invoices.flatMap((i) => (i.enrolled && !known.has(i.id) ? [i.id] : [])));
}

/**
 * Adds the month's last usage to the drafts. A draft of usage alone began with 0. Stripe bills no usage of a trial, so
 * the invoice at its end stays 0.
 */
async function reportUsage({ world, tally }: Story, round: readonly Due[], month: number): Promise<void> {
  for (const { who } of round.filter((d) => billsUsage(d.who) && !(d.who.trial && d.who.renewals === 0))) {
    const quantity = CALLS_A_MONTH + month;
    await world.control.post('/_sandbox/stripe/usage', { subscription: who.subscriptionId, quantity });
    tally.grown += 1;
  }
}

/** The outcomes of a customer's next charges. Null: the saved method and the e-mail address decide. */
function outcomesOf(who: Subscriber, month: number, months: number): readonly string[] | null {
  if (recoversNow(who, month, months))
    return [who.role === 'changes-card' ? 'decline:expired_card' : 'decline', 'succeed'];
  if (who.role === 'bounces' && month === 1) return ['bank_debit_failed'];
  return null;
}

function recoversNow(who: Subscriber, month: number, months: number): boolean {
  return (who.role === 'recovers' || who.role === 'changes-card') && month === Math.min(2, months);
}

/**
 * A day later an operator requests new charges for the cards that work again, and customers with an expired card give
 * another card.
 */
async function tryAgain(story: Story, round: readonly Due[], month: number): Promise<void> {
  const again = round.map((d) => d.who).filter((who) => recoversNow(who, month, story.months));
  if (again.length === 0) return;
  await passDays(story.world, 1);
  const payments = (await story.world.control.get('/_sandbox/mor/payments?status=failed')).list('data');
  for (const who of again) {
    const failed = payments.filter((p) => p.textOrNull('merchant_customer_id') === who.customerId).at(-1);
    const invoiceId = failed?.textOrNull('merchant_invoice_id') ?? null;
    if (invoiceId === null || !(await isOpen(story, invoiceId))) continue;
    if (who.role === 'changes-card') await giveAnotherCard(story, who);
    else await story.world.api.post(`/v1/invoices/${invoiceId}/retry`, {}, `${story.run}-retry-${invoiceId}`);
  }
}

/**
 * The customer's browser confirms a setup, and the shop's backend reports it. Crossbill then requests a new charge for
 * the open renewal.
 */
async function giveAnotherCard({ world, run, tally }: Story, { customerId }: Subscriber): Promise<void> {
  const path = `/v1/customers/${customerId}/payment-method`;
  const setup = await world.api.post(path, {}, `${run}-card-${customerId}`);
  await world.control.post(`/_sandbox/intents/${setup.text('setup_intent_id')}/confirm`, {});
  await world.api.post(`${path}/confirmed`, {}, null);
  tally.otherCards++;
}

async function isOpen(story: Story, invoiceId: string): Promise<boolean> {
  return (await story.world.stripe.invoices.retrieve(invoiceId)).status === 'open';
}

/** The MoR charges one renewal twice. An operator refunds the second payment from its review item. */
async function doublePayment(story: Story, round: readonly Due[]): Promise<void> {
  const twice = round.map((d) => d.who).filter((who) => who.role === 'charged-twice');
  if (twice.length === 0) return;
  story.progress.step('a renewal is charged twice');
  for (const who of twice) await chargeTwice(story, who);
  await story.rest.settled();
  await resolveDoublePayments(story);
}

function summary(sides: Sides, billed: ReadonlySet<string>): string {
  const own = sides.stripe.invoices.filter((i) => billed.has(i.id));
  const last = (id: string): string => sides.mor.payments.filter((p) => p.invoiceId === id).at(-1)?.status ?? 'none';
  const open = own.filter((i) => i.status === 'open').map((i) => last(i.id));
  const count = (status: string): number => open.filter((s) => s === status).length;
  const parts = [
    `${own.filter((i) => i.status === 'paid').length} of ${own.length} renewals paid`,
    ...(count('failed') > 0 ? [`${count('failed')} declined`] : []),
    ...(count('requires_action') > 0 ? [`${count('requires_action')} await authentication`] : []),
    ...(count('processing') > 0 ? [`${count('processing')} debits pending`] : []),
  ];
  return parts.join(', ');
}
