// Items for a person, at rest: each open one has a cause in the world. An item without one is a false alarm.
import { wasDetached } from './hands.js';
import { namesInFact } from './sim-store.js';
import { notesOfLosses } from './rules-refunds.js';
import { amountDue, amountPaid, amountRemaining } from '@crossbill/sandbox/stripe/model.js';
import { type ReviewLine } from './sim-store.js';
import { isUnheardTransfer, rowOf, type Sides, type Taken } from './sides.js';
import { collectedByStripe, stripeWouldCharge } from './twice.js';

export function reviewRules(sides: Sides): string[] {
  return sides.seen.reviews
    .filter((r) => r.status === 'open' && !isExplained(sides, r))
    .map((r) => `R1: nothing in the world explains item ${r.kind} of ${r.subject}: ${JSON.stringify(r.fact)}`);
}

/** From the peers' own books and the planted facts, never from the code under test. */
function isExplained(sides: Sides, r: ReviewLine): boolean {
  const { world, seen, taken: all } = sides;
  const { stripe, mor } = world.sandbox;
  const p = all.find((t) => rowOf(seen, t)?.id === r.payment_row_id);
  const invoiceId = r.invoice_id ?? p?.invoiceId ?? '';
  const invoice = stripe.state.invoices.get(invoiceId);
  const ofInvoice = all.filter((t) => invoiceOf(sides, t) === invoiceId);
  const books = mor.channelBooks();
  switch (r.kind) {
    case 'renewal_overdue': {
      // The MoR has not said anything: a bank debit on its way, or it does not know the invoice, or has not heard of its newest retry.
      const said = [...mor.payments.values()].some(
        (x) => x.merchantInvoiceId === invoiceId && x.status !== 'processing',
      );
      const retries = seen.invoices.find((x) => x.invoice_id === invoiceId)?.retries?.retries ?? [];
      const ref = retries.findLast((x) => x.means === 'charge')?.ref;
      const isUnheard = ref !== undefined && !world.sandbox.cards.book.heardEvents.has(ref);
      // Refused, and the customer does not pay the proforma invoice in its place.
      const isUnpaid = books.proformas.some(
        (f) => f.reference === invoiceId && f.received === null && f.status !== 'ISSUANCE_FAILED',
      );
      // It named another invoice's charge, and a person let it go.
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
      // Asked for without an answer and taken back: whether it is there nobody can say but the MoR.
      const maybeThere = seen.objects.some((o) => o.id === r.subject && o.detail.mayStand === true);
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
      if (world.misnamed.has(r.subject)) return true;
      // Somebody detached the payment on Stripe: all of the invoice is due again.
      if (invoice !== undefined && wasDetached(world, invoice)) return true;
      return (
        p !== undefined &&
        invoice !== undefined &&
        (invoice.lines.reduce((n, l) => n + l.amount, 0) !== p.amount ||
          p.amount !== amountDue(invoice) ||
          p.amount !== amountRemaining(invoice) + amountPaid(invoice) ||
          // A part was taken and applied before: the whole no longer fits.
          (ofInvoice.length > 1 && p.amount !== amountRemaining(invoice)))
      );
    case 'partial_transfer':
      return books.proformas.some((f) => f.reference === invoiceId && f.received !== null && f.received < f.total);
    case 'refund_stuck': {
      // Document 3 has no event for a pending refund's failure, and a refused repeat proves nothing.
      const made = [...mor.refunds.values()].find(
        (x) => x.metadata?.['click'] !== undefined && namedBy(sides, x.id, r),
      );
      return made === undefined || made.status !== 'succeeded';
    }
    case 'signup_overdue':
    case 'signup_unproven':
      // The MoR may have reported a failure of a good charge.
      return p === undefined || world.contradicted.has(invoiceId);
    case 'debit_returned':
      if (p !== undefined && world.planted.returns.get(p.id) === 'returned') return true;
      // Its loss got a credit before the return was undone.
      return isLossCredited(sides, invoiceId);
    case 'dispute':
      return [...world.disputes, ...world.alerts].some(
        (d) => r.subject.includes('disputeId' in d ? d.disputeId : d.alertId) || r.topic === 'unknown-dispute',
      );
    case 'conflicting_event':
      if (isOfLinkBeside(sides, r)) return true;
      // The MoR took a payment, or a signup's charge has its proof, and afterwards the MoR reports a failure.
      if (world.contradicted.has(invoiceId)) return true;
      if ([...world.planted.twins].some((id) => r.subject.endsWith(`:${id}`))) return true;
      // Given back under a charge in use by another invoice.
      if ((p?.amountRefunded ?? 0) > 0 && world.planted.oneCharge.some((c) => c.second.invoiceId === invoiceId))
        return true;
      // A refund of a signup's payment without an invoice at the MoR and without a name here.
      return (
        all.some(
          (t) => (t.kind === 'signup' || t.kind === 'link') && namesInFact(r, t.id) && rowOf(seen, t) === undefined,
        ) ||
        isOfNobody(sides, r) ||
        all.some(
          (t) => isUnheardTransfer(seen, t) && seen.objects.some((o) => o.id === r.subject && o.mor_id === t.id),
        ) ||
        // Somebody asked for money under a wrong name, or it went back in place of another's.
        world.planted.namings.some((n) => n.as !== 'right' && namesInFact(r, n.said))
      );
    case 'effect_failed':
      // Credits a person made or removed by hand on Stripe, or wrote off for a loss, leave no room there for our own
      // refund or credit note. And Stripe takes one reference of a refund once.
      return (
        world.byHand.some((h) => h.invoiceId === invoiceId) ||
        isLossCredited(sides, invoiceId) ||
        seen.refunds.some((x) => x.id === r.refund_id && world.planted.oneRefundId.has(x.processor_refund_id ?? ''))
      );
    case 'refund_gap':
      if (r.topic === 'request-refused') return tookPlaceOfOurs(sides, r, p);
      // Refund of money set aside by a person, on an invoice paid by something else.
      return r.topic === 'refund-unshown' && p !== undefined && p.amountRefunded > 0 && invoice?.status === 'paid';
    default:
      return false;
  }
}

/** Stripe has a credit note of this invoice for a bank's loss. */
function isLossCredited({ world }: Sides, invoiceId: string): boolean {
  return notesOfLosses(world).some((n) => n.invoice === invoiceId);
}

/** Our refund came too late: somebody refunded its amount in the portal, and the payment's rest is smaller. */
function tookPlaceOfOurs(sides: Sides, r: ReviewLine, p: Taken | undefined): boolean {
  const elsewhere = [...sides.world.sandbox.mor.refunds.values()].find(
    (x) => x.metadata?.['click'] === undefined && namedBy(sides, x.id, r),
  );
  return p !== undefined && elsewhere !== undefined && elsewhere.amount > p.amount - p.amountRefunded;
}

/** A link of the invoice with more than one payment. */
function isOfLinkBeside({ taken }: Sides, r: ReviewLine): boolean {
  return taken.some((t) => t.onLink.length > 1 && r.subject === `${t.invoiceId ?? ''}:announced`);
}

/** A capture of a payment without a name here: nobody completed its signup. */
function isOfNobody({ world, seen, taken }: Sides, r: ReviewLine): boolean {
  const capture = world.planted.captures.find((c) => r.subject === c.eventId);
  const payment = taken.find((t) => t.id === capture?.paymentId);
  return payment !== undefined && rowOf(seen, payment) === undefined;
}

function invoiceOf({ seen }: Sides, t: Taken): string | null {
  return t.invoiceId ?? rowOf(seen, t)?.invoice_id ?? null;
}

function namedBy({ seen }: Sides, morRefundId: string, r: ReviewLine): boolean {
  return seen.refunds.some((x) => x.id === r.refund_id && x.mor_refund_id === morRefundId);
}
