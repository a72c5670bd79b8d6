// What the core asks of the feature that retries refused renewals. Without such a feature nothing is retried.
import { type Result } from '../../../engine/commanded.js';
import { type Ctx } from '../../../engine/context.js';
import { type Lane } from '../../../engine/lane.js';
import { type PaymentEvent } from '../../../engine/event.js';
import { onlySlot } from '../../../feature.js';
import { FEATURES } from '../../../features.js';
import { type LaneRows } from '../../../shared/domain/model.js';
import { type ConfirmedMethod, type RetryOffer } from '../../../shared/domain/retry.js';

const SLOT = onlySlot(FEATURES, 'retries');

/** Records the MoR's refusal of a payment, to plan the next try. */
export function applyRefusal(lane: Lane, event: PaymentEvent): void {
  SLOT?.applyRefusal(lane, event);
}

/** The retry that a person may make now, or the reason against it. */
export function offerRetry(lane: LaneRows, ctx: Pick<Ctx, 'now' | 'settings'>): RetryOffer {
  return SLOT?.offer(lane, ctx) ?? { means: null, why: 'Crossbill makes no retries here.' };
}

/** Tries the customer's new payment method on the invoice, if the MoR refused the old one. */
export function applyMethod(lane: Lane, method: ConfirmedMethod): Result<{ readonly id: string }> {
  return SLOT?.applyMethod(lane, method) ?? { ok: true, value: { id: method.id } };
}
