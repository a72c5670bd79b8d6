// The page of one dispute or alert: amount, state, possible actions, and its lines of the invoice's timeline.
import { mayDo } from '../../../frames/api/access/roles.js';
import {
  actLink,
  actRow,
  besides,
  confirmForm,
  fold,
  headline,
  outsideLink,
  stripeUrl,
} from '../../../frames/console/acts.js';
import { type Names } from '../../../frames/console/fields.js';
import { type Html, html } from '../../../frames/console/html.js';
import { type Session } from '../../../frames/console/session.js';
import {
  amount,
  customerLink,
  facts,
  foreign,
  id,
  invoiceNumberLink,
  moneyLink,
  section,
  status,
  time,
} from '../../../frames/console/show.js';
import { timeline } from '../../../core/invoices/timeline.js';
import { type JournalLine } from '../../../shared/domain/model.js';
import { type PaymentRow } from '../../../shared/domain/payment-row.js';
import { asksAfterOutcome, type MorObjectRow, objectId, wantsEvidence } from '../../../shared/domain/mor-object.js';
import { type InvoiceView } from '../../../engine/read-model.js';
import { disputeLink, disputePath } from '../../../core/mor-objects/dispute-link.view.js';
import { asksAbout } from './rules/dispute.js';
import { disputeAdvice } from './words.js';
import { unreadSum } from '../../../shared/domain/dispute-sum.js';

export type Viewer = {
  readonly session: Session;
  readonly now: Date;
  readonly live: boolean | null;
  /** MOR_PORTAL_URL. */
  readonly portal: string | null;
  readonly names: Names;
};

type Disputed = {
  readonly dispute: Pick<MorObjectRow, 'amount' | 'currency' | 'detail'>;
  readonly payment: Pick<PaymentRow, 'amount' | 'currency'> | null;
};

/**
 * Returns the disputed amount from the MoR's events, or the whole payment if no event has an amount. Null: the MoR's
 * amount has two possible meanings, or the payment is unknown too.
 */
export function disputed({ dispute: o, payment: p }: Disputed): {
  readonly minor: bigint | null;
  readonly currency: string | null;
} {
  if (unreadSum(o, p) !== null) return { minor: null, currency: null };
  const { amount: minor, currency } = o.amount === null && p !== null ? p : o;
  return { minor, currency };
}

export function disputedSum(disputedOf: Disputed): Html {
  const { minor, currency } = disputed(disputedOf);
  return amount(minor, currency);
}

export function disputePart(
  object: MorObjectRow,
  view: InvoiceView,
  { session, now, live, portal, names }: Viewer,
): Html {
  const payment = view.payments.find((p) => p.id === object.paymentRowId) ?? null;
  const { outcome = null, reviewerNote = null } = object.detail;
  const asking = view.reviews.filter((r) => asksAbout(r, object));
  const open = asking.filter((r) => r.status === 'open');
  const about = html`Invoice ${invoiceNumberLink(object.invoiceId, view.invoice.number)} · customer
  ${customerLink(view.invoice.customerId, names.get(view.invoice.customerId ?? ''))} · first event
  ${time(object.createdAt)}`;
  const ops = mayDo(session.role, 'ops');
  const settle = ops ? 'Settle the review item…' : 'See the review item';
  const there = disputeLink(object, portal);
  const own = linesOf(
    object,
    asking.map((r) => r.id),
    view.journal,
  );
  return html`${headline(disputedSum({ dispute: object, payment }), status(object.status, object.kind === 'alert' ? 'Alert' : 'Dispute'), disputeAdvice(object, now), about)}
  ${actRow([
    there,
    ops && wantsEvidence(object) && open.length > 0
      ? actLink(`${disputePath(object)}/evidence-sent`, 'Evidence sent: close it…')
      : null,
    ...open.map((r) => actLink(`/console/reviews/${encodeURIComponent(r.id)}`, settle)),
    outsideLink(stripeUrl(live, 'invoices', object.invoiceId), 'Open the invoice in Stripe'),
  ])}
  ${there === null && !isOver(object) && html`<p class="dim">The MoR sent no link, and <code>MOR_PORTAL_URL</code> is not set: look for ${id(objectId(object))} in its portal.</p>`}
  ${besides(
    html`${facts([
      object.deadline === null
        ? null
        : isOver(object)
          ? ['Was due by', time(object.deadline)]
          : ['Due by', html`<strong class="deadline">${time(object.deadline)}</strong>`],
      payment === null
        ? ['Payment', html`<span class="dim">unknown</span>`]
        : [
            'Payment',
            html`${moneyLink('payments', payment.paymentId ?? payment.id, payment.amount, payment.currency)},
            ${time(payment.succeededAt)}`,
          ],
      object.detail.loss === undefined
        ? null
        : ['Loss in the ledger', amount(BigInt(object.detail.loss.minor), payment?.currency ?? object.currency)],
      outcome === null ? null : ["Outcome, in the MoR's words", foreign(outcome)],
      reviewerNote === null ? null : ["The MoR's note", foreign(reviewerNote)],
    ])}
    ${fold(
      'details',
      'Details and ids',
      null,
      facts([
        ['Id at the MoR', id(object.morId)],
        ['Id in Crossbill', id(object.id)],
        ['Invoice', id(object.invoiceId)],
        ['Customer at the MoR', id(view.morCustomerId)],
        ["Processor's charge", id(payment?.processorChargeId ?? null)],
        ['Last changed', time(object.updatedAt)],
      ]),
    )}`,
    section(
      'Timeline',
      html`${timeline(own)}
        <p class="dim">
          The timeline of the whole invoice is on the
          ${html`<a href="/console/invoices/${encodeURIComponent(object.invoiceId)}#timeline">invoice's page</a>`}.
        </p>`,
    ),
  )}`;
}

/** The question before the item about the evidence closes. `review`: the item's id. */
export function evidencePart(object: MorObjectRow, review: string, { session, portal }: Viewer): Html {
  const act = {
    action: `/console/reviews/${encodeURIComponent(review)}/resolve`,
    label: 'Evidence sent: close it',
    back: disputePath(object),
  };
  return html`<p>
      Has somebody sent the evidence in the MoR's portal? Crossbill can't see it there. It closes the item, and reminds
      nobody of the deadline any more. The MoR's decision comes as an event.
    </p>
    ${facts([
      ['Dispute', foreign(objectId(object))],
      object.deadline === null ? null : ['Due by', html`<strong class="deadline">${time(object.deadline)}</strong>`],
    ])}
    ${actRow([disputeLink(object, portal)])}
    ${confirmForm(session, act, { resolution: 'dismiss', note: 'The evidence was sent.' })}`;
}

const OVER: ReadonlySet<string> = new Set(['won', 'lost', 'decided', 'handled']);
export const isOver = (object: MorObjectRow): boolean => OVER.has(object.status) && !asksAfterOutcome(object);

/** The lines of the timeline about the dispute or its items. */
function linesOf(
  object: MorObjectRow,
  items: readonly string[],
  journal: readonly JournalLine[],
): readonly JournalLine[] {
  const names = new Set([object.id, objectId(object), ...items]);
  const named = (text: string): boolean => text.split(/[\s,:;()"]+/).includes(objectId(object));
  return journal.filter((line) => (line.ref !== null && names.has(line.ref)) || named(line.text));
}
