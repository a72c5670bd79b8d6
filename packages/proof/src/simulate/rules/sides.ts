// Both sides of a world at one moment: the truth at Stripe and the MoR, and the state in Crossbill's database.
import { type LinkPaid } from '../acts/planted.js';
import { type PaymentLine, type Snapshot } from '../machine/sim-repository.js';
import { type World } from '../machine/world.js';

/** `world` and `taken`: the truth at Stripe and the MoR. `seen`: the rows in Crossbill's database. */
export type Sides = { readonly world: World; readonly seen: Snapshot; readonly taken: readonly Taken[] };

export function sidesOf(world: World, seen: Snapshot): Sides {
  return { world, seen, taken: moneyTaken(world) };
}

/** A sum of money the MoR took, even if the MoR refunded it later. */
export type Taken = {
  /** The `pay_…` id, or the id of the proforma invoice. */
  readonly id: string;
  readonly kind: 'signup' | 'renewal' | 'link' | 'transfer';
  /** Null: nobody knows yet which invoice the payment is for. */
  readonly invoiceId: string | null;
  readonly customerId: string;
  readonly amount: number;
  readonly amountRefunded: number;
  readonly currency: string; // lower case
  readonly status: string;
  readonly chargeId: string | null;
  /** The reference of the payment in Stripe. */
  readonly reference: string;
  /** All payments on the same link, this one included, oldest first. Empty if no link was paid. */
  readonly onLink: readonly LinkPaid[];
};

const TAKEN = new Set(['succeeded', 'partially_refunded', 'refunded']);

function moneyTaken(world: World): readonly Taken[] {
  const { mor } = world.sandbox;
  const { proformas, links } = mor.channelBooks();
  const cards = [...mor.payments.values()].flatMap((p): Taken[] => {
    if (!TAKEN.has(p.status) || p.kind === 'transfer') return [];
    const { id, amount, amountRefunded, currency, status } = p;
    const kind = p.kind;
    const base = { id, kind, amount, amountRefunded, currency, status, chargeId: p.processorChargeId, onLink: [] };
    const link = links.find((l) => l.paymentIds.includes(p.id));
    if (link === undefined) {
      const { merchantCustomerId: customerId, processorChargeId: reference } = p;
      const invoiceId = p.merchantInvoiceId ?? world.signupOf.get(p.processorChargeId) ?? null;
      return [{ ...base, invoiceId, customerId, reference }];
    }
    const invoiceId = world.linkOf.get(link.idempotencyKey) ?? null;
    const onLink = world.planted.linksPaid.filter((l) => l.linkId === link.id);
    return [{ ...base, invoiceId, customerId: '', reference: link.id, onLink }];
  });
  const transfers = proformas.flatMap(({ id, reference, received, currency }): Taken[] => {
    if (received === null) return [];
    // After a look-up in the MoR's portal the transfer is also a payment there, with an id and refunds.
    const shown = mor.payments.get(world.planted.transfers.get(id) ?? '');
    return [
      {
        id: shown?.id ?? id,
        kind: 'transfer',
        invoiceId: reference,
        customerId: '',
        amount: Number(received),
        amountRefunded: shown?.amountRefunded ?? 0,
        currency: currency.toLowerCase(),
        status: shown?.status ?? 'succeeded',
        chargeId: null,
        reference: id,
        onLink: [],
      },
    ];
  });
  return [...cards, ...transfers];
}

/** True if the event arrived and Crossbill has decided it. */
export function isHeard(seen: Snapshot, eventId: string): boolean {
  return seen.events.some((e) => e.event_id === eventId && e.status === 'done');
}

/**
 * True if Crossbill has no event of this transfer. The MoR gave up after eight tries: a wrong clock put each try into
 * quarantine.
 */
export function isUnheardTransfer(seen: Snapshot, payment: Taken): boolean {
  return payment.kind === 'transfer' && !seen.events.some((e) => e.event_id === `evt_${payment.reference}`);
}

/**
 * True if an open item asks why Crossbill and the MoR count different refunds of this payment. An item about a refund
 * missing only on Stripe does not count.
 */
export function isGapNotified(seen: Snapshot, rowId: string): boolean {
  return seen.reviews.some(
    (r) => r.kind === 'refund_gap' && r.status === 'open' && r.payment_row_id === rowId && r.topic !== 'refund-unshown',
  );
}

type Index = { readonly byId: Rows; readonly byReference: Rows; readonly byCharge: Rows };
type Rows = ReadonlyMap<string | null, PaymentLine>;
const indexes = new WeakMap<Snapshot, Index>();

/**
 * Finds Crossbill's row of the payment by the MoR's id. If no row has it, finds the row by reference or charge, among
 * the rows without an id from the MoR.
 */
export function rowOf(seen: Snapshot, payment: Taken): PaymentLine | undefined {
  const index = indexes.get(seen) ?? indexOf(seen);
  const byCharge = payment.chargeId === null ? undefined : index.byCharge.get(payment.chargeId);
  const byReference = index.byReference.get(payment.reference);
  return index.byId.get(payment.id) ?? (isOf(byReference, payment) ? byReference : byCharge);
}

/**
 * True if the row belongs to this payment. After two payments on a link, the row belongs to the payment with the row's
 * id or charge; without such a payment, to the first.
 */
function isOf(row: PaymentLine | undefined, { id, onLink }: Taken): boolean {
  if (row === undefined || onLink.length < 2) return row !== undefined;
  const named = onLink.find((l) => l.paymentId === row.payment_id || l.chargeId === row.processor_charge_id);
  return (named ?? onLink[0])?.paymentId === id;
}

/**
 * Returns the references this payment may have in Stripe. For a payment on a link this may also be the charge, if the
 * MoR reported the payment as a card payment.
 */
export function referencesOf(seen: Snapshot, payment: Taken): readonly (string | null)[] {
  if (payment.kind !== 'link') return [payment.reference];
  const isOfLink = payment.onLink.length < 2 || rowOf(seen, payment)?.reference === payment.reference;
  return isOfLink ? [payment.reference, payment.chargeId] : [payment.chargeId];
}

/** Indexes the rows: at the end of a soak the rules look up payments millions of times. */
function indexOf(seen: Snapshot): Index {
  // If two rows have the same key, the first row counts.
  const rows = seen.payments.toReversed();
  const unnamed = rows.filter((r) => r.payment_id === null || r.identified_by !== null);
  const index = {
    byId: new Map(rows.filter((r) => r.identified_by === null).map((r) => [r.payment_id, r])),
    byReference: new Map(unnamed.map((r) => [r.reference, r])),
    byCharge: new Map(unnamed.map((r) => [r.processor_charge_id, r])),
  };
  indexes.set(seen, index);
  return index;
}
