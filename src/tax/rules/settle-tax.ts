// Tax at rest: each paid invoice gets its transaction and each counted refund of it its tax refund, after everything else.
import { showMoney } from '../../domain/money.js';
import { type LaneState, type PaymentOrigin, type PaymentRow, type RefundRow } from '../../domain/model.js';
import { type MorObjectRow } from '../../domain/mor-object.js';
import { moveTax, type TaxRecord } from '../../domain/tax-record.js';
import { addMessage, type Ctx, note, openReview, putObject, putTax } from '../../domain/lane/change.js';
import { effectName } from '../../domain/lane/payment.js';
import { saleOf } from '../../domain/lane/surplus.js';
import { nameOf } from '../../channels/rules/mor-object.js';
import { shares } from './amounts.js';

/** Document 3's word for a refund without a reason; the MoR wants one for each line (Document 2). */
const NO_REASON = 'requested_by_customer';

/** Bank transfers and hosted links are priced and taxed at the MoR itself: a proforma invoice brings its own tax transaction. */
const CHARGED: ReadonlySet<string> = new Set<PaymentOrigin>(['renewal', 'signup']);

export function settleTax(s: LaneState, ctx: Ctx): LaneState {
  let state = s;
  const charged = chargedFor(s);
  let transaction = s.taxes.find((t) => t.kind === 'transaction');
  if (transaction === undefined) {
    // What was begun under another MOR_PRODUCT is finished: a transaction that is there is given back with its refunds.
    if (ctx.settings.morProduct !== 'tor') return s;
    const [paid] = charged;
    if (paid === undefined) return s;
    const shadow = ctx.settings.shadow === true;
    // What is calculated comes from the MoR's answer to a call that shadow mode does not make: nothing can be rehearsed.
    transaction = shadow ? { ...newTax(ctx, paid, null), stage: 'closed' } : newTax(ctx, paid, null);
    const said = shadow ? 'shadow mode: its tax is left to others, for good' : 'its tax is to be committed at the MoR';
    state = note(putTax(state, transaction), ctx, 'decision', said, transaction.id);
  }
  // A part payment leaves the rest due, and nobody knows yet how that is paid.
  if (transaction.stage === 'waiting' && s.invoice?.platformStatus === 'paid') {
    transaction = moveTax(transaction, 'gathering', ctx.now);
    state = putTax(state, transaction);
  }
  if (transaction.stage === 'gathering') {
    // A link or transfer turned out to have brought all of it, before anything was asked of the MoR.
    const [first] = charged;
    if (first === undefined) {
      state = closed(state, transaction, ctx);
      transaction = { ...transaction, stage: 'closed' };
    } else if (!charged.some((p) => p.id === transaction?.paymentRowId)) {
      // Or the money that it was begun for, and a card the rest.
      transaction = { ...transaction, paymentRowId: first.id };
      state = putTax(state, transaction);
    }
  }
  if (transaction.stage === 'committed') state = tellTwice(state, transaction, ctx);
  if (transaction.stage === 'committed' || transaction.stage === 'closed') state = closeOthers(state, charged, ctx);
  for (const r of state.refunds) {
    const p = charged.find((x) => x.id === r.paymentRowId);
    if (p === undefined || !r.counted) continue;
    // What of it lowers the sale is known once it is shown on Stripe; a surplus had no tax.
    if (r.mirror === 'waiting' || saleOf(r) === 0n) continue;
    const own = state.taxes.find((t) => t.refundId === r.id);
    const t = own ?? newTax(ctx, p, r);
    if (own === undefined) state = putTax(state, t);
    if (t.stage === 'waiting' && transaction.stage === 'closed') state = closed(state, t, ctx);
    // A call that shadow mode writes down is never sent: it waits until that ends.
    const isNow = transaction.stage === 'committed' && ctx.settings.shadow !== true;
    if (t.stage === 'waiting' && isNow) state = startRefund(state, transaction, t, r, ctx);
  }
  return state;
}

/** The payments of the invoice whose tax is ours to commit: one transaction for all of them. */
export function chargedFor(s: LaneState): readonly PaymentRow[] {
  return s.payments.filter((p) => p.mark === 'confirmed' && isOurs(s, p) && (p.amount ?? 0n) > 0n);
}

/** Its own event may have told of a link's money first, as of a card's: what was committed with it is kept, and given back with its refunds. */
function isOurs(s: LaneState, p: PaymentRow): boolean {
  const o = broughtBy(s, p);
  return CHARGED.has(p.origin) && (o === undefined || (o.detail.taxedAtMor !== true && isTaxedTwice(s)));
}

/** The transaction was committed with a link's money too: it comes to more than what else was charged. One without amounts may have been. */
function isTaxedTwice(s: LaneState): boolean {
  const t = s.taxes.find((x) => x.kind === 'transaction' && x.stage === 'committed');
  if (t === undefined) return false;
  const others = s.payments.filter(
    (x) => x.mark === 'confirmed' && CHARGED.has(x.origin) && broughtBy(s, x) === undefined,
  );
  const rest = others.reduce((sum, x) => sum + (x.amount ?? 0n), 0n);
  return t.lines.length === 0 || t.lines.reduce((sum, l) => sum + BigInt(l.amount), 0n) > rest;
}

function broughtBy(s: LaneState, p: PaymentRow): MorObjectRow | undefined {
  return s.objects.find((o) => o.paymentRowId === p.id && (o.kind === 'proforma' || o.kind === 'payment_link'));
}

/** Written down with the calculation: what links and transfers brought is not in it. */
export function leaveOut(s: LaneState): LaneState {
  return s.payments.reduce((state, p) => {
    const o = p.mark === 'confirmed' ? broughtBy(state, p) : undefined;
    return o === undefined ? state : putObject(state, { ...o, detail: { ...o.detail, taxedAtMor: true } });
  }, s);
}

/** Tax refunds of money that turned out to be a link's: the MoR gives that tax back by itself. */
function closeOthers(s: LaneState, charged: readonly PaymentRow[], ctx: Ctx): LaneState {
  const others = s.taxes.filter(
    (t) => t.kind === 'refund' && t.stage === 'waiting' && !charged.some((p) => p.id === t.paymentRowId),
  );
  return others.reduce((state, t) => closed(state, t, ctx), s);
}

/** The MoR was asked for the tax of money before anything told that a link had brought it. */
function tellTwice(s: LaneState, t: TaxRecord, ctx: Ctx): LaneState {
  return chargedFor(s).reduce((state, p) => {
    const o = broughtBy(s, p);
    if (o === undefined) return state;
    return openReview(state, ctx, {
      kind: 'conflicting_event',
      subject: `tax:${t.reference}:${o.id}`,
      paymentRowId: p.id,
      summary: `payment ${effectName(p)} was taken on ${nameOf(o)}, whose tax the MoR commits itself, and its tax was committed from here too`,
      proposal: `Ask the MoR to take one of the two back: the transaction from here has the reference ${t.reference}. Then dismiss this.`,
    });
  }, s);
}

/**
 * What of the sale was paid by bank transfer or on hosted links: it is taxed at the MoR already. What came beyond the amount that was asked
 * for there is no sale.
 */
export function taxedElsewhere(s: LaneState): bigint {
  const others = s.payments.filter((p) => p.mark === 'confirmed' && !isOurs(s, p));
  return others.reduce((sum, p) => {
    const taken = p.amount ?? 0n;
    const o = broughtBy(s, p);
    const asked = o?.currency === p.currency ? (o.amount ?? taken) : taken;
    return sum + (asked < taken ? asked : taken);
  }, 0n);
}

/**
 * Document 2's key of a tax refund, made of the MoR's names, which survive a restored backup. Its own id of the refund comes first: the
 * answer to a request always has it, and an event may. One that has neither id is told by the running total.
 */
function refundReference(p: PaymentRow, r: RefundRow): string {
  const place = r.totalAfter === null ? null : `${r.amount}-of-${r.totalAfter}`;
  const name = r.morRefundId ?? r.processorRefundId ?? place;
  return name === null ? r.id : `${effectName(p)}:${name}`;
}

function newTax(ctx: Ctx, p: PaymentRow, r: RefundRow | null): TaxRecord {
  return {
    id: ctx.newId('tax'),
    kind: r === null ? 'transaction' : 'refund',
    invoiceId: p.invoiceId,
    paymentRowId: p.id,
    refundId: r?.id ?? null,
    stage: 'waiting',
    reference: r === null ? p.invoiceId : refundReference(p, r),
    taxCalculationId: null,
    morId: null,
    currency: p.currency,
    lines: [],
    calculations: 0,
    dueAt: null,
    attempts: 0,
    createdAt: ctx.now,
    updatedAt: ctx.now,
  };
}

/** A person records it elsewhere (the item was dismissed), or the MoR itself does, and with a transaction its refunds. */
export function closed(s: LaneState, t: TaxRecord, ctx: Ctx): LaneState {
  const state = putTax(s, moveTax(t, 'closed', ctx.now));
  return note(state, ctx, 'decision', 'its tax is not committed by Crossbill', t.id);
}

/** Writes the commit of a calculation down. Only called once its payment is marked. */
export function startCommit(s: LaneState, t: TaxRecord, taxCalculationId: string, ctx: Ctx): LaneState {
  const p = s.payments.find((x) => x.id === t.paymentRowId);
  if (p === undefined) return s;
  const paymentReference = p.processorChargeId ?? p.reference ?? effectName(p);
  const wire = ctx.encodeMor({ kind: 'commit_tax', taxCalculationId, reference: t.reference, paymentReference });
  const state = addMessage(s, ctx, { peer: 'mor', kind: 'commit_tax', subject: t.reference, wire });
  const moved: TaxRecord = { ...moveTax(t, 'committing', ctx.now), taxCalculationId, calculations: t.calculations + 1 };
  return note(putTax(state, moved), ctx, 'decision', `commit tax calculation ${taxCalculationId}`, t.id);
}

/** The refund's amount, shared over what is left of the transaction's lines, to the last unit. */
function startRefund(s: LaneState, transaction: TaxRecord, t: TaxRecord, r: RefundRow, ctx: Ctx): LaneState {
  const left = transaction.lines.map(({ lineItemId, amount }) => ({
    lineItemId,
    left: BigInt(amount) - takenOf(s, lineItemId),
  }));
  const sum = left.reduce((n, l) => n + (l.left > 0n ? l.left : 0n), 0n);
  const taxed = saleOf(r);
  const parts =
    taxed > sum
      ? null
      : shares(
          taxed,
          left.map((l) => l.left),
        );
  if (parts === null || transaction.morId === null) {
    const money = (minor: bigint): string => showMoney({ minor, currency: r.currency });
    const why = `its lines have ${money(sum)} left and ${money(taxed)} was refunded`;
    return parkTax(s, t, 'refund_tax', `the tax of refund ${r.id} cannot be refunded: ${why}`, ctx);
  }
  const lines = left
    .map(({ lineItemId }, i) => ({ lineItemId, gross: parts[i] ?? 0n }))
    .filter(({ gross }) => gross > 0n);
  const succeededAt = r.succeededAt ?? ctx.now;
  const wire = ctx.encodeMor({
    kind: 'refund_tax',
    transactionId: transaction.morId,
    reference: t.reference,
    // Document 2: not later than today; the MoR's clock and ours may differ by a little.
    refundedAt: succeededAt.getTime() > ctx.now.getTime() ? ctx.now : succeededAt,
    reason: r.reason ?? NO_REASON,
    currency: r.currency,
    lines,
  });
  const state = addMessage(s, ctx, { peer: 'mor', kind: 'refund_tax', subject: t.reference, wire });
  const moved: TaxRecord = {
    ...moveTax(t, 'committing', ctx.now),
    lines: lines.map(({ lineItemId, gross }) => ({ lineItemId, amount: gross.toString() })),
  };
  return note(putTax(state, moved), ctx, 'decision', "refund the refund's share of the tax", t.id);
}

/** What earlier tax refunds took, or are taking, of a line. */
function takenOf(s: LaneState, lineItemId: string): bigint {
  return s.taxes
    .filter((t) => t.kind === 'refund' && (t.stage === 'committing' || t.stage === 'committed'))
    .flatMap((t) => t.lines)
    .filter((l) => l.lineItemId === lineItemId)
    .reduce((n, l) => n + BigInt(l.amount), 0n);
}

/** Nothing more is tried before a person says so; the mark of the invoice is not touched by it. */
export function parkTax(
  s: LaneState,
  t: TaxRecord,
  call: 'calculate_tax' | 'commit_tax' | 'refund_tax',
  summary: string,
  ctx: Ctx,
  proposal = "Supply or fix what is named, then retry; or record it in the MoR's portal by hand and dismiss this.",
): LaneState {
  return openReview(putTax(s, { ...moveTax(t, 'parked', ctx.now), lines: t.kind === 'refund' ? [] : t.lines }), ctx, {
    kind: 'effect_failed',
    subject: `${call}:${t.reference}`,
    paymentRowId: t.paymentRowId,
    ...(t.refundId === null ? {} : { refundId: t.refundId }),
    summary,
    proposal,
  });
}
