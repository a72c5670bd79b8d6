// Refunds: by operators through the daemon, in the MoR's portal, and to customers charged twice.
import { fetchDocument } from './documents.js';
import { loseRefundReply } from './drive-faults.js';
import { openReviews, resolve } from './operator.js';
import { type MorPayment, readSides } from './sides.js';
import { passDays, type Story, type Subscriber } from './story.js';

const DEBIT_REFUND_DAYS = 4;
/** For this many customers a month has one full refund, one partial refund, one in the portal, one of a bank debit. */
const CUSTOMERS_PER_REFUND = 12;

/** Makes this month's refunds and waits until each shows on Stripe. Refunds of bank debits take some days. */
export async function giveRefunds(story: Story, month: number): Promise<void> {
  const { world, progress, rest: remaining } = story;
  progress.step(`month ${month} of ${story.months}: refunds`);
  const { mor } = await readSides(world.api, world.control, world.notified);
  const fresh = mor.payments.filter((p) => p.status === 'succeeded' && p.kind === 'renewal');
  const cards = fresh.filter((p) => p.method === 'card');
  const debits = fresh.filter((p) => p.method === 'bank_debit');
  const rounds = Math.ceil(story.subscribers.length / CUSTOMERS_PER_REFUND);
  let made = 0;
  for (let i = 0; i < rounds; i++) {
    const [full, part, portal, debit] = [cards.shift(), cards.shift(), cards.shift(), debits.shift()];
    if (full !== undefined) {
      await refund(story, full, null, 'requested_by_customer');
      made += 1;
    }
    if (part !== undefined) {
      const amount = Math.floor(part.amount / 3);
      // Lose the reply to the month's second refund. At the first refund the daemon's token has expired, so the MoR
      // would answer 401 and refund nothing.
      if (i === 0) await loseRefundReply(world);
      await refund(story, part, amount, 'a week of the month was not used');
      await refund(story, part, amount, 'a week of the month was not used'); // a second click makes no second refund
      made += 1;
    }
    if (portal !== undefined) {
      await world.control.post('/_sandbox/mor/refunds', {
        payment_id: portal.id,
        amount: Math.floor(portal.amount / 2),
      });
      made += 1;
    }
    if (debit !== undefined) {
      await refund(story, debit, null, 'duplicate');
      made += 1;
    }
  }
  if (made === 0) return;
  await remaining.settled();
  await passDays(world, DEBIT_REFUND_DAYS);
  await remaining.settled();
  progress.done(`month ${month} of ${story.months}: ${made} refunds given and shown on Stripe`);
}

/** Fetches the MoR's files of one payment and of one refund. */
export async function fetchPaymentFiles(story: Story): Promise<void> {
  const { mor } = await readSides(story.world.api, story.world.control, story.world.notified);
  const payment = mor.payments.find((p) => p.kind === 'renewal' && p.status === 'succeeded');
  const refunded = mor.refunds.find((r) => r.status === 'succeeded');
  if (payment !== undefined) await fetchDocument(story, `/v1/payments/${payment.id}/document`);
  if (refunded !== undefined) await fetchDocument(story, `/v1/refunds/${refunded.id}/document`);
}

/** @param amount null: the whole payment */
async function refund(story: Story, payment: MorPayment, amount: number | null, reason: string): Promise<void> {
  const body = { reason, ...(amount === null ? {} : { amount }) };
  await story.world.api.post(`/v1/payments/${payment.id}/refunds`, body, `${story.run}-refund-${payment.id}`);
}

/** The MoR charges this customer's renewal a second time by mistake, and reports the charge. */
export async function chargeTwice(story: Story, who: Subscriber): Promise<void> {
  const { cards, kernel, mor } = story.world.sandbox;
  const first = [...mor.payments.values()].find(
    (p) => p.merchantCustomerId === who.customerId && p.kind === 'renewal' && p.status === 'succeeded',
  );
  if (first === undefined) return;
  const second = cards.charges.signupPayment(
    {
      kind: 'renewal',
      merchantInvoiceId: first.merchantInvoiceId,
      merchantCustomerId: first.merchantCustomerId,
      morCustomerId: first.morCustomerId,
      amount: first.amount,
      currency: first.currency,
      method: 'card',
      paidWith: first.paidWith,
      intentId: kernel.random.id('pi'),
      taxCalculationId: null,
    },
    'succeed',
  );
  cards.events.verdict(second);
}

/** An operator refunds the second payments from their review items, as each item proposes. */
export async function resolveDoublePayments(story: Story): Promise<void> {
  const open = await openReviews(story, 'double_payment');
  for (const review of open) await resolve(story, review, 'refund', 'charged twice by mistake; told the customer');
  await story.rest.settled();
  story.progress.done(`${open.length} double payment${open.length === 1 ? '' : 's'} found, reviewed and given back`);
}
