// The MoR's verdict on an invoice: if and until when Crossbill expects one, and the item about a missing verdict.
import { type LaneRows } from '../../../shared/domain/model.js';
import {
  dueDate,
  isLiveProforma,
  type MorObjectRow,
  TRANSFERRED,
  verdictBy,
} from '../../../shared/domain/mor-object.js';
import { effectName } from '../../../shared/domain/payment-name.js';
import { showTime } from '../../../shared/domain/show-time.js';
import { isOver, SIGNUP_REASON } from '../../../shared/domain/status.js';
import { type Lane } from '../../../engine/lane.js';
import { itemRule } from '../../../engine/items.js';
import { type Lookup } from '../../../engine/lookup.js';
import { awaitsRetry } from '../../books/rules/awaited-verdict.js';
import { mayBringMoney, saysNothing } from '../../books/rules/payment-state.js';
import { isUnknownToUs } from './first-charge.js';
import { enrolmentStatus } from '../../../shared/domain/enrolment.js';
import { DAY_MS, HOUR_MS } from '../../../shared/policy.js';
import { type ChoiceRule } from '../../../engine/commanded.js';

/**
 * Sets the deadline for the verdict. Crossbill expects the MoR to collect an enrolled customer's invoice with an amount
 * due, but not a signup's first invoice. A manual invoice sent by e-mail has no deadline.
 */
export function expectVerdict(lane: Lane): void {
  const i = lane.invoice;
  if (i === null || i.expectedBy !== null) return;
  if (i.platformStatus === 'unknown' || i.billingReason === SIGNUP_REASON) return;
  if (i.amountDue === null || i.amountDue <= 0n || enrolmentStatus(lane) !== 'enrolled') return;
  if (i.billingReason === 'manual' && i.collectionMethod === 'send_invoice') return;
  // The MoR gets the final invoice alone, and Stripe may leave a draft open for 72 hours.
  if (i.relayDueAt !== null && i.platformStatus === 'draft' && lane.settings.relay !== null) return;
  // Nobody could charge a draft while nothing was due on it.
  const since = i.draftedDue === 0n ? lane.now : i.firstSeenAt;
  i.expectedBy = new Date(since.getTime() + lane.settings.renewalAlarmAfterHours * HOUR_MS);
}

const OVERDUE_CLEARS = {
  'no-verdict': 'the verdict came, or the customer has more time to pay',
  'transfer-overdue': 'the invoice is settled, or the customer has more time to pay',
};

/** Items for a renewal without a verdict, and for a refused renewal with an unpaid proforma invoice. */
export const overdueItems = itemRule(OVERDUE_CLEARS, function* (lane) {
  const i = lane.invoice;
  if (i === null || i.expectedBy === null || mustAskDebit(lane)) return;
  const o = unpaidProforma(lane);
  if ((hasVerdict(lane) && o === undefined) || !lane.isPast(verdictBy(i, lane.objects))) return;
  const item = { kind: 'renewal_overdue', about: { id: i.invoiceId } } as const;
  if (hasVerdict(lane)) {
    if (o === undefined) return;
    const dueAt = dueDate(o).toISOString();
    yield { ...item, fact: { code: 'transfer-overdue', proforma: o.number ?? o.morId ?? o.id, dueAt } };
    return;
  }
  const p = lane.payments.findLast(saysNothing);
  const due = i.amountDue === null || i.currency === null ? null : { minor: i.amountDue, currency: i.currency };
  const letGo = p === undefined ? null : { payment: effectName(p), charge: p.processorChargeId };
  yield { ...item, fact: { code: 'no-verdict', due, since: awaitedSince(lane), letGo, charges: mayCharge(lane) } };
});

/** True if Crossbill can ask the MoR to charge a renewal that nobody ever charged: in whole, as a final invoice. */
export function mayCharge({ invoice: i, settings }: Pick<Lane, 'invoice' | 'settings'>): boolean {
  if (i === null || settings.relay === null || i.retries !== null) return false;
  return i.platformStatus === 'open' && i.amountRemaining === i.amountDue;
}

/**
 * The unpaid proforma invoice of a refused renewal. While the customer can pay it, Crossbill does not charge
 * (features/retries/rules/refusal.ts).
 */
function unpaidProforma({ invoice: i, objects, payments }: LaneRows): MorObjectRow | undefined {
  if (i === null || isOver(i.platformStatus) || i.amountDue === 0n || payments.some(mayBringMoney)) return;
  return objects.find((o) => isLiveProforma(o) && o.morId !== null && !TRANSFERRED.has(o.status));
}

/**
 * Carries out a person's choice. `retry`: Crossbill waits for the verdict again, for the full time. If nobody ever
 * charged the renewal, it first asks the MoR for a charge.
 */
export const chooseOverdue: ChoiceRule = (lane, _, { resolution }) => {
  const i = lane.invoice;
  if (resolution !== 'retry' || i === null) return null;
  if (mayCharge(lane)) i.relayDueAt = lane.now;
  i.expectedBy = lane.in(lane.settings.renewalAlarmAfterHours * HOUR_MS);
  return null;
};

/**
 * For a late verdict: checks if the customer pays by bank debit. A debit takes days, and the MoR sends no event about a
 * debit under way.
 */
export const debitLookup: Lookup<string, boolean> = {
  name: 'ask-debit',
  wanted: (lane) => (mustAskDebit(lane) ? (lane.invoice?.customerId ?? null) : null),
  ask: (customerId, { signups }) => signups.paysByDebit(customerId),
  apply: (lane, paysByDebit) => {
    const i = lane.invoice;
    if (i === null || i.expectedBy === null || i.paysByDebit !== null) return;
    i.paysByDebit = paysByDebit;
    if (!paysByDebit) return;
    const since = Date.parse(awaitedSince(lane));
    const by = new Date(Math.max(i.expectedBy.getTime(), since + lane.settings.bankDebitAlarmAfterDays * DAY_MS));
    i.expectedBy = by;
    lane.log('decision', `this customer pays by bank debit: a verdict is expected by ${showTime(by)}`);
  },
};

/** True if the verdict is late, and Crossbill does not know yet if the customer pays by bank debit. */
export function mustAskDebit(lane: LaneRows & { readonly now: Date }): boolean {
  const i = lane.invoice;
  if (i === null || i.customerId === null || i.paysByDebit !== null || hasVerdict(lane)) return false;
  const by = verdictBy(i, lane.objects);
  return by !== null && by.getTime() <= lane.now.getTime();
}

/** True if the MoR has given its verdict on the last try, or somebody settled the invoice without the MoR. */
export function hasVerdict(lane: LaneRows): boolean {
  const i = lane.invoice;
  const reported = lane.payments.some((p) => !saysNothing(p));
  // Stripe may show no such invoice because STRIPE_API_KEY is of another account. A planned charge still needs a verdict.
  const isLost = i !== null && i.relayDueAt !== null && isUnknownToUs(i);
  const isSettled = i !== null && (isOver(i.platformStatus) || i.amountDue === 0n);
  return (reported && !awaitsRetry(lane)) || (isSettled && !isLost);
}

/**
 * When the wait for a verdict began: when Crossbill first learned of the invoice, or when it last requested a charge.
 */
function awaitedSince(lane: LaneRows): string {
  const since = awaitsRetry(lane) ? (lane.invoice?.retries?.waitingSince ?? null) : null;
  return since ?? lane.invoice?.firstSeenAt.toISOString() ?? '';
}
