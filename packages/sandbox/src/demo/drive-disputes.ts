// Two customers dispute a payment with their bank. The merchant wins one dispute and loses the other, and the ledger
// shows the loss.
import { openReviews, resolve } from './operator.js';
import { type MorPayment, readSides } from './sides.js';
import { type Story } from './story.js';

const OUTCOMES = ['won', 'lost'] as const;

/** Returns when both disputes have an outcome and an operator has acknowledged the loss. */
export async function driveDisputes(story: Story): Promise<void> {
  const { world, progress, rest: remaining, tally } = story;
  progress.step('disputes');
  const { mor } = await readSides(world.api, world.control, world.notified);
  const cards = mor.payments.filter((p) => p.kind === 'renewal' && p.method === 'card' && p.status === 'succeeded');
  const disputed = cards.slice(0, OUTCOMES.length);
  for (const p of disputed) await tell(story, 'dispute.action_needed', p, {});
  await remaining.settled();
  for (const [i, p] of disputed.entries()) {
    const outcome = OUTCOMES[i] ?? 'won';
    await tell(story, 'dispute.outcome', p, { outcome });
    if (outcome === 'lost') world.notified.lost.push({ paymentId: p.id, amount: p.amount, currency: p.currency });
  }
  await remaining.settled();
  for (const p of disputed) {
    const [dispute] = (await world.api.get(`/v1/invoices/${p.invoiceId ?? ''}`)).list('disputes');
    const status = dispute?.text('status');
    if (status === 'won') tally.disputesWon += 1;
    else if (status === 'lost') tally.disputesLost += 1;
    else throw new Error(`the dispute of ${p.id} is ${status ?? 'unknown'} at the daemon`);
  }
  for (const item of await openReviews(story, 'dispute'))
    await resolve(story, item, 'dismiss', 'told the bookkeeper; the loss is booked');
  await remaining.settled();
  progress.done(`${disputed.length} disputes: ${tally.disputesWon} won, ${tally.disputesLost} lost and booked`);
}

async function tell(story: Story, type: string, payment: MorPayment, more: object): Promise<void> {
  const data = { disputeId: `dp_${payment.id}`, pspReference: payment.chargeId, ...more };
  await story.world.control.post('/_sandbox/events', { type, data });
}
