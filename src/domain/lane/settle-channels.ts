// Disputes, alerts and links at rest: what a person must know is an item, and it closes itself when its cause is gone.
import { showMoney } from '../money.js';
import { type LaneState, type PaymentRow } from '../model.js';
import { isPayableLink, type MorObjectRow, TRANSFERRED } from '../mor-object.js';
import { disputeLost } from '../postings.js';
import { addEntry, closeReviews, type Ctx, note, openReview, openReviewOf, putObject, putPayment } from './change.js';
import { nextLook } from './object-looks.js';

/** Money that came for the invoice itself is its customer's: no event of Document 2 names one. */
export function nameCustomers(s: LaneState): LaneState {
  const customerId = s.invoice?.customerId ?? null;
  if (customerId === null) return s;
  let state = s;
  for (const p of s.payments) if (p.customerId === '') state = putPayment(state, { ...p, customerId });
  return state;
}

export function settleChannels(s: LaneState, ctx: Ctx): LaneState {
  let state = lookAgain(s, ctx);
  for (const o of state.objects) {
    if (o.kind === 'dispute') state = settleDispute(state, o, ctx);
    if (o.kind === 'alert') state = settleAlert(state, o, ctx);
    if (o.kind === 'payment_link') state = settleLink(state, o, ctx);
    if (o.kind === 'proforma') state = settleTransfer(state, o, ctx);
  }
  return state;
}

/** Webhooks may be lost for good: what can change at the MoR is looked at now and then. */
function lookAgain(s: LaneState, ctx: Ctx): LaneState {
  let state = s;
  for (const o of s.objects) {
    const at = o.readDueAt === null && o.morId !== null ? nextLook(o, ctx.now) : null;
    if (at !== null) state = putObject(state, { ...o, readDueAt: at });
  }
  return state;
}

/** The item names the dispute and its stage, so that evidence that was sent back is a new item and not the one dismissed before. */
function settleDispute(s: LaneState, o: MorObjectRow, ctx: Ctx): LaneState {
  const morId = o.morId ?? o.id;
  const subjects = {
    action_needed: morId,
    revision_requested: `${morId}:revision`,
    lost: `${morId}:lost`,
    decided: `${morId}:decided`,
  };
  const close = (state: LaneState, keep: string | null, why: string): LaneState =>
    closeReviews(
      state,
      ctx,
      (r) => r.kind === 'dispute' && r.subject !== keep && Object.values(subjects).includes(r.subject),
      { by: null, resolution: 'cleared', note: why },
    );
  const about = { kind: 'dispute' as const, paymentRowId: o.paymentRowId };
  const dueAt = o.deadline;
  switch (o.status) {
    case 'action_needed':
      return openReview(s, ctx, {
        ...about,
        dueAt,
        subject: subjects.action_needed,
        summary: `the customer's bank disputes ${sumOf(s, o)}: dispute ${morId}, evidence is needed ${until(o)}`,
        proposal: `Send evidence in the MoR's dashboard${o.url === null ? '' : ` (${o.url})`}. The invoice stays paid meanwhile.`,
      });
    case 'revision_requested': {
      const said = o.detail.reviewerNote;
      return openReview(close(s, subjects.revision_requested, 'the evidence was sent back'), ctx, {
        ...about,
        dueAt,
        subject: subjects.revision_requested,
        summary: `the evidence for dispute ${morId} was sent back, new evidence is needed ${until(o)}${said ? `: ${said}` : ''}`,
        proposal: `Amend the evidence in the MoR's dashboard${o.url === null ? '' : ` (${o.url})`}.`,
      });
    }
    case 'won':
      return close(s, null, `dispute ${morId} was won: the payment stands`);
    case 'lost':
      return settleLost(close(s, subjects.lost, `dispute ${morId} was lost`), o, subjects.lost, ctx);
    case 'decided': {
      const said = o.detail.outcome ?? 'no outcome given';
      const subject = subjects.decided;
      return openReview(close(s, subject, `dispute ${morId} was decided`), ctx, {
        ...about,
        subject,
        summary: `dispute ${morId} was decided in words that are not known here: ${said}`,
        proposal: "Look it up in the MoR's dashboard: whether the money was taken back is not in the books.",
      });
    }
    default:
      return s;
  }
}

function settleLost(s: LaneState, o: MorObjectRow, subject: string, ctx: Ctx): LaneState {
  const morId = o.morId ?? o.id;
  const p = s.payments.find((x) => x.id === o.paymentRowId);
  let state = s;
  const amount = p === undefined ? 0n : lostAmount(s, p, o);
  if (p !== undefined && p.succeededAt !== null && o.detail.booked !== true && amount > 0n) {
    state = addEntry(state, disputeLost(p, o.id, amount, ctx.now));
    state = putObject(state, { ...o, detail: { ...o.detail, booked: true } });
    const what = showMoney({ minor: amount, currency: p.currency });
    state = note(state, ctx, 'decision', `${what} was taken back by the bank: dispute ${morId} is lost`, o.id);
  }
  return openReview(state, ctx, {
    kind: 'dispute',
    subject,
    paymentRowId: o.paymentRowId,
    summary: `dispute ${morId} was lost: the bank took ${sumOf(s, o)} back`,
    proposal: 'Decide whether the customer is billed anew or the loss is written off. The invoice stays paid.',
  });
}

/** What the bank took: the dispute's own amount where it fits, else all that was neither given back nor taken before. */
function lostAmount(s: LaneState, p: PaymentRow, o: MorObjectRow): bigint {
  const before = s.objects.filter((x) => x.id !== o.id && x.paymentRowId === p.id && x.detail.booked === true);
  const taken = before.reduce((sum, x) => sum + (x.amount ?? p.amount ?? 0n), 0n);
  const rest = (p.amount ?? 0n) - p.amountRefunded - taken;
  return o.amount !== null && o.currency === p.currency && o.amount < rest ? o.amount : rest;
}

function sumOf(s: LaneState, o: MorObjectRow): string {
  if (o.amount !== null && o.currency !== null) return showMoney({ minor: o.amount, currency: o.currency });
  const p = s.payments.find((x) => x.id === o.paymentRowId);
  return p === undefined || p.amount === null ? 'a payment' : showMoney({ minor: p.amount, currency: p.currency });
}

function until(o: MorObjectRow): string {
  return o.deadline === null ? '(no deadline given)' : `by ${o.deadline.toISOString()}`;
}

/** A refund made by an alert is the same refund as its `payment.refunded`: nothing is recorded from here. */
function settleAlert(s: LaneState, o: MorObjectRow, ctx: Ctx): LaneState {
  const morId = o.morId ?? o.id;
  const subject = `alert:${morId}`; // a dispute may have the same id, where both go by their payment's
  const outcome = `alert:${morId}:outcome`;
  const close = (of: string, why: string, state: LaneState): LaneState =>
    closeReviews(state, ctx, (r) => r.kind === 'dispute' && r.subject === of, {
      by: null,
      resolution: 'cleared',
      note: why,
    });
  const name = s.payments.find((p) => p.id === o.paymentRowId);
  const of = name === undefined ? 'a payment' : `payment ${name.paymentId ?? name.id}`;
  if (o.status === 'received') {
    return openReview(s, ctx, {
      kind: 'dispute',
      subject,
      paymentRowId: o.paymentRowId,
      dueAt: o.deadline,
      summary: `a chargeback of ${sumOf(s, o)} is about to be raised: alert ${morId} on ${of}, to be handled ${until(o)}`,
      proposal: 'Wait for the outcome, or refund the payment now to avoid the chargeback.',
    });
  }
  if (o.status !== 'handled') return s;
  if (o.detail.refunded === false) return close(subject, 'the alert was handled without a refund', s);
  const state = close(subject, 'the alert was handled', s);
  if (isRefunded(s, o, name)) return close(outcome, 'the refund is recorded', state);
  return openReview(state, ctx, {
    kind: 'dispute',
    subject: outcome,
    paymentRowId: o.paymentRowId,
    summary:
      o.detail.refunded === true
        ? `alert ${morId} was answered with a refund of ${of}, which has not been announced yet`
        : `alert ${morId} on ${of} was handled; whether the payment was given back was not said`,
    proposal: 'Its payment.refunded event is the same refund and closes this. Do not refund it a second time.',
  });
}

/** Milliseconds that an alert may be heard of behind the refund that answered it: Document 2 tries to deliver it for some hours. */
const ALERT_PATIENCE_MS = 24 * 3_600_000;

/** Whether the refund that an alert's outcome speaks of is known. One of long before the alert is another. */
function isRefunded(s: LaneState, o: MorObjectRow, p: PaymentRow | undefined): boolean {
  if (p !== undefined && p.amount !== null && p.amountRefunded >= p.amount) return true;
  const since = o.createdAt.getTime() - ALERT_PATIENCE_MS;
  return s.refunds.some(
    ({ status, paymentRowId, succeededAt }) =>
      status === 'succeeded' &&
      (p === undefined || paymentRowId === p.id) &&
      (succeededAt === null || succeededAt.getTime() >= since),
  );
}

/** Milliseconds that the event of a transfer may be behind the state that a read showed. */
export const TRANSFER_PATIENCE_MS = 3_600_000;

/** A read says that the transfer came; how much of it, only the event says. Document 2 tries to deliver it for some hours. */
function settleTransfer(s: LaneState, o: MorObjectRow, ctx: Ctx): LaneState {
  if (!TRANSFERRED.has(o.status)) return s;
  if (o.paymentRowId !== null) {
    return closeReviews(s, ctx, (r) => r.kind === 'conflicting_event' && r.subject === o.id, {
      by: null,
      resolution: 'cleared',
      note: 'the transfer is recorded',
    });
  }
  if (ctx.now.getTime() < o.updatedAt.getTime() + TRANSFER_PATIENCE_MS) return s;
  return openReview(s, ctx, {
    kind: 'conflicting_event',
    subject: o.id,
    summary: `proforma invoice ${o.number ?? o.morId ?? ''} is settled at the MoR, and no event said how much came`,
    proposal: 'Ask the MoR to send proforma_invoice.settled again, or for the amount, and mark the invoice by hand.',
  });
}

/** Paid another way while its link can still be paid: the customer may pay twice. */
function settleLink(s: LaneState, o: MorObjectRow, ctx: Ctx): LaneState {
  const expired = o.status === 'PAYABLE' && !isPayableLink(o, ctx.now);
  const row: MorObjectRow = expired ? { ...o, status: 'EXPIRED', updatedAt: ctx.now } : o;
  const state = expired ? putObject(s, row) : s;
  const paid = s.invoice?.platformStatus === 'paid' || s.invoice?.platformStatus === 'void';
  const subject = o.id;
  if (row.status === 'PAYABLE' && paid && row.detail.capturedAt === undefined) {
    return openReview(state, ctx, {
      kind: 'double_payment',
      subject,
      summary: `the invoice is ${s.invoice?.platformStatus ?? ''}, and payment link ${o.morId ?? o.id} can still be paid ${until(o)}`,
      proposal:
        'Tell the customer not to use the link. A payment on it would be a second one and is shown if it comes.',
    });
  }
  if (row.status === 'PAYABLE' || openReviewOf(state, 'double_payment', subject) === undefined) return state;
  return closeReviews(state, ctx, (r) => r.kind === 'double_payment' && r.subject === subject, {
    by: null,
    resolution: 'cleared',
    note: `the link is ${row.status}`,
  });
}
