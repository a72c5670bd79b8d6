// One invoice: what is due, what was paid and given back, what people must do, and the story in order.
import { ignoredBecause } from './invoice.view.js';
import { paymentName } from './payment.view.js';
import { type JournalLine, type OutboxRow, type ReviewRow } from '../domain/model.js';
import { type Retry } from '../domain/retry.js';
import { nextTryOf } from '../retries/retry.view.js';
import { verdictBy } from './rules/overdue.js';
import { type InvoiceView } from '../domain/ports/books.js';
import { html, type Html } from '../console/html.js';
import { type Column, table } from '../console/list.js';
import {
  amount,
  customerLink,
  facts,
  foreign,
  id,
  paymentLink,
  reference,
  reviewLink,
  section,
  status,
  time,
  words,
} from '../console/show.js';
import { proofFacts } from './proof-facts.js';
import { refundColumns } from '../refunds/refund-columns.view.js';

export function invoicePart(v: InvoiceView): Html {
  const { invoice: i, payments, refunds, attempts, objects, messages, reviews, journal } = v;
  const names = new Map(payments.map((p) => [p.id, paymentName(p)]));
  const ignored = ignoredBecause(i);
  const open = reviews.filter((r) => r.status === 'open');
  const tried = nextTryOf(i);
  const retries = i.retries?.retries ?? [];
  return html`${facts([
    ['Status', html`${status(i.status)}${ignored !== null && html` ${words(ignored)}`}`],
    ['On Stripe', status(i.platformStatus)],
    ['Due', amount(i.amountDue, i.currency)],
    ['Paid on Stripe', amount(i.amountPaid, i.currency)],
    ['Remaining on Stripe', amount(i.amountRemaining, i.currency)],
    ['Invoice', id(i.invoiceId)],
    i.number === null ? null : ['Number', foreign(i.number)],
    ['Customer', customerLink(i.customerId)],
    ['Customer at the MoR', id(v.morCustomerId)],
    ['Reason', foreign(i.billingReason === null ? null : words(i.billingReason))],
    i.subscriptionId === null ? null : ['Subscription', id(i.subscriptionId)],
    ['Made on Stripe', time(i.platformCreatedAt, 'unknown')],
    i.expectedBy === null || i.status !== 'expected' ? null : ['Verdict expected by', time(verdictBy(i, objects))],
    tried === null ? null : ['Next try', foreign(tried)],
    ...payments.flatMap(proofFacts),
    i.holdUntil === null || i.status !== 'held' ? null : ['Held; looked at again', time(i.holdUntil)],
    i.finalizationError === null ? null : ['Finalization failed', foreign(i.finalizationError)],
  ])}
  ${open.length > 0 && section('Waiting for a person', reviewList(open))}
  ${section('Payments', table('What the MoR took or tried to take', paymentColumns, payments, 'No payment yet.'))}
  ${refunds.length > 0 && section('Refunds', table('What was given back', refundColumns(names), refunds, ''))}
  ${attempts.length > 0 && section('Verdicts', table('Every verdict of the MoR', attemptColumns, attempts, ''))}
  ${retries.length > 0 && section('Retries', table('What was done to collect it after it failed', retryColumns(i.currency), retries, ''))}
  ${objects.length > 0 && section('At the MoR', table('What the MoR keeps beside this invoice', objectColumns, objects, ''))}
  ${section('Timeline', timeline(journal))}
  ${messages.length > 0 && section('Calls', table('Decided first, then sent with the same key and bytes on every try', callColumns, messages, ''))}
  ${reviews.length > open.length && section('Settled review items', reviewList(reviews.filter((r) => r.status !== 'open')))}`;
}

const paymentColumns: readonly Column<InvoiceView['payments'][number]>[] = [
  { label: 'Payment', cell: (p) => paymentLink(paymentName(p)) },
  { label: 'Status', cell: (p) => status(p.status) },
  { label: 'Amount', cell: (p) => amount(p.amount, p.currency), number: true },
  { label: 'Refunded', cell: (p) => amount(p.amountRefunded, p.currency), number: true },
  { label: 'Mark', cell: (p) => status(p.mark) },
  { label: 'Taken', cell: (p) => time(p.succeededAt) },
];

const attemptColumns: readonly Column<InvoiceView['attempts'][number]>[] = [
  { label: 'Verdict', cell: (a) => status(a.outcome) },
  { label: 'Amount', cell: (a) => amount(a.amount, a.currency), number: true },
  {
    label: 'Why',
    cell: (a) => html`${foreign(a.failureMessage)} ${a.declineCode && html`<code>${a.declineCode}</code>`}`,
  },
  { label: 'Event', cell: (a) => reference(a.eventId) },
  { label: 'At', cell: (a) => time(a.at) },
];

const retryColumns = (currency: string | null): readonly Column<Retry>[] => [
  { label: 'Retry', cell: (r) => r.number, number: true },
  { label: 'How', cell: (r) => (r.means === 'charge' ? 'the MoR charges again' : 'payment link') },
  { label: 'After', cell: (r) => words(r.kind) },
  { label: 'Amount', cell: (r) => amount(BigInt(r.minor), currency), number: true },
  { label: 'Asked by', cell: (r) => foreign(r.by ?? 'the schedule') },
  { label: 'State', cell: (r) => (r.withdrawn ? 'taken back' : 'done') },
  { label: 'At', cell: (r) => time(new Date(r.at)) },
];

const objectColumns: readonly Column<InvoiceView['objects'][number]>[] = [
  { label: 'What', cell: (o) => words(o.kind) },
  { label: 'Status', cell: (o) => status(o.status) },
  { label: 'Id', cell: (o) => id(o.morId) },
  { label: 'Amount', cell: (o) => amount(o.amount, o.currency), number: true },
  { label: 'Until', cell: (o) => time(o.deadline, 'no end') },
  { label: 'Details', cell: (o) => foreign(saidOf(o)) },
  { label: 'Changed', cell: (o) => time(o.updatedAt) },
];

/** Why it failed, how it ended, where it is: as the MoR said, to be read and not followed. */
function saidOf(o: InvoiceView['objects'][number]): string | null {
  const { failure, refusal, outcome, reviewerNote, automatic } = o.detail;
  const said = [
    automatic === true ? 'made by itself' : null,
    failure?.message ?? failure?.code,
    refusal?.message,
    outcome,
    reviewerNote,
    o.url,
  ].filter((x) => x !== null && x !== undefined && x !== '');
  return said.length === 0 ? null : said.join(' · ');
}

const callColumns: readonly Column<OutboxRow>[] = [
  { label: 'Call', cell: (m) => html`${words(m.kind)} <span class="dim">at ${m.peer}</span>` },
  { label: 'Status', cell: (m) => status(m.status) },
  { label: 'Tries', cell: (m) => m.attempts, number: true },
  {
    label: 'Last answer',
    cell: (m) =>
      html`${m.lastStatus ?? 'none'} ${m.lastCode && html`<code>${m.lastCode}</code>`}
      ${m.lastMessage && foreign(m.lastMessage)}`,
  },
  { label: 'Request', cell: (m) => id(m.lastRequestId) },
  { label: 'Decided', cell: (m) => time(m.createdAt) },
];

function reviewList(reviews: readonly ReviewRow[]): Html {
  return table(
    'What happened and what is proposed',
    [
      { label: 'Item', cell: (r) => reviewLink(r.id) },
      { label: 'Kind', cell: (r) => words(r.kind) },
      { label: 'What happened', cell: (r) => foreign(r.summary) },
      { label: 'Status', cell: (r) => status(r.status) },
    ],
    reviews,
    '',
  );
}

function timeline(journal: readonly JournalLine[]): Html {
  if (journal.length === 0) return html`<p class="empty">Nothing has happened yet.</p>`;
  return html`<ol class="timeline">
    ${journal.map(
      (line) =>
        html`<li class="${line.kind}">
          <span class="meta">${time(line.at)} · ${line.kind}</span>
          <span class="said"
            >${foreign(line.text)}
            <span class="meta"
              >${line.ref !== null && reference(line.ref)} ${line.detail !== null && details(line.detail)}</span
            ></span
          >
        </li>`,
    )}
  </ol>`;
}

function details(detail: NonNullable<JournalLine['detail']>): Html {
  const shown = Object.entries(detail).filter(([, value]) => value !== null);
  return html`${shown.map(([name, value], i) => html`${i > 0 && ' · '}${words(name)} <bdi>${String(value)}</bdi>`)}`;
}
