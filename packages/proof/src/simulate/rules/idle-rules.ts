// The rules for the end of a run, with no work left. The truth comes from the sandbox, never from the code under test.
import { PARKING } from '#src/core/books/rules/payment-state.js';
import { amountDue, amountRemaining, type Invoice } from '@crossbill/sandbox/stripe/model.js';
import { GAP_MARGIN_MS } from '../acts/facts.js';
import { wasDetached } from '../acts/manual-acts.js';
import { paceRules } from '../machine/paced.js';
import { payerRules } from '../acts/payers.js';
import { enrolmentRules } from './enrolment.js';
import { ledgerRules } from './ledger.js';
import { logRules } from './log.js';
import { channelRules } from './channels.js';
import { isNotifiedOnLink, linkMoneyRules } from './links.js';
import { nameRules } from './names.js';
import { notificationRules } from './notifications.js';
import { refundRules } from './refunds.js';
import { retryRules } from './retries.js';
import { reviewRules } from './reviews.js';
import { twiceRules } from './twice.js';
import { type CallLine, type Snapshot } from '../machine/sim-repository.js';
import { isUnheardTransfer, referencesOf, rowOf, type Sides, sidesOf, type Taken } from './sides.js';
import { type World } from '../machine/world.js';

/**
 * The most tries of one call: an outage lasts 28 hours at most with a retry every 15 minutes, and crashes add a few.
 */
const MOST_ATTEMPTS = 400;

/** Returns one line for each broken rule; empty: all rules hold. */
export function brokenWhenIdle(world: World, seen: Snapshot): readonly string[] {
  const sides = sidesOf(world, seen);
  return [
    ...logRules(seen),
    ...budgetRules(world),
    ...inboxRules(sides),
    ...idleRules(sides),
    ...sides.taken.flatMap((p) => paymentRules(sides, p)),
    ...[...world.sandbox.stripe.state.invoices.values()].flatMap((i) => invoiceRules(sides, i)),
    ...refundRules(sides),
    ...ledgerRules(sides),
    ...channelRules(sides),
    ...linkMoneyRules(sides),
    ...nameRules(sides),
    ...twiceRules(sides),
    ...payerRules(sides),
    ...retryRules(sides),
    ...reviewRules(sides),
    ...notificationRules(sides),
    ...enrolmentRules(sides),
  ];
}

/**
 * B1: Crossbill keeps Stripe's limit of requests a second. Skips a run with paused processes: after a pause they send a
 * request later than the budget allowed it.
 */
function budgetRules({ pace, askedStripeAt, scheduler }: World): string[] {
  const stoodStill = scheduler.injected.some((f) => f.fault.startsWith('pause_'));
  return pace === null || stoodStill ? [] : paceRules(askedStripeAt, pace);
}

/** V1 and V2: the inbox has every acknowledged event byte for byte, with its decision. */
function inboxRules({ world, seen }: Sides): string[] {
  const broken: string[] = [];
  const rows = new Map(seen.events.map((e) => [`${e.source} ${e.event_id}`, e]));
  for (const a of world.acknowledged) {
    // A restore may have lost this event. The MoR sends its events again, and verify fetches Stripe's.
    if (world.gaps.some((g) => g.from - GAP_MARGIN_MS <= a.at && a.at <= g.to)) continue;
    const row = rows.get(`${a.source} ${a.eventId}`);
    if (row === undefined) broken.push(`V1: ${a.eventId} was answered 200 and is not in the inbox`);
    else if (row.sha !== a.sha256) broken.push(`V1: the bytes of ${a.eventId} in the inbox differ from the sent ones`);
  }
  for (const e of seen.events) {
    if (e.status === 'received') broken.push(`V2: ${e.type} ${e.event_id} is still undecided`);
    if (e.status === 'parked') broken.push(`V2: ${e.type} ${e.event_id} was parked: ${e.reason ?? ''}`);
  }
  return broken;
}

const UNDER_WAY = new Set(['waiting', 'finalizing', 'reporting', 'attaching', 'referencing', 'paying']);

/** G4, V15 and V16: nothing is half done, no call repeats without end, no lane is leased. */
export function idleRules({ seen }: Pick<Sides, 'seen'>): string[] {
  const broken: string[] = [];
  const notified = (call: CallLine): boolean =>
    seen.reviews.some((r) => r.status === 'open' && (r.subject === call.subject || r.refund_id === call.subject));
  for (const m of seen.calls) {
    if (m.status === 'pending' && !notified(m))
      broken.push(`G4: ${m.key} is still pending after ${m.attempts} tries (${m.lastMessage ?? ''})`);
    if (m.attempts > MOST_ATTEMPTS) broken.push(`V15: ${m.key} was tried ${m.attempts} times`);
  }
  for (const p of seen.payments) {
    if (UNDER_WAY.has(p.mark)) broken.push(`G4: the mark of ${p.payment_id ?? p.id} stands at ${p.mark}`);
  }
  for (const r of seen.refunds) {
    if (r.mirror === 'reporting' || r.mirror === 'crediting')
      broken.push(`G4: the twin of ${r.id} stands at ${r.mirror}`);
  }
  if (seen.leased > 0) broken.push(`V16: ${seen.leased} lanes are still held`);
  return broken;
}

function invoiceOf(world: World, payment: Taken): Invoice | undefined {
  return payment.invoiceId === null ? undefined : world.sandbox.stripe.state.invoices.get(payment.invoiceId);
}

/** V3 and V4: each payment shows on its invoice exactly one time, or an item asks a person. */
function paymentRules({ world, seen }: Sides, payment: Taken): string[] {
  const broken: string[] = [];
  const row = rowOf(seen, payment);
  const about = `${payment.id} of ${payment.amount} ${payment.currency} for ${payment.invoiceId ?? 'no invoice'}`;
  // `left`: Crossbill rightly has not booked this transfer. Either the MoR's event never arrived, and an item asks a
  // person for the amount. Or a person dismissed the transfer's item.
  const isUnheard = isUnheardTransfer(seen, payment);
  const left = seen.objects.some(
    (o) =>
      o.mor_id === payment.id &&
      seen.reviews.some((r) => r.subject === o.id && (isUnheard || r.resolution === 'dismiss')),
  );
  if (row === undefined) {
    const isLeft = payment.kind === 'signup' || left || isNotifiedOnLink(seen, payment);
    return isLeft ? [] : [`V4: ${about} was taken and is not in the ledger`];
  }
  const references = referencesOf(seen, payment);
  const records = [...world.sandbox.stripe.state.records.values()].filter((r) => references.includes(r.reference));
  if (records.length > 1) broken.push(`V3: ${about} was reported ${records.length} times`);
  const attached = records.filter((r) => r.attachedAs !== null);
  if (row.amount !== null && Number(row.amount) !== payment.amount)
    broken.push(`G7: the ledger has ${row.amount} for ${about}`);
  if (row.succeeded_at === null) {
    // After a contradicting failure from the MoR, the payment is parked and an item asks a person.
    const doubted = row.mark === 'parked' && world.contradicted.has(row.invoice_id);
    return doubted ? broken : [...broken, `V4: ${about} is not recorded as taken (mark ${row.mark})`];
  }
  if (Number(row.amount_refunded) === payment.amountRefunded && row.status !== payment.status)
    broken.push(`G11: ${about} is ${row.status} here and ${payment.status} at the MoR`);
  const reviews = seen.reviews.filter((r) => r.payment_row_id === row.id);
  // An open item must ask about each parked payment. While a refund is stuck, the item of the refund is enough.
  const asked = reviews.some((r) => r.status === 'open' && (PARKING.has(r.kind) || r.kind === 'refund_stuck'));
  const settledByPerson = reviews.some((r) => r.resolution === 'dismiss' || r.resolution === 'refund');
  const invoice = invoiceOf(world, payment);
  const notified = seen.reviews.some((r) => r.topic === 'overpaid' && r.invoice_id === row.invoice_id);
  switch (row.mark) {
    case 'confirmed':
      if (invoice !== undefined && wasDetached(world, invoice)) break;
      if (row.mark_mode === 'payment_record' && attached.length !== 1)
        broken.push(`V3: ${about} counts as marked and hangs on ${attached.length} invoices`);
      if (attached.length === 1 && invoice?.status !== 'paid' && !reviews.some((r) => r.resolution === 'apply'))
        broken.push(`G7: ${about} was marked, it is not what its ${invoice?.status ?? 'unknown'} invoice wanted`);
      if (row.mark_mode === 'out_of_band' && invoice?.paidOutOfBand !== payment.amount && !notified)
        broken.push(`V3: ${about} counts as marked out of band; Stripe shows ${invoice?.paidOutOfBand ?? 'nothing'}`);
      break;
    case 'parked':
      if (!asked) broken.push(`V4: ${about} is parked and nobody is asked about it`);
      break;
    case 'closed':
      if (!settledByPerson && payment.amountRefunded < payment.amount) broken.push(`V4: ${about} was closed by nobody`);
      break;
    case 'held':
      if (invoice?.status !== 'draft') broken.push(`V4: ${about} is held; its invoice is ${invoice?.status ?? 'gone'}`);
      break;
    default:
      if (!(row.mark === 'none' && row.succeeded_at === null))
        broken.push(`V4: the mark of ${about} stands at ${row.mark}`);
  }
  // A restored backup may lack a person's decision, so the item asks again about an attached payment.
  const askedAgain = row.mark === 'parked' && asked && world.gaps.length > 0;
  if (attached.length > 0 && row.mark !== 'confirmed' && !askedAgain)
    broken.push(`V3: ${about} is attached and its mark is ${row.mark}`);
  const payable = invoice?.status === 'open' || invoice?.status === 'uncollectible';
  const exact =
    payable &&
    !wasDetached(world, invoice) &&
    amountRemaining(invoice) === payment.amount &&
    invoice.currency === payment.currency;
  if (exact && row.mark !== 'confirmed' && !settledByPerson && payment.amountRefunded === 0)
    broken.push(
      `V4: ${about} is exactly the amount due on its ${invoice.status} invoice, and has no mark (${row.mark})`,
    );
  return broken;
}

/** V5: for each paid invoice the MoR took the money, or the merchant marked the invoice by hand. */
function invoiceRules({ world, seen, taken: all }: Sides, invoice: Invoice): string[] {
  const broken: string[] = [];
  const taken = all.filter((p) => rowOf(seen, p)?.invoice_id === invoice.id);
  for (const paid of invoice.payments) {
    if (paid.status !== 'paid' || paid.record === null) continue;
    const record = world.sandbox.stripe.state.records.get(paid.record);
    const source = taken.find((p) => record !== undefined && referencesOf(seen, p).includes(record.reference));
    if (source === undefined) broken.push(`V5: ${invoice.id} is paid by ${paid.record}, for which no money was taken`);
    else if (source.amount !== record?.requested || source.currency !== invoice.currency)
      broken.push(`V5: ${invoice.id} is paid by ${record?.requested ?? 0}, and ${source.amount} was taken`);
  }
  if (invoice.paidOutOfBand > 0 && !world.paidByHand.has(invoice.id)) {
    // A credit note during the mark lowers the amount Stripe shows as paid out of band.
    const shown = [invoice.paidOutOfBand, invoice.paidOutOfBand + invoice.prePaymentCredit];
    const marks = taken.filter((p) => shown.includes(p.amount) && p.currency === invoice.currency);
    if (marks.length === 0)
      broken.push(`V5: ${invoice.id} is paid out of band by ${invoice.paidOutOfBand}, which nobody took`);
  }
  const row = seen.invoices.find((r) => r.invoice_id === invoice.id);
  const marked = taken.some((p) => rowOf(seen, p)?.mark === 'confirmed');
  const surplus = marked ? taken.reduce((n, p) => n + p.amount - p.amountRefunded, 0) - amountDue(invoice) : 0;
  const notified = seen.reviews.some((r) => r.kind === 'amount_mismatch' && r.invoice_id === invoice.id);
  const allMarked = taken.every((p) => rowOf(seen, p)?.mark === 'confirmed');
  if (allMarked && invoice.status === 'paid' && surplus > 0 && !notified && !world.paidByHand.has(invoice.id))
    broken.push(`V19: ${surplus} more than due was taken for ${invoice.id}, without an item`);
  // Checks only invoices Stripe shows as paid. If a person applied a smaller payment, the invoice rightly stays open.
  if (marked && invoice.status === 'paid' && row?.status !== 'paid')
    broken.push(`G11: ${invoice.id} is ${row?.status ?? 'unknown'} here and was marked`);
  return broken;
}
