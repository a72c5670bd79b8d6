// Both sides of a world at one moment: what is true at the peers, and what the database has of it.
import { type MorPayment } from '../sandbox/mor/state.js';
import { type PaymentLine, type Snapshot } from './sim-store.js';
import { type World } from './world.js';

/** One look at both sides. */
export type Sides = { readonly world: World; readonly seen: Snapshot };

const TAKEN = new Set(['succeeded', 'partially_refunded', 'refunded']);

/** Payments with which the MoR took money, whatever was given back since. */
export function moneyTaken(world: World): readonly MorPayment[] {
  return [...world.sandbox.mor.payments.values()].filter((p) => TAKEN.has(p.status));
}

/** The ledger's row of a MoR payment: by its id, or a signup's by its charge. */
export function rowOf(seen: Snapshot, p: MorPayment): PaymentLine | undefined {
  return (
    seen.payments.find((r) => r.payment_id === p.id) ??
    seen.payments.find((r) => r.payment_id === null && r.processor_charge_id === p.processorChargeId)
  );
}
