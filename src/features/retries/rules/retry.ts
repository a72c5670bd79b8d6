// Makes the retries of a refused renewal, and ends the schedule. Crossbill reads the invoice before each step.
import { isEnded } from '../../../shared/domain/ports/billing-reader.js';
import { renderCreated } from '../../../shared/domain/events/created-event.js';
import { showMoney } from '../../../shared/domain/money.js';
import { type LaneRows } from '../../../shared/domain/model.js';
import { type InvoiceFacts, type ShownToRetry } from '../../../shared/domain/ports/billing-platform.js';
import { type CallOutcome } from '../../../shared/domain/ports/call.js';
import {
  type ConfirmedMethod,
  END_WORDS,
  type Means,
  type Retry,
  type RetryEnd,
} from '../../../shared/domain/retry.js';
import { lastingName } from '../../../engine/context.js';
import { type Refusal, refuse, type Result } from '../../../engine/commanded.js';
import { type Lane } from '../../../engine/lane.js';
import { isFresh, applyLateRead, invoiceLookup, applyInvoiceRead } from '../../../core/books/rules/invoice-facts.js';
import { type Lookup } from '../../../engine/lookup.js';
import { verdictDueBy } from '../../../core/books/rules/awaited-verdict.js';
import { requestFirstCharge } from '../../../core/books/rules/own-request.js';
import { NO_PORTS } from '../../../engine/ports.js';
import { decideNext, type Next, offerRetry } from './decide-retry.js';

/**
 * How to retry: by a charge or a payment link. A charge needs `shown`, the invoice as Stripe shows it now, because the
 * MoR gets this invoice in an event.
 */
export type How =
  { readonly means: 'charge'; readonly shown: ShownToRetry } | { readonly means: Exclude<Means, 'charge'> };

/** The cause of a retry: a person or the merchant's backend (`by`), a new payment method, or the schedule (null). */
export type Cause = { readonly by: string } | { readonly method: ConfirmedMethod } | null;

/** The retry's id: the id of an event for the MoR, or of a payment link. */
export function retryName(prefix: 'evt_crossbill' | 'lnk', invoiceId: string, number: number): string {
  return lastingName(prefix, invoiceId, 'retry', number);
}

/** Makes a retry. The caller has checked `findObstacle`. Null: nothing is due, or no link is possible. */
export function makeRetry(lane: Lane, how: How, cause: Cause): Retry | null {
  const i = lane.invoice;
  const history = i?.retries ?? null;
  if (i === null || history === null || i.amountRemaining === null || i.amountRemaining <= 0n) return null;
  const number = history.retries.length + 1;
  const retry: Retry = {
    number,
    at: lane.now.toISOString(),
    kind: history.refusal.kind,
    means: how.means,
    by: cause === null ? null : 'by' in cause ? cause.by : cause.method.by,
    ref: retryName(how.means === 'charge' ? 'evt_crossbill' : 'lnk', i.invoiceId, number),
    minor: i.amountRemaining.toString(),
    method: cause !== null && 'method' in cause ? cause.method.id : null,
    withdrawn: false,
  };
  if (how.means === 'link' && !(lane.ctx.ports ?? NO_PORTS).requestLink(lane, retry.ref)) return null;
  const waitingSince = how.means === 'charge' ? retry.at : history.waitingSince;
  i.retries = { ...history, retries: [...history.retries, retry], waitingSince, askedAt: null };
  if (how.means === 'charge') {
    i.expectedBy = verdictDueBy(i, lane); // a new wait begins: without a verdict an item opens
    const wire = { method: 'POST', path: '', body: renderCreated(retry.ref, how.shown, lane.now) } as const;
    const order = { subject: i.invoiceId, generation: number, key: retry.ref, wire };
    lane.request({ peer: 'relay', kind: 'retry_charge', ...order });
  }
  const due = showMoney({ minor: i.amountRemaining, currency: i.currency ?? '' });
  const what =
    retry.means === 'charge'
      ? `Crossbill asks the MoR to charge ${due} again`
      : `Crossbill makes a payment link of ${due}`;
  const asked = retry.by === null ? 'by the schedule' : `${retry.by} asked for it`;
  const who = retry.method === null ? asked : 'with another payment method of the customer';
  lane.log(retry.by === null ? 'decision' : 'person', `retry ${number}, ${who}: ${what}`, retry.ref);
  return retry;
}

export type RetryRequest = {
  /** The invoice as Stripe showed it at `askedAt`. */
  readonly shown: ShownToRetry;
  readonly askedAt: Date;
  readonly by: string;
};

/**
 * One requested charge or link. `id`: the retry's number as text, or the id of the event for a first charge (`number`
 * null). A repeated request finds its retry by this id.
 */
export type MadeRetry = Pick<Retry, 'means'> & { readonly id: string; readonly number: number | null };

/** Makes a retry for a person or the merchant's backend: the schedule's next step, without the step's wait. */
export function requestRetry(lane: Lane, { shown, askedAt, by }: RetryRequest): Result<MadeRetry> {
  applyLateRead(lane, shown.invoice, askedAt);
  const { means, why } = offerRetry(lane, lane);
  if (means === null) return refuseRetry(why);
  // A person can still make a payment link.
  if (means === 'charge' && isEnded(shown.subscriptionStatus))
    return refuseRetry(
      `its subscription is ${shown.subscriptionStatus ?? ''}. If the customer still owes the money, make a payment link.`,
    );
  if (means === 'link' && lane.invoice?.platformStatus !== 'open')
    return refuseRetry('it is still a draft, and a payment link needs a final invoice. Finalize it on Stripe first.');
  // A worker may have read another amount in the meantime. The MoR charges the amount in the event, and the event would
  // contain the old amount.
  if (means === 'charge' && lane.invoice?.amountRemaining !== shown.invoice.amountRemaining)
    return refuseRetry('the amount due changed while Crossbill read the invoice. Try again.');
  if (lane.invoice?.retries === null && means === 'charge') {
    const event = requestFirstCharge(lane, shown, by);
    return event === null ? refuseRetry('nothing is due on it.') : { ok: true, value: firstCharge(event) };
  }
  const retry = makeRetry(lane, means === 'charge' ? { means, shown } : { means }, { by });
  return retry === null ? refuseRetry('nothing is due on it.') : { ok: true, value: named(retry) };
}

/** Finds the retry of an earlier request. */
export function findRetry({ invoice, calls }: LaneRows, id: string): MadeRetry | undefined {
  if (calls.some((m) => m.kind === 'relay_event' && m.subject === id)) return firstCharge(id);
  const retry = invoice?.retries?.retries.find((r) => String(r.number) === id);
  return retry === undefined ? undefined : named(retry);
}

const named = ({ number, means }: Retry): MadeRetry => ({ id: String(number), number, means });
const firstCharge = (event: string): MadeRetry => ({ id: event, number: null, means: 'charge' });

/** The refusal of a retry by a person or the backend. */
export function refuseRetry(why: string): Refusal {
  return refuse(409, 'invoice_not_retryable', `You cannot retry this invoice: ${why}`);
}

/** Carries out the next step, except a charge (see `orderIfWanted`). Stores the time of the next try on the invoice. */
export function followSchedule(lane: Lane): void {
  if ((lane.invoice?.retries ?? null) === null) return;
  act(lane);
  const next = decideNext(lane, lane);
  if (next.do !== 'idle') lane.decideAgain(next.at);
  if (lane.invoice !== null) lane.invoice.nextTryAt = next.do === 'retry' ? next.at : null;
}

function act(lane: Lane): void {
  const next = decideNext(lane, lane);
  const i = lane.invoice;
  if (i === null || next.do === 'idle' || next.at > lane.now) return;
  if (next.do === 'end' && next.how === 'nothing') return endSchedule(lane, 'nothing');
  if (i.platformStatus !== 'open' || !isFresh(i, lane.now)) return; // the lookup reads the invoice first
  if (next.do === 'retry') {
    if (next.means === 'link') makeRetry(lane, { means: 'link' }, causeOf(next));
    return;
  }
  const { invoiceId, subscriptionId } = i;
  if (next.how === 'uncollectible') lane.call({ kind: 'mark_uncollectible', invoiceId }, invoiceId);
  else if (subscriptionId === null) return endSchedule(lane, 'nothing', 'the invoice has no subscription to cancel');
  else lane.call({ kind: 'cancel_subscription', invoiceId, subscriptionId }, invoiceId);
  endSchedule(lane, next.how);
}

function endSchedule(lane: Lane, how: RetryEnd, why: string | null = null): void {
  const i = lane.invoice;
  if (!i?.retries) return;
  i.retries = { ...i.retries, ended: { at: lane.now.toISOString(), how, why } };
  lane.log('decision', `the schedule of retries is over (${why ?? 'no step is left'}): ${END_WORDS[how]}`);
}

/** The id of the invoice to read before the due step. Null: no read is due. Every charge needs a new read. */
function findDueRead(lane: Lane, before: 'charge' | 'other'): string | null {
  const i = lane.invoice;
  if (i === null || i.retries === null) return null;
  const next = decideNext(lane, lane);
  const isCharge = next.do === 'retry' && next.means === 'charge';
  if (next.do === 'idle' || isCharge !== (before === 'charge') || !lane.isPast(next.at)) return null;
  if (!isCharge && isFresh(i, lane.now)) return null;
  return i.readDueAt === null || lane.isPast(i.readDueAt) ? i.invoiceId : null;
}

/** Reads invoice and subscription before a charge. */
export const readToRetry: Lookup<string, CallOutcome<ShownToRetry | null>> = {
  name: 'read-to-retry',
  wanted: (lane) => findDueRead(lane, 'charge'),
  ask: (invoiceId, { platform }) => platform.readToRetry(invoiceId),
  apply: (lane, outcome) => {
    const shown = outcome.ok ? outcome.value : null;
    const read = outcome.ok ? { ...outcome, value: shown?.invoice ?? null } : outcome;
    applyInvoiceRead(lane, read);
    if (shown !== null) orderIfWanted(lane, shown);
  },
};

/** Reads the invoice at Stripe before the schedule makes a payment link or ends. */
export const readBeforeStep: Lookup<string, CallOutcome<InvoiceFacts | null>> = {
  ...invoiceLookup,
  wanted: (lane) => findDueRead(lane, 'other'),
};

/** Requests a charge from the MoR, if the invoice and its subscription still allow it after the read. */
export function orderIfWanted(lane: Lane, shown: ShownToRetry): void {
  const next = decideNext(lane, lane);
  if (next.do !== 'retry' || next.means !== 'charge' || next.at > lane.now) return;
  if (isEnded(shown.subscriptionStatus)) endSchedule(lane, 'nothing', 'its subscription has ended');
  else makeRetry(lane, { means: 'charge', shown }, causeOf(next));
}

const causeOf = ({ method }: Extract<Next, { do: 'retry' }>): Cause => (method === undefined ? null : { method });
