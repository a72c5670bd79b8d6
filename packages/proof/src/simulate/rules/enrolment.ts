// The rules about enrolment. Crossbill relays and marks every invoice of an enrolled customer. For other customers it
// relays nothing and opens no item.
import { amountDue, type Invoice } from '@crossbill/sandbox/stripe/model.js';
import { type Sides } from './sides.js';
import { collectedByStripe } from '../acts/twice.js';
import { type World } from '../machine/world.js';

export function enrolmentRules(sides: Sides): string[] {
  return [...guardRules(sides), ...outsideRules(sides)];
}

/**
 * E3: Crossbill never warns about an invoice outside the enrolment. A person gets a warning before Stripe charges in
 * addition to the MoR, except after the faults below.
 */
function guardRules({ world, seen }: Sides): string[] {
  const notified = new Set(seen.reviews.flatMap((r) => (r.kind === 'double_charge_risk' ? (r.invoice_id ?? '') : [])));
  const lostCreated = world.lost.some(({ type }) => type === 'invoice.created');
  return [...world.sandbox.stripe.state.invoices.values()].flatMap((i) => {
    const byStripe = collectedByStripe(i) > 0;
    const outside = seen.invoices.find((r) => r.invoice_id === i.id)?.enrolled === false;
    if (outside && notified.has(i.id)) return [`E3: ${i.id} is not ours, and a double charge of it was foreseen`];
    // A missing warning is fine after a fault, an outage of Stripe, a lost `invoice.created`, or a restore.
    const quiet =
      world.scheduler.injected.length === 0 && !world.wasDown.has('stripe') && !lostCreated && world.gaps.length === 0;
    const missed = byStripe && !outside && !notified.has(i.id) && quiet;
    return missed ? [`E3: Stripe charged ${i.id} besides the MoR, without an earlier warning`] : [];
  });
}

function outsideRules(sides: Sides): string[] {
  const rule = sides.world.settings.enrolment;
  if (rule === undefined || rule.by === 'all') return [];
  return [...sides.world.sandbox.stripe.state.invoices.values()].flatMap((i) => {
    const isRenewal = i.billingReason !== 'subscription_create' && amountDue(i) > 0;
    return isRenewal ? ofInvoice(sides, i) : [];
  });
}

function ofInvoice({ world, seen }: Sides, invoice: Invoice): string[] {
  const row = seen.invoices.find((r) => r.invoice_id === invoice.id);
  const relays = seen.calls.filter((m) => m.kind === 'relay_event' && m.lane === invoice.id);
  const status = row?.status ?? 'unknown';
  if (wasEnrolled(world, invoice)) {
    // A cancelled relay counts if the MoR charged: the MoR took the event, and only its reply was lost.
    const charged = [...world.sandbox.mor.payments.values()].some((p) => p.merchantInvoiceId === invoice.id);
    const relayed = relays.some((m) => m.status === 'done' || (m.status === 'cancelled' && charged));
    const broken = relayed ? [] : [`E1: ${invoice.id} of an enrolled customer was not relayed`];
    return status === 'ignored' ? [...broken, `E1: ${invoice.id} of an enrolled customer is ignored`] : broken;
  }
  // After the MoR has charged a customer, Crossbill may handle the customer's invoices even without an enrolment.
  if ([...world.sandbox.mor.payments.values()].some((p) => p.merchantCustomerId === invoice.customer)) return [];
  const items = seen.reviews.filter((r) => r.invoice_id === invoice.id && r.status === 'open');
  return [
    ...(status === 'ignored' ? [] : [`E2: ${invoice.id} is of a customer who is not enrolled, and ${status}`]),
    ...items.map((r) => `E2: ${invoice.id} belongs to a customer outside the enrolment, and item ${r.kind} is open`),
    ...relays.flatMap((m) =>
      m.status === 'cancelled' ? [] : [`E2: ${invoice.id} was relayed (${m.status}), and is not ours`],
    ),
  ];
}

/** True if the customer was enrolled: linked before the invoice, or with the right metadata on Stripe. */
function wasEnrolled(world: World, invoice: Invoice): boolean {
  const rule = world.settings.enrolment;
  const { customers, subscriptions } = world.sandbox.stripe.state;
  if (rule?.by === 'linked') return (world.planted.linked.get(invoice.customer) ?? Infinity) < invoice.created * 1_000;
  if (rule?.by !== 'metadata') return true;
  const carries = (metadata: Readonly<Record<string, string>> | undefined): boolean =>
    metadata?.[rule.key] === rule.value;
  return (
    carries(customers.get(invoice.customer)?.metadata) ||
    carries(subscriptions.get(invoice.subscription ?? '')?.metadata)
  );
}
