// What the books cannot answer and the MoR can: one list for each question, with ids and times, and no personal data.
import { type ReviewKind, type ReviewRow } from '../../domain/model.js';
import { type InvoiceView } from '../../engine/read-model.js';
import { type PageRequest } from '../../domain/page.js';
import { Clock } from '../../domain/ports/clock.js';
import { SignupsStore } from '../../signups/signups.store.js';
import { refundStatuses } from '../../refunds/refund.view.js';
import { observationsOf } from '../../engine/open-money.js';
import { VERIFY_LOOK_BACK_MS } from '../../policy.js';
import { LossWindowFlow } from '../../verify/loss-window.flow.js';
import { amount, time } from '../table.js';
import { type World } from '../world.js';
import { type EventRow, EventsStore } from '../../events/events.store.js';
import { ReviewsStore } from '../../reviews/reviews.store.js';
import { RefundsStore } from '../../refunds/refunds.store.js';
import { PaymentsStore } from '../../payments/payments.store.js';
import { ReadModel } from '../../engine/read-model.js';

export const TOPICS = [
  'lost_events',
  'missing_verdicts',
  'unproven_charges',
  'unknown_refunds',
  'unnamed_payments',
  'ambiguous_money',
] as const;
export type Topic = (typeof TOPICS)[number];

/** One line of a question: what is known, by name. Null: not known. */
export type Known = Readonly<Record<string, string | null>>;

export type Question = {
  readonly topic: Topic;
  readonly items: readonly Known[];
  /** There are older ones as well. */
  readonly more: boolean;
};

/** Nobody answers a longer letter. */
const MOST = 100;
const PAGE: PageRequest = { limit: MOST, cursor: null };

type Found = { readonly items: readonly Known[]; readonly more: boolean };

/** Only questions that have something to ask, in the order of `TOPICS`. */
export async function openQuestions(world: World): Promise<readonly Question[]> {
  const found: Readonly<Record<Topic, Found>> = {
    lost_events: await lostEvents(world),
    missing_verdicts: await ofReviews(world, ['renewal_overdue'], missingVerdict),
    unproven_charges: await ofReviews(world, ['signup_unproven', 'signup_overdue'], (r, i) => unproven(world, r, i)),
    unknown_refunds: await unknownRefunds(world),
    unnamed_payments: await unnamedPayments(world),
    ambiguous_money: await ofReviews(world, ['conflicting_event', 'double_payment'], ambiguous),
  };
  return TOPICS.map((topic) => ({ topic, ...found[topic] })).filter(({ items }) => items.length > 0);
}

async function lostEvents(world: World): Promise<Found> {
  const since = new Date(world.get(Clock).now().getTime() - VERIFY_LOOK_BACK_MS); // an older loss shows as what it left open
  const windows = await world.get(LossWindowFlow).windows(since);
  const aside = await world.get(EventsStore).list({ status: 'quarantined' }, PAGE);
  const stale: EventRow[] = [];
  for (const e of aside.data) {
    // A second body under a known id is ambiguous, not lost: the event itself is in the inbox.
    const known = await world.get(EventsStore).list({ source: e.source, eventId: e.eventId }, PAGE);
    if (e.source !== 'stripe' && known.data.every((k) => k.status === 'quarantined')) stale.push(e);
  }
  const span = windows.map(({ events }) => ({
    event: null,
    type: 'all',
    from: time(events.from),
    to: time(events.to),
  }));
  const single = stale.map((e) => ({
    event: e.eventId,
    type: e.type,
    from: time(e.receivedAt),
    to: time(e.receivedAt),
  }));
  return { items: [...span, ...single], more: aside.nextCursor !== null };
}

/** The open items of these kinds, each with what `read` makes of it and of its invoice. */
async function ofReviews(
  world: World,
  kinds: readonly ReviewKind[],
  read: (review: ReviewRow, invoice: InvoiceView | null) => Known[] | Promise<Known[]>,
): Promise<Found> {
  const items: Known[] = [];
  let more = false;
  for (const kind of kinds) {
    const page = await world.get(ReviewsStore).list({ status: 'open', kind }, PAGE);
    more ||= page.nextCursor !== null;
    for (const r of page.data) {
      items.push(...(await read(r, r.invoiceId === null ? null : await world.get(ReadModel).invoice(r.invoiceId))));
    }
  }
  return { items, more };
}

function missingVerdict(review: ReviewRow, view: InvoiceView | null): Known[] {
  if (view === null) return [{ invoice: review.invoiceId, customer: null, amount: null, made: null, tries: null }];
  const { invoice, attempts } = view;
  return [
    {
      invoice: invoice.invoiceId,
      customer: invoice.customerId,
      amount: amount(invoice.amountRemaining, invoice.currency),
      made: time(invoice.platformCreatedAt ?? invoice.firstSeenAt),
      tries: attempts.map((a) => a.paymentId).join(' ') || null,
    },
  ];
}

async function unproven(world: World, review: ReviewRow, view: InvoiceView | null): Promise<Known[]> {
  const payment = view?.payments.find((p) => p.id === review.paymentRowId);
  if (payment !== undefined) {
    return [
      {
        charge: payment.processorChargeId,
        payment_intent: payment.processorPaymentIntentId,
        customer: payment.customerId,
        amount: amount(payment.amount, payment.currency),
        since: time(payment.recordedAt),
      },
    ];
  }
  const signup = await world.get(SignupsStore).find(review.subject);
  if (signup === null) return [];
  const { intentId, customerId, createdAt } = signup;
  const sum = amount(signup.amount, signup.currency);
  return [{ charge: null, payment_intent: intentId, customer: customerId, amount: sum, since: time(createdAt) }];
}

async function unknownRefunds(world: World): Promise<Found> {
  const page = await world.get(RefundsStore).list({ statuses: refundStatuses('unknown') }, PAGE);
  const items: Known[] = [];
  for (const { refund, payment } of page.data) {
    const messages = (await world.get(ReadModel).invoice(refund.invoiceId))?.messages ?? [];
    const call = messages.findLast((m) => m.kind === 'create_refund' && m.subject === refund.id);
    items.push({
      payment: payment.paymentId ?? payment.processorChargeId,
      refund: refund.morRefundId,
      amount: amount(refund.amount, refund.currency),
      requested: time(refund.createdAt),
      idempotency_key: call?.key ?? null,
    });
  }
  const seen = new Set(page.data.map(({ refund }) => refund.id));
  const stuck = await ofReviews(world, ['refund_stuck', 'refund_gap'], (r, view) => {
    if (r.refundId !== null && seen.has(r.refundId)) return [];
    const refund = view?.refunds.find((x) => x.id === r.refundId);
    const payment = view?.payments.find((p) => p.id === (refund?.paymentRowId ?? r.paymentRowId));
    return [
      {
        payment: payment?.paymentId ?? payment?.processorChargeId ?? null,
        refund: refund?.morRefundId ?? refund?.processorRefundId ?? null,
        amount: refund === undefined ? null : amount(refund.amount, refund.currency),
        requested: time(refund?.createdAt ?? r.createdAt),
        idempotency_key: null,
      },
    ];
  });
  return { items: [...items, ...stuck.items], more: page.nextCursor !== null || stuck.more };
}

async function unnamedPayments(world: World): Promise<Found> {
  const page = await world.get(PaymentsStore).list({ unnamed: true }, PAGE);
  const items = page.data.map(({ payment: p }) => ({
    charge: p.processorChargeId,
    link_or_proforma: p.origin === 'payment_link' || p.origin === 'proforma' ? p.reference : null,
    invoice: p.invoiceId,
    amount: amount(p.amount, p.currency),
    taken: time(p.succeededAt),
  }));
  return { items, more: page.nextCursor !== null };
}

/** Everything that speaks of money for the invoice, one line each; a read without a name tells the MoR nothing. */
function ambiguous(review: ReviewRow, view: InvoiceView | null): Known[] {
  const seen = view === null ? [] : observationsOf(view);
  return seen
    .filter(({ source, id, charge, payment }) => source === 'books' || (id ?? charge ?? payment ?? null) !== null)
    .map(({ source, id, charge, payment, money, at }) => ({
      invoice: review.invoiceId,
      payment: payment ?? null,
      charge: charge ?? null,
      event: source === 'books' ? null : id,
      amount: money === null ? null : amount(money.minor, money.currency),
      taken: at === null ? null : time(new Date(at)),
    }));
}
