// A retry is written down before anything is sent: the event for the MoR with its id and bytes, or the payment link with its key.
import { type InvoiceRow, type LaneState } from '../../domain/model.js';
import { type ShownToRetry } from '../../domain/ports/billing-platform.js';
import { type ConfirmedMethod, type Retry, type RetryTrail } from '../../domain/retry.js';
import { showMoney } from '../../domain/money.js';
import { addMessage, type Ctx, note, putInvoice } from '../../engine/change.js';
import { makeLink } from '../../links/rules/recovery.js';
import { type Means } from './next-try.js';
import { verdictDueBy, putTrail, retryName } from './trail.js';

/** By what the invoice is tried again: `shown` is what Stripe showed just now, which a charge is ordered with. */
export type How =
  { readonly means: 'charge'; readonly shown: ShownToRetry } | { readonly means: Exclude<Means, 'charge'> };

/** For what it is tried again: a person or the backend asks for it, the customer has another payment method, or the schedule says so. */
export type Cause = { readonly by: string } | { readonly method: ConfirmedMethod } | null;

/** Tries a refused renewal again. The invoice was read just now, and nothing stands in the way. The same state when nothing is due. */
export function makeRetry(s: LaneState, how: How, cause: Cause, ctx: Ctx): LaneState {
  const i = s.invoice;
  const trail = i?.retries ?? null;
  if (i === null || trail === null || i.amountRemaining === null || i.amountRemaining <= 0n) return s;
  const number = trail.retries.length + 1;
  const ref = retryName(how.means === 'charge' ? 'evt_crossbill' : 'lnk', i.invoiceId, number);
  const retry: Retry = {
    number,
    at: ctx.now.toISOString(),
    kind: trail.refusal.kind,
    means: how.means,
    by: cause === null ? null : 'by' in cause ? cause.by : cause.method.by,
    ref,
    minor: i.amountRemaining.toString(),
    method: cause !== null && 'method' in cause ? cause.method.id : null,
    withdrawn: false,
  };
  const tried = { ...trail, retries: [...trail.retries, retry], askedAt: null };
  if (how.means === 'link') {
    const made = makeLink(s, i, ref, ctx);
    return made === s ? s : told(putTrail(made, tried), retry, ctx);
  }
  return orderCharge(s, i, { ...tried, waitingSince: ctx.now.toISOString() }, retry, how.shown, ctx);
}

/** The wait for a verdict starts again: silence from here on is an alarm. */
function orderCharge(
  s: LaneState,
  i: InvoiceRow,
  trail: RetryTrail,
  retry: Retry,
  shown: ShownToRetry,
  ctx: Ctx,
): LaneState {
  const waiting = putInvoice(s, { ...i, retries: trail, expectedBy: verdictDueBy(i, ctx) });
  const ordered = addMessage(waiting, ctx, {
    peer: 'relay',
    kind: 'retry_charge',
    subject: i.invoiceId,
    generation: retry.number,
    key: retry.ref,
    wire: { method: 'POST', path: '', body: eventOf(retry.ref, shown, ctx.now) },
  });
  return told(ordered, retry, ctx);
}

function told(s: LaneState, r: Retry, ctx: Ctx): LaneState {
  const currency = s.invoice?.currency ?? '';
  const due = showMoney({ minor: BigInt(r.minor), currency });
  const what = r.means === 'charge' ? `the MoR is asked to charge ${due} again` : `a payment link of ${due} is made`;
  const asked = r.by === null ? 'by the schedule' : `${r.by} asked for it`;
  const who = r.method === null ? asked : 'with another payment method of the customer';
  return note(s, ctx, r.by === null ? 'decision' : 'person', `retry ${r.number}, ${who}: ${what}`, r.ref);
}

/**
 * An `invoice.created` of the invoice as it is now, as Document 3, rule 5 wants it for a retry. Its id is ours: Stripe makes no second
 * event of this type for an invoice, and the MoR would take the first one's id for a repetition.
 */
function eventOf(id: string, shown: ShownToRetry, now: Date): string {
  const { apiVersion, livemode, object } = shown;
  const head = { id, object: 'event', api_version: apiVersion, created: Math.floor(now.getTime() / 1000) };
  const tail = { livemode, pending_webhooks: 1, request: { id: null, idempotency_key: null }, type: 'invoice.created' };
  return `${JSON.stringify(head).slice(0, -1)},"data":{"object":${object}},${JSON.stringify(tail).slice(1)}`;
}
