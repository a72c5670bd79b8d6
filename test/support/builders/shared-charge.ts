// A charge that the MoR names for two invoices, for tests of the item about it. The first invoice's payment is booked;
// the second is under test.
import { expect } from '@jest/globals';
import { type DecisionSettings } from '../../../src/shared/domain/settings.js';
import { aPaymentFailed, aPaymentSucceeded, INVOICE_ID } from './events.js';
import { MemoryLaneRepository } from '../rigs/lane-harness.js';
import { type Rig, rig, state } from '../rigs/retry-rig.js';
import { resolveReview } from '../rigs/decide.js';

export const SHARED = 'ch_shared';

/** The MoR reports the renewal as paid by this charge. */
export const named = (rig: Rig, over: object = {}) =>
  aPaymentSucceeded({ paymentId: 'pay_second', chargeId: SHARED, at: rig.h.clock.now(), ...over });
export const refusedNow = (rig: Rig) =>
  aPaymentFailed({ paymentId: 'pay_second', declineCode: 'insufficient_funds', at: rig.h.clock.now() });

export async function dismiss(rig: Rig, kind = 'double_payment'): Promise<void> {
  const item = (await state(rig)).reviews.find((x) => x.kind === kind && x.status === 'open');
  const choice = { resolution: 'dismiss', by: 'ops', note: null } as const;
  const done = await rig.h.command(INVOICE_ID, (s, ctx) => resolveReview(s, item?.id ?? '', choice, ctx));
  expect(done.ok).toBe(true);
}

export function bookElsewhere(rig: Rig, charge: string): void {
  if (!(rig.h.backend.repository instanceof MemoryLaneRepository)) throw new Error('not in memory');
  rig.h.backend.repository.bookedElsewhere.set(charge, { invoiceId: 'in_first', payment: 'pay_first' });
}

/** A renewal, and a payment of another invoice booked under the same charge. */
export function booked(over: Partial<DecisionSettings> = {}): Rig {
  const r = rig(over);
  bookElsewhere(r, SHARED);
  return r;
}
