// Both sides of a world at one moment: the truth at the peers, and the database's view of it.
import { type LinkPaid } from './planted.js';
import { type PaymentLine, type Snapshot } from './sim-store.js';
import { type World } from './world.js';

/** One look at both sides. */
export type Sides = { readonly world: World; readonly seen: Snapshot; readonly taken: readonly Taken[] };

export function sidesOf(world: World, seen: Snapshot): Sides {
  return { world, seen, taken: moneyTaken(world) };
}

/** Money the MoR took, whatever went back since. */
export type Taken = {
  /** pay_…, or the proforma invoice's. */
  readonly id: string;
  readonly kind: 'signup' | 'renewal' | 'link' | 'transfer';
  /** Null: its purpose is unknown so far. */
  readonly invoiceId: string | null;
  readonly customerId: string;
  readonly amount: number;
  readonly amountRefunded: number;
  readonly currency: string; // lower case
  readonly status: string;
  readonly chargeId: string | null;
  /** Its reference in Stripe. */
  readonly reference: string;
  /** The payments on its link, oldest first, with this one; otherwise empty. */
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
    // In the portal it is a payment like others, once somebody has looked.
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

/** The event arrived and has its decision. */
export function isHeard(seen: Snapshot, eventId: string): boolean {
  return seen.events.some((e) => e.event_id === eventId && e.status === 'done');
}

/**
 * The MoR gave up on this transfer after eight tries, each at a wrong clock: copies are in quarantine, and no event
 * came.
 */
export function isUnheardTransfer(seen: Snapshot, t: Taken): boolean {
  return t.kind === 'transfer' && !seen.events.some((e) => e.event_id === `evt_${t.reference}`);
}

/** An item asks why the refunds of this payment do not add up. A refund Stripe cannot show does add up. */
export function isGapTold(seen: Snapshot, rowId: string): boolean {
  return seen.reviews.some(
    (r) => r.kind === 'refund_gap' && r.status === 'open' && r.payment_row_id === rowId && r.topic !== 'refund-unshown',
  );
}

type Index = { readonly byId: Rows; readonly byReference: Rows; readonly byCharge: Rows };
type Rows = ReadonlyMap<string | null, PaymentLine>;
const indexes = new WeakMap<Snapshot, Index>();

/**
 * The ledger's row of the payment: by the MoR's id; a link's or transfer's by its reference, or a signup's by its
 * charge, whatever people call it.
 */
export function rowOf(seen: Snapshot, p: Taken): PaymentLine | undefined {
  const index = indexes.get(seen) ?? indexOf(seen);
  const byCharge = p.chargeId === null ? undefined : index.byCharge.get(p.chargeId);
  const byReference = index.byReference.get(p.reference);
  return index.byId.get(p.id) ?? (isOf(byReference, p) ? byReference : byCharge);
}

/** Of two payments on one link the row belongs to the one with its name or charge, else to the first one. */
function isOf(row: PaymentLine | undefined, { id, onLink }: Taken): boolean {
  if (row === undefined || onLink.length < 2) return row !== undefined;
  const named = onLink.find((l) => l.paymentId === row.payment_id || l.chargeId === row.processor_charge_id);
  return (named ?? onLink[0])?.paymentId === id;
}

/**
 * Stripe's possible references of this payment: of a link's its charge too, if the MoR reported it as a card payment.
 */
export function referencesOf(seen: Snapshot, p: Taken): readonly (string | null)[] {
  if (p.kind !== 'link') return [p.reference];
  const isOfLink = p.onLink.length < 2 || rowOf(seen, p)?.reference === p.reference;
  return isOfLink ? [p.reference, p.chargeId] : [p.chargeId];
}

/** The rules look up every payment once per invoice: millions of times at the end of a soak. */
function indexOf(seen: Snapshot): Index {
  // The first of two rows with one key counts.
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
