// A person, or the merchant's backend, wants a refused renewal tried again now.
import { type Retry } from '../../domain/retry.js';
import { type LaneState } from '../../domain/model.js';
import { type ShownToRetry } from '../../domain/ports/billing-platform.js';
import { type Commanded, refuse, type Refusal, refuseInShadow } from '../../engine/commanded.js';
import { type Ctx } from '../../engine/change.js';
import { takeLateRead } from '../../engine/facts.js';
import { makeRetry } from './make-retry.js';
import { meansNow, obstacle } from './next-try.js';
import { isOver } from './settle-retries.js';

export type RetryRequest = {
  /** The invoice, as Stripe showed it when it was asked for it at `askedAt`. */
  readonly shown: ShownToRetry;
  readonly askedAt: Date;
  readonly by: string;
};

/** One retry: `id` is its number, as the name of what a request made. */
export type MadeRetry = Retry & { readonly id: string };

/** Tries it again by the schedule's means, without its waits, or says why that cannot be. */
export function requestRetry(s: LaneState, { shown, askedAt, by }: RetryRequest, ctx: Ctx): Commanded<MadeRetry> {
  if (ctx.settings.shadow === true) return refuseInShadow();
  const state = takeLateRead(s, ctx, shown.invoice, askedAt);
  const why = obstacle(state, ctx);
  if (why !== null) return notRetryable(why);
  const means = meansNow(state, ctx);
  if (means === null) return notRetryable('no way is set up.');
  if (means === 'charge' && isOver(shown))
    return notRetryable(
      `its subscription is ${shown.subscriptionStatus ?? ''}. Make a payment link if it is still owed.`,
    );
  if (means === 'link' && state.invoice?.platformStatus !== 'open')
    return notRetryable('it is still a draft, and a payment link is made of a final invoice.');
  // A worker read it meanwhile: the event would hold what was due before, and that is what the MoR charges.
  if (means === 'charge' && state.invoice?.amountRemaining !== shown.invoice.amountRemaining)
    return notRetryable('the amount due changed while the invoice was read. Ask again.');
  const made = makeRetry(state, means === 'charge' ? { means, shown } : { means }, { by }, ctx);
  const retry = made.invoice?.retries?.retries.at(-1);
  if (made === state || retry === undefined) return notRetryable('nothing is due on it.');
  return { ok: true, state: made, value: named(retry) };
}

/** The retry that an earlier request made. */
export function retryMade(s: LaneState, id: string): MadeRetry | undefined {
  const retry = s.invoice?.retries?.retries.find((r) => String(r.number) === id);
  return retry === undefined ? undefined : named(retry);
}

function named(r: Retry): MadeRetry {
  return { ...r, id: String(r.number) };
}

function notRetryable(why: string): Refusal {
  return refuse(409, 'invoice_not_retryable', `It cannot be tried again: ${why}`);
}
