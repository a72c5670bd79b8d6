// Takes in what was found out for a tax calculation, and what the MoR answered about tax.
import { showMoney } from '../../domain/money.js';
import { type LaneState, type OutboxRow, type ReviewRow } from '../../domain/model.js';
import { type CallFailure, type CallOutcome, mayPass, said } from '../../domain/ports/call.js';
import { type TaxBasis, type TaxCalculationFacts } from '../../domain/ports/tax.js';
import { moveTax, type TaxRecord } from '../../domain/tax-record.js';
import {
  addMessage,
  closeReviews,
  type Ctx,
  note,
  openReview,
  putMessage,
  putTax,
  retryAt,
} from '../../domain/lane/change.js';
import { chargedFor, closed, leaveOut, parkTax, startCommit, taxedElsewhere } from './settle-tax.js';
import { calculationFor } from './amounts.js';
import { isTaxOf } from './tax-review.js';
import { type TaxAnswer } from '../../domain/lane/answer.js';
import { FAILED_READS_SHOWN, RETRY_LONGEST_PAUSE_MS, TAX_CALCULATIONS } from '../../policy.js';
import { type CallRule, carriedOut, type ErrandRule } from '../../domain/lane/subject.js';

/** Either the calculation that a signup was bound to, or what the platform knows of the invoice. */
export type TaxFound =
  | { readonly from: 'signup'; readonly taxCalculationId: string }
  | { readonly from: 'platform'; readonly outcome: CallOutcome<TaxBasis | null> };

export function applyTaxFound(s: LaneState, taxId: string, found: TaxFound, ctx: Ctx): LaneState {
  const t = s.taxes.find((x) => x.id === taxId);
  if (t?.stage !== 'gathering') return s;
  if (found.from === 'signup') {
    // Nothing tells what it comes to before it is committed: what was paid stands in the record until then.
    const paid = s.payments.find((x) => x.id === t.paymentRowId)?.amount ?? null;
    const lines = paid === null ? [] : [{ lineItemId: found.taxCalculationId, amount: paid.toString() }];
    return startCommit(leaveOut(s), { ...t, lines }, found.taxCalculationId, ctx);
  }
  const { outcome } = found;
  if (!outcome.ok) {
    const attempts = t.attempts + 1;
    const slow = !mayPass(outcome);
    const later = putTax(s, { ...t, attempts, dueAt: retryAt(ctx, attempts, outcome.retryAfterMs, slow) });
    return attempts > FAILED_READS_SHOWN
      ? later
      : note(later, ctx, 'call', `reading what tax needs failed: ${said(outcome)}`, t.id);
  }
  if (outcome.value === null) return parkTax(s, t, 'calculate_tax', 'Stripe no longer knows the invoice', ctx);
  const { value: basis } = outcome;
  const asked = calculationFor({ ...basis, total: basis.total - taxedElsewhere(s) });
  if (!asked.ok) {
    return parkTax(s, t, 'calculate_tax', `its tax cannot be calculated without ${asked.missing.join('; ')}`, ctx);
  }
  const wire = ctx.encodeMor(asked.call);
  const state = addMessage(leaveOut(s), ctx, { peer: 'mor', kind: 'calculate_tax', subject: t.reference, wire });
  // What is asked for stands in the record until the answer was compared with it.
  const lines = asked.call.lines.map(({ reference, gross }) => ({ lineItemId: reference, amount: gross.toString() }));
  const moved = { ...moveTax(t, 'calculating', ctx.now), attempts: 0, dueAt: null, lines };
  return note(putTax(state, moved), ctx, 'decision', 'calculate the tax from the invoice', t.id);
}

export function applyTaxAnswer(s: LaneState, m: OutboxRow, a: TaxAnswer, ctx: Ctx): LaneState {
  const t = recordOf(s, m);
  if (t === undefined) return s;
  switch (a.kind) {
    case 'calculate_tax':
      return t.stage === 'calculating' ? applyCalculation(forget(s, m), t, a.calculation, ctx) : s;
    case 'commit_tax': {
      if (t.stage !== 'committing') return s;
      const { transactionId, lines } = a.transaction;
      const known = lines.flatMap(({ lineItemId, gross }) =>
        gross === null ? [] : [{ lineItemId, amount: gross.toString() }],
      );
      const done = `tax transaction ${transactionId} is committed`;
      const state = committed(s, { ...t, lines: known }, transactionId, done, ctx);
      return known.length < lines.length ? state : tellOtherTotal(state, t, transactionId, sumOf(known), ctx);
    }
    case 'refund_tax':
      if (t.stage !== 'committing') return s;
      return committed(s, t, a.taxRefundId, `tax refund ${a.taxRefundId} is committed`, ctx);
  }
}

function sumOf(lines: TaxRecord['lines']): bigint {
  return lines.reduce((sum, line) => sum + BigInt(line.amount), 0n);
}

/** The calculation that a signup named is committed unseen. One of another amount than was paid cannot be taken back from here. */
function tellOtherTotal(s: LaneState, t: TaxRecord, transactionId: string, total: bigint, ctx: Ctx): LaneState {
  const paid = sumOf(t.lines);
  if (t.lines.length === 0 || total === paid) return s;
  const show = (minor: bigint): string => showMoney({ minor, currency: t.currency });
  return openReview(s, ctx, {
    kind: 'conflicting_event',
    subject: `tax:${t.reference}`,
    paymentRowId: t.paymentRowId,
    summary: `tax transaction ${transactionId} was committed for ${show(total)}, by the calculation that the signup named, and ${show(paid)} was paid`,
    proposal:
      "Find out which calculation the signup should have named, and correct the transaction in the MoR's portal. Then dismiss this.",
  });
}

/** `INCLUSIVE` lines come to what was asked for, to the last unit: another total is of something else, and is not committed. */
function applyCalculation(s: LaneState, t: TaxRecord, c: TaxCalculationFacts, ctx: Ctx): LaneState {
  const asked = sumOf(t.lines);
  const clear = { ...t, lines: [] };
  // A record that an older release left here does not know what it asked for.
  if (t.lines.length === 0 || (c.total === asked && c.currency === t.currency))
    return startCommit(s, clear, c.taxCalculationId, ctx);
  const came =
    c.total === null ? `no exact amount of ${c.currency}` : showMoney({ minor: c.total, currency: c.currency });
  const wanted = showMoney({ minor: asked, currency: t.currency });
  return parkTax(s, clear, 'calculate_tax', `its tax was calculated for ${came}, and ${wanted} was asked for`, ctx);
}

function committed(s: LaneState, t: TaxRecord, morId: string, text: string, ctx: Ctx): LaneState {
  const done = putTax(s, { ...moveTax(t, 'committed', ctx.now), morId });
  const cleared = closeReviews(done, ctx, (r) => r.kind === 'effect_failed' && isTaxOf(r, t), {
    by: null,
    resolution: 'cleared',
    note: text,
  });
  return note(cleared, ctx, 'decision', text, t.id);
}

export function applyTaxRefused(s: LaneState, m: OutboxRow, f: CallFailure, ctx: Ctx): LaneState {
  const t = recordOf(s, m);
  if (t === undefined || (t.stage !== 'calculating' && t.stage !== 'committing')) return s;
  if (m.kind === 'commit_tax' && cannotBeUsed(f) && t.calculations < TAX_CALCULATIONS) {
    const again = putTax(s, { ...moveTax(t, 'gathering', ctx.now), attempts: 0, dueAt: null });
    return note(
      again,
      ctx,
      'decision',
      `calculation ${t.taxCalculationId ?? ''} cannot be used: calculating again`,
      t.id,
    );
  }
  if (m.kind !== 'calculate_tax' && m.kind !== 'commit_tax' && m.kind !== 'refund_tax') return s;
  const fields = f.errors.map((e) => `${e.field} ${e.message}`).join('; ');
  const told = `${m.kind} was refused: ${said(f)}${fields === '' ? '' : ` (${fields})`}`;
  return parkTax(m.kind === 'calculate_tax' ? forget(s, m) : s, t, m.kind, told, ctx, isMade(m, f) ? MADE : undefined);
}

const MADE =
  'The MoR has a tax refund under this reference with other lines or amounts, as when a backup was restored and the refunds of this payment came back in another order. Compare the two at the MoR, do not record it a second time, and dismiss this.';

/** Document 2, refund errors: the reference was used with other lines or amounts. The shares of two refunds depend on their order, to a cent. */
function isMade(m: OutboxRow, f: CallFailure): boolean {
  return m.kind === 'refund_tax' && f.code === 'invalid_state' && f.errors[0]?.field === 'merchantRefundReference';
}

/** A calculation's request holds where the customer lives; answered, it is not sent again and needs no copy here. */
function forget(s: LaneState, { id }: OutboxRow): LaneState {
  const m = s.messages.find((x) => x.id === id);
  return m === undefined ? s : putMessage(s, { ...m, wire: { ...m.wire, body: null } });
}

/** Document 2, transaction errors: the calculation has expired, was used under another reference, or is not known. */
function cannotBeUsed(f: CallFailure): boolean {
  if (f.status === 404) return true;
  return f.code === 'invalid_state' && f.errors[0]?.field === 'taxCalculationId';
}

/** A person says: once more. A transaction starts over with its calculation, a refund with its shares. */
export function retryTax(s: LaneState, r: ReviewRow, ctx: Ctx): LaneState {
  const t = s.taxes.find((x) => x.stage === 'parked' && isTaxOf(r, x));
  if (t === undefined) return s;
  const to = t.kind === 'transaction' ? 'gathering' : 'waiting';
  return putTax(s, { ...moveTax(t, to, ctx.now), calculations: 0, attempts: 0, dueAt: null });
}

/** A person says: not from here. */
export function dismissTax(s: LaneState, r: ReviewRow, ctx: Ctx): LaneState {
  const t = s.taxes.find((x) => x.stage === 'parked' && isTaxOf(r, x));
  return t === undefined ? s : closed(s, t, ctx);
}

function recordOf(s: LaneState, m: OutboxRow): TaxRecord | undefined {
  const kind = m.kind === 'refund_tax' ? 'refund' : 'transaction';
  return s.taxes.find((t) => t.kind === kind && t.reference === m.subject);
}

/** The three calls of tax. */
export const taxCall: CallRule<TaxAnswer> = {
  order: 3,
  answered: applyTaxAnswer,
  refused: applyTaxRefused,
  resolve: (s, r, { resolution }, ctx) => {
    return carriedOut(resolution === 'dismiss' ? dismissTax(s, r, ctx) : retryTax(s, r, ctx));
  },
};

export const taxErrand: ErrandRule = (s, ctx, due) => {
  for (const t of s.taxes) {
    // What was begun before shadow mode was switched on goes on when it ends: until then it stays in the queue, as calls do.
    if (ctx.settings.shadow === true && (t.stage === 'gathering' || (t.kind === 'refund' && t.stage === 'waiting')))
      due(new Date(ctx.now.getTime() + RETRY_LONGEST_PAUSE_MS));
    if (ctx.settings.shadow === true || t.stage !== 'gathering' || !due(t.dueAt)) continue;
    // What a signup was bound to is the tax of its own payment, and says nothing of a rest that was charged later.
    const isBound = t.calculations === 0 && chargedFor(s).length === 1;
    const p = isBound ? s.payments.find((x) => x.id === t.paymentRowId) : undefined;
    const [signupId, intentId] = [p?.signupId ?? null, p?.processorPaymentIntentId ?? null];
    return { do: 'gather-tax', taxId: t.id, invoiceId: t.invoiceId, signupId, intentId };
  }
  return null;
};
