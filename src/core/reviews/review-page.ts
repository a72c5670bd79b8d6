// The page of a review item: what happened, what is at stake, the proposal, and a button for each choice.
import { NOTE_MAX } from '../../frames/api/http/rules.js';
import { type Resolution, type ReviewRow } from '../../shared/domain/review-row.js';
import { sayMoney } from '../../shared/domain/money.js';
import { type InvoiceView } from '../../engine/read-model.js';
import { lostOf, type MorObjectRow } from '../../shared/domain/mor-object.js';
import { undecidedDisputes } from '../../shared/domain/dispute-sum.js';
import { paymentName } from '../../shared/domain/payment-name.js';
import { refundable } from '../../shared/domain/status.js';
import { asksAbout, disputeIdLink, disputeLink, disputeWarning } from '../mor-objects/dispute-link.view.js';
import { surplusToRefund } from '../payments/rules/surplus.js';
import { html, type Html } from '../../frames/console/html.js';
import { formToken } from '../../frames/console/layout.js';
import { type Session } from '../../frames/console/session.js';
import { areaField, type Typed } from '../../frames/console/typed.js';
import { type Names } from '../../frames/console/fields.js';
import {
  customerLink,
  facts,
  foreign,
  id,
  invoiceNumberLink,
  moneyLink,
  paymentLink,
  refundLink,
  status,
  time,
  words,
} from '../../frames/console/show.js';
import { actLink, fold } from '../../frames/console/acts.js';
import { whatHappened } from './review-heading.view.js';
import { isDoneElsewhere, isNoteNeeded, proposalOf, proposedOf, resolutionsOf } from './rules/choices.js';
import { impactOf } from './rules/impact.js';

/** A review item with everything on its page. */
export type Case = {
  readonly review: ReviewRow;
  /** The public id of the item's payment. Null: the item has none. */
  readonly payment: string | null;
  /** True if Crossbill knows the payment's id at the MoR. */
  readonly named: boolean;
  /** The item's invoice. Null: the item belongs to no invoice. */
  readonly invoice: InvoiceView | null;
  readonly names: Names;
  /** MOR_PORTAL_URL. */
  readonly portal: string | null;
};

/** The item's place among the open items, by deadline, from 1. `at` null: Crossbill did not count the item. */
export type Place = {
  readonly at: number | null;
  readonly open: number;
  /** True if there are more open items than Crossbill counted. */
  readonly more: boolean;
  readonly previous: string | null;
  readonly next: string | null;
  /** The id of the first open item apart from this one. */
  readonly first: string | null;
};

const path = (review: string): string => `/console/reviews/${encodeURIComponent(review)}`;

/** The amount for the choice `refund`, in minor units. Null: the item has no payment with a known invoice. */
export function givesBack({ review: r, invoice }: Case): { readonly minor: bigint; readonly currency: string } | null {
  const p = invoice?.payments.find((x) => x.id === r.paymentRowId);
  if (p === undefined || invoice === null) return null;
  const state = { ...invoice, lane: p.invoiceId, entries: [] };
  const minor = surplusToRefund(state, r) ?? refundable(p, invoice.refunds, lostOf(p.id, invoice.objects));
  return { minor, currency: p.currency };
}

/** `isOpen`: an open item without a place comes after the items counted here. */
export function whereItIs({ at, open, more, previous, next }: Place, isOpen: boolean): Html {
  const count = `${open}${more ? '+' : ''}`;
  return html`<p class="where">
    <span
      >${at !== null ? html`${at} of ${count} open` : isOpen ? html`Not among the first ${open} open` : html`Settled; ${count} open`}</span
    >
    ${previous !== null && html`<a href="${path(previous)}" data-key="k">Previous</a>`}
    ${next !== null && html`<a href="${path(next)}" data-key="j">Next</a>`}
    <a href="/console/reviews">All open items</a>
    ${
      isOpen &&
      html`<span data-keys hidden
        ><kbd>j</kbd> next <kbd>k</kbd> previous <kbd>e</kbd> proposed choice (if nobody can undo it, press
        <kbd>Enter</kbd> too)</span
      >`
    }
  </p>`;
}

export function caseOf(example: Case): Html {
  const { review: r, payment, named } = example;
  const isOpen = r.status === 'open';
  const customer = example.invoice?.invoice.customerId ?? null;
  const paid = example.invoice?.payments.find((p) => p.id === r.paymentRowId);
  return html`<div class="case">
      <h2>What happened</h2>
      <p><bdi>${whatHappened(r)}</bdi></p>
      ${
        isOpen &&
        html`<h2>What is at stake</h2>
          <p>${renderImpact(example)}</p>
          <h2>What is proposed</h2>
          <p><bdi>${proposalOf(r, named)}</bdi></p>`
      }
    </div>
    ${facts([
      ['Status', status(r.status)],
      r.dueAt === null ? null : ['Decide by', time(r.dueAt)],
      r.invoiceId === null ? null : ['Invoice', invoiceNumberLink(r.invoiceId, example.invoice?.invoice.number)],
      customer === null ? null : ['Customer', customerLink(customer, example.names.get(customer))],
      payment === null
        ? null
        : [
            'Payment',
            paid === undefined ? paymentLink(payment) : moneyLink('payments', payment, paid.amount, paid.currency),
          ],
      r.refundId === null ? null : ['Refund', refundLink(r.refundId)],
      ...disputesOf(example).map((o): [string, Html] => [o.kind === 'alert' ? 'Alert' : 'Dispute', disputeIdLink(o)]),
      ['Since', time(r.createdAt)],
      r.resolvedAt === null ? null : ['Settled', time(r.resolvedAt)],
      r.resolvedBy === null ? null : ['Settled by', foreign(r.resolvedBy)],
      r.resolution === null ? null : ['Choice', words(r.resolution)],
      r.note === null ? null : ['Note', foreign(r.note)],
    ])}`;
}

export function caseIds({ review: r, named }: Case): Html {
  const proposed = proposedOf(r, named);
  const shown = facts([
    ['Item', id(r.id)],
    ['Kind', html`<code>${r.kind}</code>`],
    ['Fact', html`<code>${r.topic}</code>`],
    ['Actions', resolutionsOf(r, named).map(words).join(', ')],
    proposed === null ? null : ['Proposed', words(proposed)],
    r.invoiceId === null ? null : ['Invoice', id(r.invoiceId)],
  ]);
  return fold('details', 'Details and ids', null, shown);
}

function renderImpact(example: Case): Html {
  const { review: r, invoice } = example;
  const p = invoice?.payments.find((x) => x.id === r.paymentRowId);
  const due = invoice?.invoice;
  const money =
    p !== undefined && p.amount !== null
      ? sayMoney({ minor: p.amount, currency: p.currency })
      : due !== undefined && due.amountDue !== null && due.currency !== null
        ? sayMoney({ minor: due.amountDue, currency: due.currency })
        : null;
  return html`${money !== null && html`<strong>${money}.</strong> `}${impactOf(r)}`;
}

/** The text on the button of a choice. */
function labelOf(example: Case, resolution: Resolution): string {
  const { review: r, named } = example;
  switch (resolution) {
    case 'refund': {
      const back = givesBack(example);
      return back === null ? 'Refund' : `Refund ${sayMoney(back)}`;
    }
    case 'apply':
      if (r.kind === 'refund_stuck') return 'The refund failed: free the amount';
      return r.kind === 'partial_transfer' ? 'Apply it as a part payment' : 'Apply it to this invoice';
    case 'retry':
      if (r.kind === 'effect_failed' || r.kind === 'refund_stuck') return 'Send it again';
      if (asksForCharge(r)) return 'Ask the MoR to charge it now';
      return r.kind === 'renewal_overdue' ? 'Wait again' : 'Look again';
    case 'credit':
      return 'Credit the loss on Stripe';
    case 'dismiss':
      return isDoneElsewhere(r, named) ? 'Done: close it' : 'Dismiss';
  }
}

const MEANING: Readonly<Record<Resolution, string>> = {
  apply: 'Crossbill accepts this money for this invoice.',
  refund: 'The MoR refunds the money to the customer. Stripe shows the refund only if it shows the payment.',
  retry: 'Crossbill checks the facts again and acts on them. It does nothing twice.',
  credit: 'Stripe will show the loss as a credit note. The customer gets no money. You cannot undo this.',
  dismiss: 'Crossbill closes the item and does nothing more about it.',
};

function meaningOf(item: ReviewRow, resolution: Resolution): string {
  if (item.kind === 'refund_stuck' && resolution === 'apply')
    return 'Choose this only if the MoR told you about the failure. Name your source in the note. You can then refund the amount again. If the refund did not fail, the next one pays a second time.';
  if (resolution === 'retry' && asksForCharge(item))
    return 'Choose this only if the MoR has not charged the customer: it charges the amount due now.';
  return MEANING[resolution];
}

/** True if `retry` asks the MoR for a charge. */
function asksForCharge({ fact }: ReviewRow): boolean {
  return fact.code === 'no-verdict' && fact.charges;
}

/** True for a choice nobody can undo. A key press alone does not trigger the button of this choice. */
function isCareful(item: ReviewRow, resolution: Resolution): boolean {
  return (
    resolution === 'refund' ||
    resolution === 'apply' ||
    resolution === 'credit' ||
    (resolution === 'retry' && (item.kind === 'refund_stuck' || asksForCharge(item)))
  );
}

/** Draws one form: a note for any choice, and a button for each choice, the proposed one first. */
export function decideForm(session: Session, example: Case, next: string | null, typed: Typed): Html {
  const { review: r, named } = example;
  const paid = example.invoice?.payments.find((p) => p.id === r.paymentRowId);
  const disputes =
    paid === undefined || example.invoice === null ? [] : undecidedDisputes(paid, example.invoice.objects);
  const offered = resolutionsOf(r, named);
  // Next to an undecided dispute a refund needs its own confirmation, with the warning (core/refunds/refund-page.ts).
  const isDisputed = disputes.length > 0 && offered.includes('refund');
  const may = isDisputed ? offered.filter((x) => x !== 'refund') : offered;
  const first = proposedOf(r, named);
  const proposed = first === 'refund' && isDisputed ? null : first;
  const order = proposed === null ? may : [proposed, ...may.filter((x) => x !== proposed)];
  const back = may.includes('refund') ? givesBack(example) : null;
  const needed = may.find((x) => isNoteNeeded(r, x));
  const button = (resolution: Resolution): Html => {
    const careful = isCareful(r, resolution);
    const tone = resolution !== proposed ? 'quiet' : careful ? 'danger' : '';
    return html`<button
      name="resolution"
      value="${resolution}"
      class="${tone}"
      aria-describedby="means-${resolution}"
      ${resolution === proposed && html`data-key="e"`}
      ${careful && html`data-careful="yes"`}
      ${needed !== undefined && resolution !== needed && html`formnovalidate`}
    >
      ${labelOf(example, resolution)}
    </button>`;
  };
  return html`<form class="card decide aside" action="${path(r.id)}/resolve" method="post">
    ${formToken(session)} ${next !== null && html`<input type="hidden" name="next" value="${next}" />`}
    ${back !== null && html`<input type="hidden" name="seen" value="${back.minor}" />`}
    ${areaField(
      typed,
      {
        name: 'note',
        label: 'Note',
        hint: needed === undefined ? 'Optional; people will read it later.' : 'Needed to free the amount.',
      },
      html`maxlength="${NOTE_MAX}" ${needed !== undefined && html`required`}`,
    )}
    ${(isDisputed || r.kind === 'refund_stuck') && disputeWarning(disputes)}
    <ul class="ways">
      ${isDisputed && paid !== undefined && html`<li>${actLink(`/console/payments/${encodeURIComponent(paymentName(paid))}/refund`, 'Refund despite the dispute…')}<span class="hint">The next pages ask for the amount and warn again. A full refund closes this item.</span></li>`}
      ${disputesOf(example)
        .flatMap((o) => disputeLink(o, example.portal) ?? [])
        .map((link) => html`<li>${link}<span class="hint">Answer there, then close this item.</span></li>`)}
      ${order.map((x) => html`<li>${button(x)}<span class="hint" id="means-${x}">${meaningOf(r, x)}</span></li>`)}
    </ul>
  </form>`;
}

/** The dispute or fraud alert behind the item. */
function disputesOf({ review: r, invoice }: Case): readonly MorObjectRow[] {
  return invoice === null ? [] : invoice.objects.filter((o) => asksAbout(r, o));
}

/** True if a person counted the draft's amount as a part of the grown invoice: the rest is still open. */
function isPartOfGrown({ fact, resolution }: ReviewRow): boolean {
  return fact.code === 'amount-grew' && resolution === 'apply';
}

const linkForm = ({ invoiceId }: ReviewRow): string =>
  `/console/invoices/${encodeURIComponent(invoiceId ?? '')}/payment-link`;

/** A note about the item just closed, on the page of the next item. */
export function settledNote(last: ReviewRow): Html {
  return html`<p class="message good" role="status">
    Settled: <a href="${path(last.id)}">${words(last.kind)}</a> (${words(last.resolution ?? 'resolved')}).
    ${isPartOfGrown(last) && html`<a href="${linkForm(last)}">Create a payment link for the rest…</a>`}
  </p>`;
}
