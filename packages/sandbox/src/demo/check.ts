// Checks that Crossbill, Stripe and the MoR agree: follows every payment and refund through all three.
import { type DaemonPayment, type MorPayment, type MorRefund, type Review, type Sides, TAKEN } from './sides.js';

/** One disagreement. `about`: the id of the payment, refund or other object. `what`: a sentence. */
export type Finding = { readonly about: string; readonly what: string };

/** Returns an empty list if Crossbill, Stripe and the MoR agree. A payment with an open review item may differ. */
export function disagreements(sides: Sides): Finding[] {
  return [
    ...payments(sides),
    ...refunds(sides),
    ...invoices(sides),
    ...records(sides),
    ...ledger(sides),
    ...backend(sides),
  ];
}

function moneyTaken(sides: Sides): readonly MorPayment[] {
  return sides.mor.payments.filter((p) => TAKEN.has(p.status));
}

/**
 * Finds the daemon's payments for this payment of the MoR: for a transfer by the invoice, for any other payment by the
 * payment's id or the charge.
 */
function twins(sides: Sides, payment: MorPayment): readonly DaemonPayment[] {
  if (payment.kind === 'transfer')
    return sides.daemon.payments.filter((d) => d.origin === 'proforma' && d.invoiceId === payment.invoiceId);
  return sides.daemon.payments.filter(
    (d) => d.id === payment.id || (payment.chargeId !== '' && d.chargeId === payment.chargeId),
  );
}

function openReview(sides: Sides, payment: DaemonPayment): Review | undefined {
  return sides.daemon.reviews.find(
    (r) =>
      r.status === 'open' &&
      (r.paymentId === payment.id || (r.paymentId === null && r.invoiceId === payment.invoiceId)),
  );
}

function payments(sides: Sides): Finding[] {
  const found: Finding[] = [];
  const say = (about: string, what: string): void => void found.push({ about, what });
  const known = new Set<DaemonPayment>();
  for (const p of sides.mor.payments) {
    const twin = twins(sides, p);
    twin.forEach((d) => known.add(d));
    const [d] = twin;
    if (p.status === 'processing') continue; // the MoR has not reported it yet
    if (d === undefined || twin.length > 1) {
      const missing = `the MoR says ${p.status}; the daemon has ${twin.length} such payments`;
      say(p.id, missing);
      continue;
    }
    if (d.status !== p.status) say(p.id, `${p.status} at the MoR, ${d.status} at the daemon`);
    if (!TAKEN.has(p.status)) continue;
    if (d.amount !== p.amount || d.currency !== p.currency)
      say(p.id, `${p.amount} ${p.currency} at the MoR, ${d.amount} ${d.currency} at the daemon`);
    if (d.amountRefunded !== p.amountRefunded)
      say(p.id, `${p.amountRefunded} given back by the MoR, ${d.amountRefunded} at the daemon`);
    found.push(...marks(sides, p, d));
  }
  for (const d of sides.daemon.payments) if (!known.has(d)) say(d.id, "the daemon has a payment the MoR doesn't have");
  return found;
}

/** Checks the record of one payment on Stripe. There must be one record, attached to the right invoice. */
function marks(sides: Sides, payment: MorPayment, paymentRow: DaemonPayment): Finding[] {
  const say = (what: string): Finding[] => [{ about: payment.id, what }];
  const shown = sides.stripe.records.filter((r) => r.reference === payment.reference);
  const [record] = shown;
  if (shown.length > 1) return say(`reported to Stripe ${shown.length} times`);
  if (record === undefined) {
    if (openReview(sides, paymentRow) !== undefined || payment.status === 'refunded') return [];
    return say(`taken for ${payment.invoiceId ?? 'no invoice'} and not shown on Stripe`);
  }
  const invoice = sides.stripe.invoices.find((i) => i.id === record.invoiceId);
  if (invoice === undefined) return say(`record ${record.id} is attached to no invoice`);
  const enough = moneyOn(sides, invoice.id) >= invoice.amountDue;
  if (enough && invoice.status !== 'paid') return say(`attached to ${invoice.id}, which is ${invoice.status}`);
  if (!enough && invoice.status === 'paid') return say(`${invoice.id} is paid with less than is due`);
  if (invoice.id !== (payment.invoiceId ?? paymentRow.invoiceId))
    return say(`attached to ${invoice.id}, taken for ${paymentRow.invoiceId}`);
  if (record.amount !== payment.amount) return say(`taken ${payment.amount}, reported ${record.amount}`);
  if (paymentRow.recordId !== record.id)
    return say(`the daemon names record ${paymentRow.recordId ?? 'none'}, Stripe has ${record.id}`);
  return [];
}

/** The sum of the payment records on an invoice, in the currency's smallest unit. */
function moneyOn(sides: Sides, invoiceId: string): number {
  return sides.stripe.records.filter((r) => r.invoiceId === invoiceId).reduce((sum, r) => sum + r.amount, 0);
}

function refunds(sides: Sides): Finding[] {
  const made = new Set(sides.mor.refunds.map((r) => r.id));
  const foreign = sides.daemon.payments
    .flatMap((p) => p.refunds)
    .filter((r) => r.morRefundId === null || !made.has(r.morRefundId))
    .filter((r) => r.status !== 'failed')
    .map((r) => ({ about: r.id, what: `a refund is ${r.status} at the daemon; the MoR has none such` }));
  const followed = sides.mor.refunds.flatMap((r): Finding[] => {
    const say = (what: string): Finding[] => [{ about: r.id, what }];
    const owner = sides.mor.payments.find((p) => p.id === r.paymentId);
    const [d] = owner === undefined ? [] : twins(sides, owner);
    if (owner === undefined || d === undefined) return say('a refund of a payment that nobody knows');
    const own = d.refunds.filter((x) => x.morRefundId === r.id);
    const [mine] = own;
    // The MoR reports a refund from the portal only after it succeeded (Document 3).
    if (own.length === 0 && r.status !== 'succeeded' && r.source !== 'api') return [];
    if (mine === undefined || own.length > 1) return say(`the daemon has ${own.length} such refunds`);
    if (mine.status !== r.status) return say(`${r.status} at the MoR, ${mine.status} at the daemon`);
    if (mine.amount !== r.amount) return say(`${r.amount} at the MoR, ${mine.amount} at the daemon`);
    return mirrors(sides, owner, r);
  });
  return [...foreign, ...followed];
}

function mirrors(sides: Sides, owner: MorPayment, refund: MorRefund): Finding[] {
  const say = (what: string): Finding[] => [{ about: refund.id, what }];
  const record = sides.stripe.records.find((x) => x.reference === owner.reference);
  const shown = record?.refunds.filter((x) => x.reference === refund.processorRefundId) ?? [];
  const [mirror] = shown;
  if (refund.status !== 'succeeded') return mirror === undefined ? [] : say(`${refund.status}, yet shown on Stripe`);
  if (record === undefined) return []; // the payment was never shown on Stripe
  if (mirror === undefined || shown.length > 1) return say(`shown on Stripe ${shown.length} times`);
  if (mirror.amount !== refund.amount || mirror.credited !== refund.amount)
    return say(`${refund.amount} given back, ${mirror.amount} reported, ${mirror.credited} credited`);
  return [];
}

/** For each status of a Stripe invoice, the statuses the daemon may show. */
const CALLED: Readonly<Record<string, readonly string[]>> = {
  draft: ['expected', 'open', 'held', 'ignored', 'review'],
  open: ['expected', 'open', 'ignored', 'review'],
  paid: ['paid', 'ignored', 'review'],
  void: ['void', 'review'],
  uncollectible: ['expected', 'open', 'review'],
};

function invoices(sides: Sides): Finding[] {
  const called = new Map(sides.daemon.invoices.map((i) => [i.id, i.status]));
  const references = new Set(moneyTaken(sides).map((p) => p.reference));
  return sides.stripe.invoices.flatMap((i): Finding[] => {
    const status = called.get(i.id);
    const say = (what: string): Finding[] => [{ about: i.id, what }];
    if (status === undefined) return say('the daemon does not know it');
    // The first invoice of a subscription is not a renewal, so enrolment doesn't matter.
    if (!i.enrolled && i.billingReason === 'subscription_create') return [];
    if (!i.enrolled) return status === 'ignored' ? [] : say(`not enrolled, and ${status} at the daemon`);
    if (CALLED[i.status]?.includes(status) !== true) return say(`${i.status} on Stripe, ${status} at the daemon`);
    const money = sides.stripe.records.some((r) => r.invoiceId === i.id && references.has(r.reference));
    if (i.status === 'paid' && i.amountDue > 0 && !money) return say('paid on Stripe without money of the MoR');
    return [];
  });
}

function records(sides: Sides): Finding[] {
  const charges = new Set(moneyTaken(sides).map((p) => p.reference));
  const given = new Set(sides.mor.refunds.filter((r) => r.status === 'succeeded').map((r) => r.processorRefundId));
  return sides.stripe.records.flatMap((r): Finding[] => [
    ...(charges.has(r.reference) ? [] : [{ about: r.id, what: "a payment record for money the MoR didn't take" }]),
    ...r.refunds
      .filter((f) => !given.has(f.reference))
      .map((f) => ({ about: f.reference, what: 'a refund on Stripe that the MoR did not make' })),
  ]);
}

/** Debits less credits of each account and currency, as `account currency` → smallest units. */
export function balances(entries: Sides['daemon']['ledger']): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  const add = (account: string, amount: number): void => void sums.set(account, (sums.get(account) ?? 0) + amount);
  for (const e of entries) {
    add(`${e.debit} ${e.currency}`, e.amount);
    add(`${e.credit} ${e.currency}`, -e.amount);
  }
  return sums;
}

/**
 * Compares each ledger account with the sum of the MoR's payments and lost disputes. Without such a sum an account must
 * be at zero. A payment without an attached record at Stripe counts in `unmarked_payments`.
 */
function ledger(sides: Sides): Finding[] {
  const is = balances(sides.daemon.ledger);
  const should = new Map<string, number>([...is.keys()].map((account) => [account, 0]));
  const add = (account: string, amount: number): void => void should.set(account, (should.get(account) ?? 0) + amount);
  for (const p of moneyTaken(sides)) {
    const left = p.amount - p.amountRefunded;
    const shown = sides.stripe.records.some((r) => r.reference === p.reference && r.invoiceId !== null);
    add(`mor_receivable ${p.currency}`, left);
    add(`${shown ? 'settled_invoices' : 'unmarked_payments'} ${p.currency}`, -left);
  }
  for (const l of sides.mor.lost) {
    add(`disputed_payments ${l.currency}`, l.amount);
    add(`mor_receivable ${l.currency}`, -l.amount);
  }
  return [...should].flatMap(([account, amount]): Finding[] => {
    const recorded = is.get(account) ?? 0;
    return recorded === amount ? [] : [{ about: 'ledger', what: `${account} stands at ${recorded}, not ${amount}` }];
  });
}

/**
 * The merchant's backend must have one `invoice.paid` for each invoice paid with the MoR's money, one
 * `refund.succeeded` for each refund, and no further notification of these two types.
 */
function backend(sides: Sides): Finding[] {
  const said = (type: string): readonly string[] =>
    sides.backend.filter((n) => n.type === type).map((n) => n.about ?? 'nothing that has a name');
  const paid = sides.stripe.invoices
    .filter((i) => (i.enrolled || i.billingReason === 'subscription_create') && i.status === 'paid' && i.amountDue > 0)
    .map((i) => i.id);
  const refunded = sides.mor.refunds.filter((r) => r.status === 'succeeded').map((r) => r.id);
  const compare = (type: string, should: readonly string[]): Finding[] => {
    const is = said(type);
    const wrong = [...new Set([...should, ...is])].map((about) => ({
      about,
      is: is.filter((x) => x === about).length,
      due: should.includes(about) ? 1 : 0,
    }));
    return wrong
      .filter((w) => w.is !== w.due)
      .map((w) => ({ about: w.about, what: `the backend has ${w.is} ${type}, not ${w.due}` }));
  };
  return [...compare('invoice.paid', paid), ...compare('refund.succeeded', refunded)];
}
