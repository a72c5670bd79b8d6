// Leaves work for visitors of the console: a dispute, a double payment, an invoice Stripe cannot finalize, a failed
// renewal, and an unreadable event. All of this can happen to a merchant, while Crossbill, Stripe and the MoR agree.
import { billsUsage } from './cast.js';
import { openReviews } from './operator.js';
import { chargeTwice } from './drive-refunds.js';
import { readSides, TAKEN } from './sides.js';
import { pass, type Story, type Subscriber } from './story.js';

const DRAFT_SEC = 61 * 60;
/** The MoR charges a card within seconds after it hears of the final invoice. */
const CHARGED_WITHIN_SEC = 60;

/** Returns when the console shows all this work. */
export async function leaveWork(story: Story): Promise<void> {
  const { world, progress, rest: remaining } = story;
  progress.step('some work is left for you');
  const [disputed, twice] = await withPaidRenewal(story);
  const others = story.subscribers.filter((who) => who !== twice?.who && !billsUsage(who));
  const [stuck, declined] = [others.at(-1), others.at(-2)];
  if (disputed !== undefined) {
    const data = { disputeId: `dp_open_${disputed.paymentId}`, pspReference: disputed.chargeId };
    await world.control.post('/_sandbox/events', { type: 'dispute.action_needed', data });
  }
  if (twice !== undefined) await chargeTwice(story, twice.who);
  if (stuck !== undefined) {
    const invoice = await renew(story, stuck);
    const message = 'The customer’s location is not known, so tax cannot be calculated.';
    await world.control.post(`/_sandbox/stripe/invoices/${invoice}/finalization-error`, { message });
  }
  if (declined !== undefined) {
    await world.control.post('/_sandbox/cards', { customer_id: declined.customerId, outcome: 'decline' });
    await renew(story, declined);
  }
  // Crossbill receives an event with a valid signature, but with the wrong object for the event's type.
  await world.control.post('/_sandbox/stripe/events', { type: 'invoice.finalized', data: { object: 'invoice' } });
  await remaining.decided();
  await pass(world, DRAFT_SEC);
  await remaining.decided();
  await pass(world, CHARGED_WITHIN_SEC);
  await remaining.decided();
  const open = (
    await Promise.all(['dispute', 'double_payment', 'finalization_failed'].map((k) => openReviews(story, k)))
  ).flat();
  const parked = (await world.api.get('/v1/events?status=parked&limit=100')).list('data');
  const some = (count: number, what: string): string[] =>
    count === 0 ? [] : [`${count} ${what}${count === 1 ? '' : 's'}`];
  const left = [
    ...some(open.length, 'review item'),
    ...some(parked.length, 'parked event'),
    ...some(declined === undefined ? 0 : 1, 'failed renewal'),
  ];
  progress.done(`left for you in the console: ${left.join(', ')}`);
}

type Paying = { readonly who: Subscriber; readonly paymentId: string; readonly chargeId: string };

/** The newest card renewal of each subscriber: paid, not wholly refunded, and without a review item. */
async function withPaidRenewal({ world, subscribers }: Story): Promise<readonly Paying[]> {
  const reviewed = new Set(
    (await readSides(world.api, world.control, world.notified)).daemon.reviews.map((r) => r.invoiceId),
  );
  const renewals = [...world.sandbox.mor.payments.values()].filter(
    (p) =>
      p.kind === 'renewal' &&
      p.method === 'card' &&
      p.status !== 'refunded' &&
      TAKEN.has(p.status) &&
      !reviewed.has(p.merchantInvoiceId),
  );
  return subscribers.flatMap((who): Paying[] => {
    const last = renewals.filter((p) => p.merchantCustomerId === who.customerId).at(-1);
    return last === undefined ? [] : [{ who, paymentId: last.id, chargeId: last.processorChargeId }];
  });
}

/** Starts a renewal now and returns its invoice. */
async function renew({ world }: Story, who: Subscriber): Promise<string> {
  const made = await world.control.post('/_sandbox/stripe/renew', { subscription: who.subscriptionId });
  return made.text('id');
}
