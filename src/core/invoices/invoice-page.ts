// The page of one invoice: the amount due, payments, refunds, open items, and its timeline.
import { ignoredBecause, invoiceListView } from './invoice.view.js';
import { type CallRow } from '../../shared/domain/call-row.js';
import { type ReviewRow } from '../../shared/domain/review-row.js';
import { type MorObjectRow, verdictBy } from '../../shared/domain/mor-object.js';
import { type Retry } from '../../shared/domain/retry.js';
import { nextTryOf } from './retry.view.js';
import { byDeadline, invoiceActs, type Viewer, payableLink } from './invoice-acts.js';
import { invoiceSentence, lastRead } from './invoice-sentence.js';
import { type InvoiceView } from '../../engine/read-model.js';
import { besides, copyable, fold, headline } from '../../frames/console/acts.js';
import { html, type Html } from '../../frames/console/html.js';
import { type Column, table } from '../../frames/console/list.js';
import { timeline } from './timeline.js';
import { disputeIdLink, isDispute } from '../mor-objects/dispute-link.view.js';
import {
  billingReason,
  amount,
  customerLink,
  facts,
  foreign,
  id,
  reference,
  section,
  status,
  time,
  words,
} from '../../frames/console/show.js';
import { sentencesOf } from '../reviews/rules/words.js';
import { proofFacts } from '../payments/proof-facts.view.js';
import { columnsOf, type Names } from '../../frames/console/fields.js';
import { type OpenDifference } from '../../shared/domain/ports/differences.js';
import { paymentFields } from '../payments/payment.fields.js';
import { refundFields } from '../refunds/refund.fields.js';

export function invoicePart(view: InvoiceView, looker: Viewer): Html {
  const { invoice: i, payments, refunds, attempts, objects, calls, reviews, journal } = view;
  const { now } = looker.ctx;
  const shown = invoiceListView({ ...i, morCustomerId: view.morCustomerId, payments, refunds });
  const open = byDeadline(reviews);
  const retries = i.retries?.retries ?? [];
  const link = payableLink(view, now);
  const settled = reviews.filter((r) => r.status !== 'open');
  const parts = html`${open.length > 0 && section('Waiting for a person', reviewList(open))}
  ${payments.length > 0 && section('Payments', table('What the MoR took or tried to take', columnsOf(paymentFields, undefined, ['invoice_number', 'customer_id']), shown.payments, ''))}
  ${
    refunds.length > 0 &&
    section(
      'Refunds',
      table(
        'Refunds of this invoice',
        columnsOf(refundFields, undefined, ['invoice_number', 'customer_id']),
        shown.refunds,
        '',
      ),
    )
  }
  ${attempts.some((a) => a.outcome !== 'succeeded') && section('Verdicts', table('Every verdict of the MoR', attemptColumns, attempts, ''))}
  ${retries.length > 0 && section('Retries', table('Charges and links after a refusal', retryColumns(i.currency), retries, ''))}
  ${objects.length > 0 && section('At the MoR', table('Links, documents and disputes', objectColumns, objects, ''))}
  ${settled.length > 0 && fold('settled', 'Settled review items', settled.length, reviewList(settled))}
  ${calls.length > 0 && fold('calls', 'Calls', calls.length, table('Stored first, then sent with the same key and bytes on every try', callColumns, calls, ''))}
  ${fold('details', 'Details and ids', null, invoiceFacts(view))}`;
  return html`${headline(
    amount(i.amountDue, i.currency),
    invoiceState(i),
    invoiceSentence(view, now, (r) => sentencesOf(r).summary),
    about(view, looker.names),
  )}
  ${invoiceActs(view, looker)} ${link !== undefined && linkToPay(link)}
  ${besides(parts, section('Timeline', timeline(journal)))}`;
}

/** The unsettled differences of the newest verify run: they come before what Crossbill believes. Null: there are none. */
export function differencesPart(differences: readonly OpenDifference[]): Html | null {
  const [first] = differences;
  if (first === undefined) return null;
  const item = (difference: OpenDifference): Html =>
    html`<a href="/console/verify/${encodeURIComponent(difference.id)}"><bdi>${difference.detail}</bdi></a
      >${difference.reviewId !== null && html` (<a href="/console/reviews/${encodeURIComponent(difference.reviewId)}">review item</a>)`}`;
  return html`<div class="message bad">
    <p>
      <strong class="status bad"
        >${differences.length === 1 ? 'Verify found a difference' : `Verify found ${differences.length} differences`}</strong
      >
      at ${time(first.foundAt)}:
    </p>
    <ul>
      ${differences.map((d) => html`<li>${item(d)}</li>`)}
    </ul>
  </div>`;
}

function invoiceState(invoice: InvoiceView['invoice']): Html {
  const ignored = ignoredBecause(invoice);
  const partly =
    invoice.amountPaid !== null &&
    invoice.amountPaid > 0n &&
    invoice.amountRemaining !== null &&
    invoice.amountRemaining > 0n;
  return html`${status(invoice.status, 'Invoice')}${ignored !== null && html` <span class="dim">${words(ignored)}</span>`}
  ${partly && html`<span class="dim">${amount(invoice.amountRemaining, invoice.currency)} remains</span>`}`;
}

/** The reason for the invoice, and its customer. The ids are further down the page. */
function about({ invoice: i }: InvoiceView, names: Names): Html {
  return html`Customer ${customerLink(i.customerId, names.get(i.customerId ?? ''))}
  ${i.billingReason !== null && html`· ${billingReason(i.billingReason)}`} · made
  ${time(i.platformCreatedAt, 'at an unknown time')} · Stripe shows it ${words(i.platformStatus)}${readWords(i)}`;
}

/** `lastRead` in words, after the status on Stripe. */
function readWords(invoice: InvoiceView['invoice']): Html | null {
  const read = lastRead(invoice);
  return read === null ? null : html`, last ${read.how} ${time(read.at)}`;
}

function linkToPay(link: MorObjectRow): Html {
  return html`<p class="pay-link">
    Payment link for the customer${link.deadline !== null && html`, good until ${time(link.deadline)}`}:
    ${link.url === null ? 'the MoR sent no address' : copyable(link.url)}
  </p>`;
}

function invoiceFacts(view: InvoiceView): Html {
  const { invoice: i, payments, objects } = view;
  const tried = nextTryOf(i);
  return facts([
    ['Invoice', id(i.invoiceId)],
    i.number === null ? null : ['Number', foreign(i.number)],
    ['Status on Stripe', status(i.platformStatus)],
    ['Due', amount(i.amountDue, i.currency)],
    ['Paid on Stripe', amount(i.amountPaid, i.currency)],
    ['Remaining on Stripe', amount(i.amountRemaining, i.currency)],
    ['Customer', id(i.customerId)],
    ['Customer at the MoR', id(view.morCustomerId)],
    ['Reason', billingReason(i.billingReason)],
    i.subscriptionId === null ? null : ['Subscription', id(i.subscriptionId)],
    i.latestRevision === null ? null : ['Replaced by', id(i.latestRevision)],
    ['Made on Stripe', time(i.platformCreatedAt, 'unknown')],
    ['First seen', time(i.firstSeenAt)],
    i.expectedBy === null || i.status !== 'expected' ? null : ['Verdict expected by', time(verdictBy(i, objects))],
    tried === null ? null : ['Next try', foreign(tried)],
    ...payments.flatMap(proofFacts),
    i.holdUntil === null || i.status !== 'held' ? null : ['Next look at the draft', time(i.holdUntil)],
    i.finalizationError === null ? null : ['Finalization failed', foreign(i.finalizationError)],
  ]);
}

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
  { label: 'Refusal', cell: (r) => words(r.kind) },
  { label: 'Amount', cell: (r) => amount(BigInt(r.minor), currency), number: true },
  { label: 'Asked by', cell: (r) => foreign(r.by ?? (r.method === null ? 'the schedule' : 'another payment method')) },
  { label: 'State', cell: (r) => (r.withdrawn ? 'withdrawn' : 'done') },
  { label: 'At', cell: (r) => time(new Date(r.at)) },
];

const objectColumns: readonly Column<InvoiceView['objects'][number]>[] = [
  { label: 'What', cell: (o) => words(o.kind) },
  { label: 'Status', cell: (o) => status(o.status) },
  { label: 'Id', cell: (o) => (isDispute(o) ? disputeIdLink(o) : id(o.morId)) },
  { label: 'Amount', cell: (o) => amount(o.amount, o.currency), number: true },
  { label: 'Until', cell: (o) => time(o.deadline, 'no end') },
  { label: 'Details', cell: (o) => foreign(saidOf(o)) },
  { label: 'Changed', cell: (o) => time(o.updatedAt) },
];

/** The MoR's reason, outcome and address for one of its objects (link, document, dispute), as plain text. */
function saidOf(object: InvoiceView['objects'][number]): string | null {
  const { failure, refusal, outcome, reviewerNote, automatic } = object.detail;
  const said = [
    automatic === true ? 'made automatically' : null,
    failure?.message ?? failure?.code,
    refusal?.message,
    outcome,
    reviewerNote,
    object.url,
  ].filter((x) => x !== null && x !== undefined && x !== '');
  return said.length === 0 ? null : said.join(' · ');
}

const callColumns: readonly Column<CallRow>[] = [
  { label: 'Call', cell: (m) => html`${words(m.kind)} <span class="dim">at ${m.peer}</span>` },
  { label: 'Status', cell: (m) => status(m.status) },
  { label: 'Tries', cell: (m) => m.attempts, number: true },
  {
    label: 'Last answer',
    cell: (m) =>
      html`${m.lastStatus ?? 'none'} ${m.lastCode && html`<code>${m.lastCode}</code>`}
      ${m.lastMessage && foreign(m.lastMessage)}`,
  },
  { label: 'Request id', cell: (m) => id(m.lastRequestId) },
  { label: 'Decided', cell: (m) => time(m.createdAt) },
];

function reviewList(reviews: readonly ReviewRow[]): Html {
  return table(
    'Review items of this invoice',
    [
      {
        label: 'What happened',
        cell: (r) =>
          html`<a href="/console/reviews/${encodeURIComponent(r.id)}"><bdi>${sentencesOf(r).summary}</bdi></a>`,
      },
      { label: 'Kind', cell: (r) => words(r.kind) },
      { label: 'Due', cell: (r) => time(r.dueAt, 'no deadline') },
      { label: 'Status', cell: (r) => status(r.status) },
    ],
    reviews,
    '',
  );
}
