// The rules about doubles: Crossbill books each charge one time even if two events report it, counts each refund one
// time, and opens an item for a double payment.
import { namesInFact, type PaymentLine } from '../machine/sim-repository.js';
import { PARKING } from '#src/core/books/rules/payment-state.js';
import { type MorRefund } from '@crossbill/sandbox/mor/state.js';
import { amountDue } from '@crossbill/sandbox/stripe/model.js';
import { rowOf, type Sides } from './sides.js';
import { collectedByStripe } from '../acts/twice.js';

export function twiceRules(sides: Sides): string[] {
  return [...chargeRules(sides), ...refundIdRules(sides), ...ownCardRules(sides), ...twinRules(sides)];
}

/** D4: if two bodies arrive under one event id, the first counts (V1), and an item shows the second. */
function twinRules({ world, seen }: Sides): string[] {
  const notified = (id: string): boolean =>
    seen.reviews.some((r) => r.kind === 'conflicting_event' && r.subject.endsWith(`:${id}`));
  return [...world.planted.twins].filter((id) => !notified(id)).map((id) => `D4: ${id} came with two bodies, untold`);
}

/**
 * D1: if the MoR reports one charge for two invoices, Crossbill books it one time and marks one invoice. An item names
 * both.
 */
function chargeRules({ world, seen }: Sides): string[] {
  const broken: string[] = [];
  for (const { chargeId, first, second } of world.planted.oneCharge) {
    if (!seen.events.some((e) => e.event_id === second.eventId)) continue; // the MoR gave up sending the second event
    // A signup's payment may have no id or a mistyped id. Its charge and its invoice still identify it.
    const isFirst = (payment: PaymentLine): boolean =>
      payment.payment_id === first.paymentId ||
      (payment.processor_charge_id === chargeId && payment.invoice_id === first.invoiceId);
    const rows = seen.payments.filter((r) => isFirst(r) || r.payment_id === second.paymentId);
    const ids = rows.map((r) => r.id);
    const booked = seen.ledger.filter((e) => e.reason === 'payment_collected' && ids.includes(e.payment_row_id));
    if (booked.length !== 1) broken.push(`D1: charge ${chargeId} is booked ${booked.length} times`);
    const marked = rows.filter((r) => r.mark === 'confirmed').length;
    if (marked > 1) broken.push(`D1: charge ${chargeId} marks ${marked} invoices`);
    const names = [first.invoiceId, second.paymentId, chargeId];
    // The MoR's id of a signup's payment may arrive after the item opens. Until then the item uses Crossbill's own id.
    const firsts = [first.paymentId, ...rows.filter(isFirst).flatMap((r) => [r.id, r.payment_id ?? r.id])];
    // The item may also use an id a person mistyped.
    firsts.push(...world.planted.namings.filter((n) => n.as === 'mistyped').map((n) => n.said));
    const notified = seen.reviews.some(
      (r) =>
        r.kind === 'double_payment' &&
        r.invoice_id === second.invoiceId &&
        names.every((n) => namesInFact(r, n)) &&
        firsts.some((n) => namesInFact(r, n)),
    );
    if (!notified)
      broken.push(`D1: no item says that ${second.invoiceId} and ${first.invoiceId} name charge ${chargeId}`);
  }
  return broken;
}

/** D2: two refunds of two payments under one processor id stay two refunds, each on its own payment. */
function refundIdRules({ world, seen, taken }: Sides): string[] {
  const broken: string[] = [];
  for (const id of world.planted.oneRefundId) {
    const made = [...world.sandbox.mor.refunds.values()].filter(
      (r) => r.processorRefundId === id && r.status === 'succeeded' && isKnown(r),
    );
    const rows = seen.refunds.filter((r) => r.processor_refund_id === id && r.counted);
    if (rows.length < made.length) broken.push(`D2: ${made.length} refunds bear ${id}, and ${rows.length} are here`);
    for (const r of made) {
      const payment = taken.find((p) => p.id === r.paymentId);
      const row = payment === undefined ? undefined : rowOf(seen, payment);
      const own = rows.filter((x) => x.payment_row_id === row?.id && Number(x.amount) === r.amount);
      if (own.length === 0) broken.push(`D2: refund ${r.id} of ${r.paymentId}, which is ${id} too, is not here`);
    }
  }
  return broken;

  /** True if Crossbill has the refund's payment under the MoR's id. */
  function isKnown(refund: MorRefund): boolean {
    const payment = taken.find((p) => p.id === refund.paymentId);
    return payment !== undefined && rowOf(seen, payment)?.payment_id === payment.id;
  }
}

/** D3: if Stripe and the MoR together collect more than the amount due, an item tells a person. */
function ownCardRules({ world, seen, taken }: Sides): string[] {
  const broken: string[] = [];
  for (const invoice of world.sandbox.stripe.state.invoices.values()) {
    const byStripe = collectedByStripe(invoice);
    const own = taken.filter((p) => rowOf(seen, p)?.invoice_id === invoice.id && rowOf(seen, p)?.succeeded_at !== null);
    const byMor = own.reduce((n, p) => n + p.amount, 0);
    if (byStripe === 0 || byMor === 0 || byStripe + byMor <= amountDue(invoice)) continue;
    const notified = own.some((p) => {
      const row = rowOf(seen, p);
      const items = seen.reviews.filter((r) => r.payment_row_id === row?.id && PARKING.has(r.kind));
      return items.some((r) => r.kind === 'double_payment' || p.amount !== byStripe);
    });
    const surplus = seen.reviews.some((r) => r.topic === 'overpaid' && r.invoice_id === invoice.id);
    if (!notified && !surplus)
      broken.push(`D3: Stripe took ${byStripe} for ${invoice.id} and the MoR ${byMor}, without an item`);
  }
  return broken;
}
