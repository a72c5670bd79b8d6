// Retries of a refused renewal, as far as the core asks for them.
import { type Lane } from '../../../engine/draft.js';
import { type Ctx } from '../../../engine/context.js';
import { type Feature } from '../../../feature.js';
import { FEATURES } from '../../../features.js';
import { type LaneRows } from '../../../shared/domain/model.js';
import { type ConfirmedMethod, type RetryOffer } from '../../../shared/domain/retry.js';

const SLOT = FEATURES.map(({ retries }: Feature) => retries).find((slot) => slot !== undefined);

/** The retry that a person may make now, or the reason against it. */
export function offerRetry(s: LaneRows, ctx: Pick<Ctx, 'now' | 'settings'>): RetryOffer {
  return SLOT?.offer(s, ctx) ?? { means: null, why: 'Crossbill makes no retries here.' };
}

/** Tries the customer's new payment method on the invoice, if the MoR refused the old one. */
export function takeMethod(
  lane: Lane,
  method: ConfirmedMethod,
): { readonly ok: true; readonly value: { readonly id: string } } {
  SLOT?.takeMethod(lane, method);
  return { ok: true, value: { id: method.id } };
}
