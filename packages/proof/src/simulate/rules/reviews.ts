// The rule about review items at the end of a run: each open item has a cause in the simulated world. An item without a
// cause is a false alarm.
import { wasDetached } from '../acts/manual-acts.js';
import { namesInFact } from '../machine/sim-repository.js';
import { notesOfLosses } from './refunds.js';
import { amountDue, amountPaid, amountRemaining, invoiceTotal } from '@crossbill/sandbox/stripe/model.js';
import { type ReviewLine } from '../machine/sim-repository.js';
import { isUnheardTransfer, rowOf, type Sides, type Taken } from './sides.js';
import { collectedByStripe, stripeWouldCharge } from '../acts/twice.js';

export function reviewRules(sides: Sides): string[] {
  return sides.seen.reviews
    .filter((r) => r.status === 'open' && !isExplained(sides, r))
    .map((r) => `R1: nothing in the world explains item ${r.kind} of ${r.subject}: ${JSON.stringify(r.fact)}`);
}

/** True if the item has a cause: in the sandbox's data, or in a fact a story planted. */
function isExplained(sides: Sides, item: ReviewLine): boolean {
  const { world, seen, taken: all } = sides;
  const { stripe, mor } = world.sandbox;
  const p = all.find((t) => rowOf(seen, t)?.id === item.payment_row_id);
  const invoiceId = item.invoice_id ?? p?.invoiceId ?? '';
  const invoice = stripe.state.invoices.get(invoiceId);
  const ofInvoice = all.filter((t) => invoiceOf(sides, t) === invoiceId);
  const books = mor.channelBooks();
  switch (item.kind) {
    case 'renewal_overdue': {
      // The item is right if the MoR has reported nothing yet: a bank debit is on its way, or the MoR lacks the invoice
      // or its newest retry.
      const said = [...mor.payments.values()].some(
        (x) => x.merchantInvoiceId === invoiceId && x.status !== 'processing',
      );
      const retries = seen.invoices.find((x) => x.invoice_id === invoiceId)?.retries?.retries ?? [];
      const ref = retries.findLast((x) => x.means === 'charge')?.ref;
      const isUnheard = ref !== undefined && !world.sandbox.cards.book.heardEvents.has(ref);
      // The item is right if the customer has not paid the proforma invoice of a refused renewal.
      const isUnpaid = books.proformas.some(
        (f) => f.reference === invoiceId && f.received === null && f.status !== 'ISSUANCE_FAILED',
      );
      // The item is right if the MoR reported another invoice's charge for this invoice: this invoice has no money.
      const isShared = world.planted.oneCharge.some((c) => c.second.invoiceId === invoiceId);
      return !said || isUnheard || isUnpaid || isShared;
    }
    case 'double_charge_risk':
      return invoice !== undefined && stripeWouldCharge(world, invoice);
    case 'double_payment': {
      const openLink = books.links.some(
        (l) => world.linkOf.get(l.idempotencyKey) === invoiceId && l.openUntilMs > world.now,
      );
      const openProforma = books.proformas.some(
        (f) => f.reference === invoiceId && f.received === null && f.status !== 'ISSUANCE_FAILED',
      );
      // Crossbill withdrew a request without a reply. Only the MoR knows whether the link or proforma invoice exists.
      const maybeThere = seen.objects.some((o) => o.id === item.subject && o.detail.mayStand === true);
      const oneCharge = world.planted.oneCharge.some((c) => c.second.invoiceId === invoiceId);
      const byStripe = collectedByStripe(invoice) > 0;
      return (
        ofInvoice.length > 1 ||
        world.paidByHand.has(invoiceId) ||
        openLink ||
        openProforma ||
        maybeThere ||
        oneCharge ||
        byStripe
      );
    }
    case 'invoice_not_payable':
      return p !== undefined && (invoice === undefined || invoice.status === 'void');
    case 'amount_mismatch':
      if (world.misnamed.has(item.subject)) return true;
      // The item is right if somebody detached the payment on Stripe: the whole amount is due again.
      if (invoice !== undefined && wasDetached(world, invoice)) return true;
      return (
        p !== undefined &&
        invoice !== undefined &&
        (invoice.lines.reduce((n, l) => n + l.amount, 0) !== p.amount ||
          p.amount !== amountDue(invoice) ||
          p.amount !== amountRemaining(invoice) + amountPaid(invoice) ||
          // A person already applied an earlier payment, so this payment is now more than the amount due.
          (ofInvoice.length > 1 && p.amount !== amountRemaining(invoice)))
      );
    case 'partial_transfer':
      return books.proformas.some((f) => f.reference === invoiceId && f.received !== null && f.received < f.total);
    case 'refund_stuck': {
      // Document 3 has no event for a failed pending refund, so an item asks a person.
      const made = [...mor.refunds.values()].find(
        (x) => x.metadata?.['click'] !== undefined && namedBy(sides, x.id, item),
      );
      return made === undefined || made.status !== 'succeeded';
    }
    case 'signup_overdue':
    case 'signup_unproven':
      // The item is right if the payment is missing, or if the MoR reported the failure of a successful charge.
      return p === undefined || world.contradicted.has(invoiceId);
    case 'debit_returned':
      if (p !== undefined && world.planted.returns.get(p.id) === 'returned') return true;
      // The item is also right if the bank undid the return after Stripe got a credit note for the loss.
      return isLossCredited(sides, invoiceId);
    case 'dispute':
      return [...world.disputes, ...world.alerts].some(
        (d) => item.subject.includes('disputeId' in d ? d.disputeId : d.alertId) || item.topic === 'unknown-dispute',
      );
    case 'conflicting_event':
      if (isOfLinkBeside(sides, item)) return true;
      // The item is right if the MoR reported a failure after the payment had succeeded or a signup's charge was
      // proven.
      if (world.contradicted.has(invoiceId)) return true;
      if ([...world.planted.twins].some((id) => item.subject.endsWith(`:${id}`))) return true;
      // The item is right if the MoR refunded the payment, and the payment's charge pays another invoice too.
      if ((p?.amountRefunded ?? 0) > 0 && world.planted.oneCharge.some((c) => c.second.invoiceId === invoiceId))
        return true;
      // The item is right if the MoR refunded a payment unknown to Crossbill. A signup's payment may name no invoice.
      return (
        all.some(
          (t) => (t.kind === 'signup' || t.kind === 'link') && namesInFact(item, t.id) && rowOf(seen, t) === undefined,
        ) ||
        isOfNobody(sides, item) ||
        all.some(
          (t) => isUnheardTransfer(seen, t) && seen.objects.some((o) => o.id === item.subject && o.mor_id === t.id),
        ) ||
        // The item is right if somebody reported a wrong id for the payment, and a refund used this id.
        world.planted.namings.some((n) => n.as !== 'right' && namesInFact(item, n.said))
      );
    case 'effect_failed':
      // The item is right if Stripe has no room for Crossbill's refund or credit note: a person changed credits by hand
      // on Stripe, or credited a loss. Stripe also refuses a second refund with the same reference.
      return (
        world.byHand.some((h) => h.invoiceId === invoiceId) ||
        isLossCredited(sides, invoiceId) ||
        seen.refunds.some((x) => x.id === item.refund_id && world.planted.oneRefundId.has(x.processor_refund_id ?? ''))
      );
    case 'refund_gap':
      if (item.topic === 'request-refused') return tookPlaceOfOurs(sides, item, p);
      if (item.topic === 'refund-beyond-sale') return isFullyCredited(sides, invoiceId);
      // The item is right if another payment paid the invoice: then Stripe cannot show a refund of this payment.
      return item.topic === 'refund-unshown' && p !== undefined && p.amountRefunded > 0 && invoice?.status === 'paid';
    default:
      return false;
  }
}

/** True if Stripe has a credit note on this invoice for a loss to a bank. */
function isLossCredited({ world }: Sides, invoiceId: string): boolean {
  return notesOfLosses(world).some((n) => n.invoice === invoiceId);
}

/** True if the credit notes on Stripe cover the whole invoice: it takes no credit note for a further refund. */
function isFullyCredited({ world }: Sides, invoiceId: string): boolean {
  const { creditNotes, invoices } = world.sandbox.stripe.state;
  const credited = [...creditNotes.values()]
    .filter((n) => n.invoice === invoiceId)
    .reduce((sum, n) => sum + n.amount, 0);
  const invoice = invoices.get(invoiceId);
  return invoice !== undefined && credited > 0 && credited === invoiceTotal(invoice);
}

/** True if Crossbill's refund came too late: somebody refunded in the MoR's portal first, and too little was left. */
function tookPlaceOfOurs(sides: Sides, item: ReviewLine, payment: Taken | undefined): boolean {
  const elsewhere = [...sides.world.sandbox.mor.refunds.values()].find(
    (x) => x.metadata?.['click'] === undefined && namedBy(sides, x.id, item),
  );
  return payment !== undefined && elsewhere !== undefined && elsewhere.amount > payment.amount - payment.amountRefunded;
}

/** True if the item is about a payment link of the invoice with more than one payment. */
function isOfLinkBeside({ taken }: Sides, item: ReviewLine): boolean {
  return taken.some((t) => t.onLink.length > 1 && item.subject === `${t.invoiceId ?? ''}:announced`);
}

/** True if the item is about the `payment.captured` of a payment Crossbill does not know. */
function isOfNobody({ world, seen, taken }: Sides, item: ReviewLine): boolean {
  const capture = world.planted.captures.find((c) => item.subject === c.eventId);
  const payment = taken.find((t) => t.id === capture?.paymentId);
  return payment !== undefined && rowOf(seen, payment) === undefined;
}

function invoiceOf({ seen }: Sides, payment: Taken): string | null {
  return payment.invoiceId ?? rowOf(seen, payment)?.invoice_id ?? null;
}

function namedBy({ seen }: Sides, morRefundId: string, item: ReviewLine): boolean {
  return seen.refunds.some((x) => x.id === item.refund_id && x.mor_refund_id === morRefundId);
}
