// The pages of a review item: what happened, what may be done, and what exactly the choice will do.
import { type Resolution, type ReviewRow } from '../domain/model.js';
import { proposalOf } from './rules/choices.js';
import { type PaymentView } from '../domain/ports/books.js';
import { refundable } from '../domain/status.js';
import { html, type Html } from '../console/html.js';
import { formToken } from '../console/layout.js';
import { type Session } from '../console/session.js';
import {
  amount,
  facts,
  foreign,
  id,
  invoiceLink,
  paymentLink,
  refundLink,
  status,
  time,
  words,
} from '../console/show.js';

export type Choice = { readonly resolution: Resolution; readonly note: string };

const MEANING: Readonly<Record<Resolution, string>> = {
  apply: 'Take the money for this invoice anyway.',
  refund: 'Refund all that remains of the payment.',
  retry: 'Look or send again; nothing is done twice.',
  dismiss: 'Nothing to do; close the item.',
};

/** What a resolution does to this item. */
function meaningOf(r: ReviewRow, resolution: Resolution): string {
  if (r.kind !== 'refund_stuck' || resolution !== 'apply') return MEANING[resolution];
  return 'The MoR told you that this refund failed: its amount is free again. Write in the note who told you. If it did not fail, the next refund pays a second time.';
}

/** @param named the MoR's id of its payment is known */
export function reviewFacts(r: ReviewRow, payment: string | null, named: boolean): Html {
  return html`<p class="message ${r.status === 'open' ? 'bad' : 'good'}"><bdi>${r.summary}</bdi></p>
    ${r.status === 'open' && html`<p><strong>Proposed:</strong> <bdi>${proposalOf(r, named)}</bdi></p>`}
    ${facts([
      ['Status', status(r.status)],
      ['Kind', words(r.kind)],
      r.invoiceId === null ? null : ['Invoice', invoiceLink(r.invoiceId)],
      payment === null ? null : ['Payment', paymentLink(payment)],
      r.refundId === null ? null : ['Refund', refundLink(r.refundId)],
      ['Item', id(r.id)],
      r.dueAt === null ? null : ['Due', time(r.dueAt)],
      ['Since', time(r.createdAt)],
      r.resolvedAt === null ? null : ['Settled', time(r.resolvedAt)],
      r.resolvedBy === null ? null : ['Settled by', foreign(r.resolvedBy)],
      r.resolution === null ? null : ['By choosing', words(r.resolution)],
      r.note === null ? null : ['Note', foreign(r.note)],
    ])}`;
}

export function choiceForm(session: Session, r: ReviewRow, resolutions: readonly Resolution[]): Html {
  return html`<form class="card" action="/console/reviews/${encodeURIComponent(r.id)}" method="post">
    ${formToken(session)}
    <fieldset>
      <legend>Choose a resolution</legend>
      ${resolutions.map(
        (name) =>
          html`<div class="choice">
            <input
              type="radio"
              id="choose-${name}"
              name="resolution"
              value="${name}"
              required
              aria-describedby="means-${name}"
            />
            <div>
              <label for="choose-${name}">${name}</label>
              <span class="hint" id="means-${name}">${meaningOf(r, name)}</span>
            </div>
          </div>`,
      )}
    </fieldset>
    <p>
      <label for="note">Note <span class="hint">Why; people will read it later.</span></label>
      <textarea id="note" name="note" rows="2" maxlength="1000"></textarea>
    </p>
    <p class="buttons"><button>Continue</button></p>
    <p class="hint">Nothing is done yet: the next page asks once more.</p>
  </form>`;
}

/** @param payment the payment it is about; null: none */
export function confirmChoice(
  session: Session,
  r: ReviewRow,
  { resolution, note }: Choice,
  payment: PaymentView | null,
): Html {
  const rest = payment === null ? null : refundable(payment.payment, payment.refunds, payment.lost);
  return html`<div class="card">
    <p><strong>${words(resolution)}:</strong> ${meaningOf(r, resolution)}</p>
    ${facts([
      ['What happened', foreign(r.summary)],
      r.invoiceId === null ? null : ['Invoice', invoiceLink(r.invoiceId)],
      payment === null ? null : ['Payment', amount(payment.payment.amount, payment.payment.currency)],
      resolution !== 'refund' || payment === null ? null : ['Will be refunded', amount(rest, payment.payment.currency)],
      note === '' ? null : ['Note', foreign(note)],
    ])}
    <form action="/console/reviews/${encodeURIComponent(r.id)}/resolve" method="post">
      ${formToken(session)}
      <input type="hidden" name="resolution" value="${resolution}" />
      <input type="hidden" name="note" value="${note}" />
      <p class="buttons">
        <button class="${resolution === 'refund' || r.kind === 'refund_stuck' ? 'danger' : ''}">
          Yes, ${resolution}
        </button>
        <a href="/console/reviews/${encodeURIComponent(r.id)}">Cancel</a>
      </p>
    </form>
  </div>`;
}
