// The possible actions on an invoice. Each button uses the same service as the API and the command line.
import { type ReviewRow } from '../../shared/domain/review-row.js';
import { isLiveProforma, isPayableLink, lostOf, type MorObjectRow, returnOf } from '../../shared/domain/mor-object.js';
import { type InvoiceView } from '../../engine/read-model.js';
import { isOver, isPayable, refundable } from '../../shared/domain/status.js';
import { moneyAnnounced, moneyOnItsWay, moneyUndecided } from '../books/rules/open-money.js';
import { type Ctx } from '../../engine/context.js';
import { mayDo } from '../../frames/api/access/roles.js';
import { actForm, actLink, actRow, outsideLink, stripeUrl } from '../../frames/console/acts.js';
import { disputeAct, disputeLink } from '../mor-objects/dispute-link.view.js';
import { type Names } from '../../frames/console/fields.js';
import { type Html, html } from '../../frames/console/html.js';
import { type Session } from '../../frames/console/session.js';
import { offerRetry } from './rules/refused-renewal.js';
import { paymentName } from '../../shared/domain/payment-name.js';

/** The person at the page (`session`), the time and the settings (`ctx`), and Stripe's mode (`live`; null: unknown). */
export type Viewer = {
  readonly session: Session;
  readonly ctx: Ctx;
  readonly live: boolean | null;
  /** MOR_PORTAL_URL. */
  readonly portal: string | null;
  readonly names: Names;
};

/** The link the customer can pay now. Undefined if there is none. */
export function payableLink(view: InvoiceView, now: Date): MorObjectRow | undefined {
  return view.objects.find((o) => o.status !== 'REQUESTED' && isPayableLink(o, now));
}

export function invoiceActs(view: InvoiceView, { session, ctx, live, portal }: Viewer): Html {
  const { invoiceId: id } = view.invoice;
  const ops = mayDo(session.role, 'ops');
  const state = { ...view, lane: id, entries: [] };
  const path = `/console/invoices/${encodeURIComponent(id)}`;
  const refused = view.attempts.some((a) => a.outcome !== 'succeeded');
  const { means, why } = offerRetry(state, ctx);
  const collect = ops && canBeCollected(view);
  const hasLink = view.objects.some((o) => isPayableLink(o, ctx.now));
  const row = actRow([
    ...(ops ? refunds(view) : []),
    ops && means !== null
      ? actLink(`${path}/retry`, means === 'charge' ? 'Retry the charge now…' : 'Retry now, by payment link…')
      : null,
    ops && refused && view.invoice.retries !== null && collect && view.invoice.customerId !== null
      ? actLink(`${path}/ask-card`, 'Ask for another card…')
      : null,
    collect && !hasLink ? actLink(`${path}/payment-link`, 'Create a payment link…') : null,
    collect && !view.objects.some(isLiveProforma) ? actLink(`${path}/proforma`, 'Issue a proforma invoice…') : null,
    ...view.objects.flatMap((o) => [disputeAct(o), disputeLink(o, portal)]),
    outsideLink(stripeUrl(live, 'invoices', id), 'Open in Stripe'),
    ...(ops ? returns(view, session) : []),
  ]);
  return html`${row}${ops && refused && !isOver(view.invoice.platformStatus) && why !== null && html`<p class="dim">You cannot retry this invoice now: ${why}</p>`}`;
}

/**
 * True if a person may collect the invoice: an enrolled customer owes an amount on a final invoice, and no money for it
 * is under way, announced or waiting for a decision.
 */
function canBeCollected({ invoice: i, payments, objects, reviews }: InvoiceView): boolean {
  return (
    isPayable(i) &&
    moneyOnItsWay(payments) === null &&
    moneyUndecided({ payments, reviews }) === null &&
    moneyAnnounced({ objects, reviews }) === null &&
    i.amountRemaining !== null &&
    i.amountRemaining > 0n &&
    i.enrolled !== false
  );
}

/** Adds the payment's name to the label if the invoice has several payments. */
function labelled(view: InvoiceView, label: string, name: string): string {
  return view.payments.filter((p) => p.succeededAt !== null).length > 1 ? `${label} ${name}…` : `${label}…`;
}

function refunds(view: InvoiceView): (Html | null)[] {
  return view.payments.map((p) => {
    const name = paymentName(p);
    const path = `/console/payments/${encodeURIComponent(name)}`;
    const isBack = returnOf(view, p.id) !== undefined;
    if (isBack || refundable(p, view.refunds, lostOf(p.id, view.objects)) === 0n) return null;
    if (p.paymentId === null) return actLink(path, labelled(view, 'Name the payment to refund it', name));
    return actLink(`${path}/refund`, labelled(view, 'Refund', name));
  });
}

function returns(view: InvoiceView, session: Session): (Html | null)[] {
  return view.payments.map((p) => {
    const name = paymentName(p);
    const path = `/console/payments/${encodeURIComponent(name)}/returned`;
    const row = returnOf(view, p.id);
    if (row !== undefined)
      return actForm(session, `${path}/undo`, 'Undo the returned debit', { key: `con-undo-${row.id}` });
    if (refundable(p, view.refunds, lostOf(p.id, view.objects)) === 0n) return null;
    return actLink(path, labelled(view, 'Record a returned debit', name));
  });
}

/** The open items of an invoice, the soonest deadline first. */
export function byDeadline(reviews: readonly ReviewRow[]): readonly ReviewRow[] {
  const due = (item: ReviewRow): number => item.dueAt?.getTime() ?? Infinity;
  return reviews.filter((r) => r.status === 'open').toSorted((a, b) => (due(a) === due(b) ? 0 : due(a) - due(b)));
}
