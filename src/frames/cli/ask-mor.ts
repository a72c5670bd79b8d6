// `crossbill ask-mor`: collects all open questions for the MoR's support in one text. The text has ids and times, and
// no personal data. The support does not know Crossbill, so the text uses the MoR's own terms: events, charges,
// payments.
import { type ReviewKind } from '../../shared/domain/fact.js';
import { type ReviewRow } from '../../shared/domain/review-row.js';
import { type PageRequest } from '../../shared/domain/page.js';
import { Clock } from '../../shared/domain/ports/clock.js';
import { observationsOf } from '../../core/books/rules/open-money.js';
import { type InvoiceView, ReadModel } from '../../engine/read-model.js';
import { type EventRow } from '../../core/events/event-list.repository.js';
import { EventsRepository } from '../../core/events/events.repository.js';
import { PaymentsRepository } from '../../core/payments/payments.repository.js';
import { TAX_CALCULATION_LIFE_MS, VERIFY_LOOKBACK_MS } from '../../shared/policy.js';
import { refundStatuses } from '../../core/refunds/refund.view.js';
import { RefundsRepository } from '../../core/refunds/refunds.repository.js';
import { ReviewsRepository } from '../../core/reviews/reviews.repository.js';
import { SignupsRepository } from '../../core/signups/signups.repository.js';
import { LostEvents, NO_EVENT_LOST } from '../../shared/domain/ports/differences.js';
import { type Commands } from './commands.js';
import { amount, table, time } from './table.js';
import { type AppContext } from './app-context.js';

/** One row of a question's table: values by name. Null means unknown. */
type Known = Readonly<Record<string, string | null>>;
/** The rows of a question. `more`: true if Crossbill has further rows beyond `items`. */
type Found = { readonly items: readonly Known[]; readonly more: boolean };
type Topic = { readonly head: string; readonly question: string; readonly find: (app: AppContext) => Promise<Found> };

/** The most rows of one list under a question. The MoR's support would not answer a longer text. */
const MOST = 100;
const PAGE: PageRequest = { limit: MOST, cursor: null };

const TOPICS: Readonly<Record<string, Topic>> = {
  lost_events: {
    head: 'Events we may have missed',
    question:
      'Please send these events again, signed with the current time. A line without an event id means all events from this time.',
    find: lostEvents,
  },
  missing_verdicts: {
    head: 'Invoices without a result',
    question:
      'We expected you to charge these invoices, and no payment.* event has arrived. Did you receive invoice.created? Did you charge the customer? If so, please send the payment.* event again.',
    find: (app) => ofReviews(app, ['renewal_overdue'], missingVerdict),
  },
  unproven_charges: {
    head: 'Charges we cannot confirm',
    question:
      'GET /api/payments/invoice?psp_reference=… has not confirmed these charges. Did each succeed, for this amount? For a line without a charge: was the payment intent confirmed, and by which charge?',
    find: (app) => ofReviews(app, ['signup_unproven', 'signup_overdue'], (r, i) => unproven(app, r, i)),
  },
  unknown_refunds: {
    head: 'Refunds without a result',
    question:
      'Did each of these refunds take place? Please name its refund id, its id at the processor, its amount and its status. A line without an amount: please list all refunds of the payment.',
    find: unknownRefunds,
  },
  unnamed_payments: {
    head: 'Payments without a payment id',
    question: 'You took these payments. What is your payment id (pay_…) for each? We need the ids to refund.',
    find: unnamedPayments,
  },
  other_amounts: {
    head: 'Charges of another amount',
    question:
      'You took another amount than amount_due of these invoices. Did you add tax? Which tax does a charge for a renewal bear? We expect exactly amount_due.',
    find: (app) => ofReviews(app, ['amount_mismatch'], otherAmount),
  },
  expired_calculations: {
    head: 'Trials whose tax calculation has expired',
    question:
      'We bound these tax calculations to setup intents. They were valid for 7 days, and the first charge comes later. Which tax does the first charge bear? Do you calculate it again?',
    find: expiredCalculations,
  },
  ambiguous_money: {
    head: 'Money announced more than once',
    question:
      'Do the lines of one invoice show one payment, or several? Please name payment id and charge of each line.',
    find: (app) => ofReviews(app, ['conflicting_event', 'double_payment'], ambiguous),
  },
};

export function addAskMor(on: Commands): void {
  on.add('ask-mor', on.about).action(
    on.run(async (cli) => {
      const app = await cli.open();
      const at = app.get(Clock).now().toISOString();
      const clientId = app.config.morClientId;
      const questions: (Found & { readonly topic: string })[] = [];
      for (const [topic, { find }] of Object.entries(TOPICS)) {
        const found = await find(app);
        if (found.items.length > 0) questions.push({ topic, ...found });
      }
      await cli.print({ client_id: clientId, at, questions }, () => {
        if (questions.length === 0) return 'Crossbill has no open question for the MoR.\n';
        const head = `Open questions about our account, client id ${clientId}, ${at.slice(0, 10)}\n\nHello,\n\nplease answer the questions below. All times are UTC. We name invoices and customers by their ids on our billing platform.\n`;
        return `${head}${questions.map((q, i) => renderQuestion(i + 1, q)).join('')}\nThank you.\n`;
      });
    }),
  );
}

/** Writes one question with its table. Leaves out a column without any value. */
function renderQuestion(count: number, { topic, items, more }: Found & { readonly topic: string }): string {
  const names = Object.keys(items[0] ?? {}).filter((name) => items.some((item) => (item[name] ?? null) !== null));
  const heads = names.map((name) => name.replaceAll('_', ' '));
  const rows = items.map((item) => names.map((name) => item[name] ?? '-'));
  const remaining = more ? 'There are more. We send the rest after your answer.\n' : '';
  return `\n${count}. ${TOPICS[topic]?.head ?? ''}\n\n${TOPICS[topic]?.question ?? ''}\n\n${table(heads, rows)}${remaining}`;
}

async function lostEvents(app: AppContext): Promise<Found> {
  // Looks back as far as `crossbill verify` does. A lost event from before that time shows in open work, such as a
  // review item.
  const since = new Date(app.get(Clock).now().getTime() - VERIFY_LOOKBACK_MS);
  const windows = await app.find(LostEvents, NO_EVENT_LOST).windows(since);
  const aside = await app.get(EventsRepository).list({ status: 'quarantined' }, PAGE);
  const stale: EventRow[] = [];
  for (const e of aside.data) {
    // Crossbill may have accepted another delivery of the same event: the event is then not lost.
    const known = await app.get(EventsRepository).list({ source: e.source, eventId: e.eventId }, PAGE);
    if (e.source !== 'stripe' && known.data.every((k) => k.status === 'quarantined')) stale.push(e);
  }
  const line = (event: string | null, type: string, from: Date, to: Date): Known => ({
    ...{ event, type, from: time(from), to: time(to) },
  });
  const spans = windows.map(({ events }) => line(null, 'all', events.from, events.to));
  const single = stale.map((e) => line(e.eventId, e.type, e.receivedAt, e.receivedAt));
  return { items: [...spans, ...single], more: aside.nextCursor !== null };
}

/** Reads the open review items of these kinds, each with its invoice. */
async function ofReviews(
  app: AppContext,
  kinds: readonly ReviewKind[],
  read: (review: ReviewRow, invoice: InvoiceView | null) => Known[] | Promise<Known[]>,
): Promise<Found> {
  const items: Known[] = [];
  let more = false;
  for (const kind of kinds) {
    const page = await app.get(ReviewsRepository).list({ status: 'open', kind }, PAGE);
    more ||= page.nextCursor !== null;
    for (const r of page.data) {
      items.push(...(await read(r, r.invoiceId === null ? null : await app.get(ReadModel).invoice(r.invoiceId))));
    }
  }
  return { items, more };
}

function missingVerdict({ invoiceId }: ReviewRow, view: InvoiceView | null): Known[] {
  if (view === null) return [{ invoice: invoiceId, customer: null, amount: null, made: null, tries: null }];
  const { invoice, attempts } = view;
  const due = amount(invoice.amountRemaining, invoice.currency);
  const made = time(invoice.platformCreatedAt ?? invoice.firstSeenAt);
  const tries = attempts.map((a) => a.paymentId).join(' ') || null;
  return [{ invoice: invoice.invoiceId, customer: invoice.customerId, amount: due, made, tries }];
}

async function unproven(app: AppContext, review: ReviewRow, view: InvoiceView | null): Promise<Known[]> {
  const p = view?.payments.find((x) => x.id === review.paymentRowId);
  const signup = p === undefined ? await app.get(SignupsRepository).find(review.subject) : null;
  const one = p ?? signup;
  if (one === null) return [];
  return [
    {
      charge: p?.processorChargeId ?? null,
      payment_intent: p?.processorPaymentIntentId ?? signup?.intentId ?? null,
      customer: one.customerId,
      amount: amount(one.amount, one.currency),
      since: time(p?.recordedAt ?? signup?.createdAt ?? null),
    },
  ];
}

async function unknownRefunds(app: AppContext): Promise<Found> {
  const page = await app.get(RefundsRepository).list({ statuses: refundStatuses('unknown') }, PAGE);
  const items: Known[] = [];
  for (const { refund, payment } of page.data) {
    const calls = (await app.get(ReadModel).invoice(refund.invoiceId))?.calls ?? [];
    const call = calls.findLast((m) => m.kind === 'create_refund' && m.subject === refund.id);
    items.push({
      payment: payment.paymentId ?? payment.processorChargeId,
      refund: refund.morRefundId,
      amount: amount(refund.amount, refund.currency),
      requested: time(refund.createdAt),
      idempotency_key: call?.key ?? null,
    });
  }
  const seen = new Set(page.data.map(({ refund }) => refund.id));
  const stuck = await ofReviews(app, ['refund_stuck', 'refund_gap'], (r, view) => {
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

async function unnamedPayments(app: AppContext): Promise<Found> {
  const page = await app.get(PaymentsRepository).list({ unnamed: true }, PAGE);
  const items = page.data.map(({ payment: p }) => ({
    charge: p.processorChargeId,
    link_or_proforma: p.origin === 'payment_link' || p.origin === 'proforma' ? p.reference : null,
    invoice: p.invoiceId,
    amount: amount(p.amount, p.currency),
    taken: time(p.succeededAt),
  }));
  return { items, more: page.nextCursor !== null };
}

/** A charge for an invoice whose amount the MoR did not take. The amounts of a signup are the backend's matter. */
function otherAmount({ invoiceId, paymentRowId, fact }: ReviewRow, view: InvoiceView | null): Known[] {
  if (fact.code !== 'amount-differs' && fact.code !== 'amount-grew') return [];
  const payment = view?.payments.find((p) => p.id === paymentRowId);
  const { taken, due } = fact;
  return [
    {
      invoice: invoiceId,
      payment: payment?.paymentId ?? null,
      charge: payment?.processorChargeId ?? null,
      taken: amount(taken.minor, taken.currency),
      amount_due: amount(due.minor, due.currency),
    },
  ];
}

async function expiredCalculations(app: AppContext): Promise<Found> {
  const now = app.get(Clock).now().getTime();
  const [from, to] = [new Date(now - VERIFY_LOOKBACK_MS), new Date(now - TAX_CALCULATION_LIFE_MS)];
  const found = await app.get(SignupsRepository).uncharged(from, to, MOST + 1);
  const items = found.slice(0, MOST).map((s) => ({
    setup_intent: s.intentId,
    tax_calculation: s.taxCalculationId,
    customer: s.customerId,
    made: time(s.createdAt),
  }));
  return { items, more: found.length > MOST };
}

/**
 * Lists every known report of money for the invoice, one line each. Leaves out a report without any id: the MoR could
 * not look it up.
 */
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
