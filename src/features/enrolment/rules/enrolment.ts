// Decides if an invoice's customer is enrolled: one time for each invoice, at the invoice's first event.
import { carries, type Enrolled, enrolmentStatus } from '../../../shared/domain/enrolment.js';
import { type InvoiceRow } from '../../../shared/domain/invoice-row.js';
import { type CallOutcome, mayPass, codesOf } from '../../../shared/domain/ports/call.js';
import { type Enrolment } from '../../../shared/domain/settings.js';
import { SIGNUP_REASON } from '../../../shared/domain/status.js';
import { retryAt } from '../../../engine/context.js';
import { type Lane } from '../../../engine/lane.js';
import { itemRule } from '../../../engine/items.js';
import { type Lookup } from '../../../engine/lookup.js';
import { ENROLMENT_TIMEOUT_MS, LINK_REACHES_BACK_MS } from './limits.js';
import { FAILED_READS_SHOWN } from '../../../shared/policy.js';

/** Our database's facts about a customer. */
export type Known = {
  /** The time of the customer's first link to the MoR. Null if there is none. */
  readonly linkedAt: Date | null;
  /** True if the database has a renewal's or a signup's payment of the customer, even a refused one. */
  readonly paid: boolean;
};

/** Decides from our database if the invoice is enrolled. Null: only Stripe's data can decide this. */
export function fromBooks(
  invoice: { readonly customerId: string; readonly createdAt: Date | null },
  known: Known,
  rule: Enrolment,
): Enrolled | null {
  if (rule.by === 'all' || known.paid) return { enrolled: true };
  if (rule.by === 'metadata') return null;
  const { linkedAt } = known;
  if (linkedAt === null) {
    const why = `customer ${invoice.customerId} is linked to no customer of the MoR (ENROLMENT=linked)`;
    return { enrolled: false, why };
  }
  const since = invoice.createdAt ?? linkedAt;
  if (linkedAt.getTime() - since.getTime() <= LINK_REACHES_BACK_MS) return { enrolled: true };
  return { enrolled: false, why: `the invoice is older than the link of customer ${invoice.customerId} to the MoR` };
}

/** Decides from the customer's metadata at Stripe. `metadata` is null if Stripe has no such customer. */
export function fromPlatform(
  customerId: string,
  metadata: Readonly<Record<string, string>> | null,
  rule: Enrolment,
): Enrolled {
  if (carries(metadata ?? undefined, rule)) return { enrolled: true };
  const wanted = rule.by === 'metadata' ? `${rule.key}=${rule.value}` : '';
  return { enrolled: false, why: `neither its subscription nor customer ${customerId} has ${wanted} (ENROLMENT)` };
}

/**
 * Finds out if the customer is enrolled, before Crossbill expects a verdict and before the relay. A signup's invoice
 * needs no lookup: the signup's charge pays the invoice, enrolled or not.
 */
export const enrolmentLookup: Lookup<InvoiceRow & { readonly customerId: string }, CallOutcome<Enrolled>> = {
  name: 'look-up-enrolment',
  wanted: (lane) => {
    const i = lane.invoice;
    if (i === null || i.platformStatus === 'unknown' || i.billingReason === SIGNUP_REASON) return null;
    const { customerId, lookDueAt } = i;
    if (customerId === null || enrolmentStatus(lane) !== 'unknown') return null;
    return lookDueAt === null || lane.isPast(lookDueAt) ? { ...i, customerId } : null;
  },
  ask: ({ customerId, subscriptionId, collectionMethod, platformCreatedAt: createdAt }, { customers }) =>
    customers.readEnrolment({ customerId, subscriptionId, collectionMethod, createdAt }),
  apply: applyEnrolment,
};

export function applyEnrolment(lane: Lane, outcome: CallOutcome<Enrolled>): void {
  const i = lane.invoice;
  if (i === null || i.enrolled !== null) return;
  if (outcome.ok) {
    const { value: found } = outcome;
    Object.assign(i, { enrolled: found.enrolled, lookDueAt: null, lookAttempts: 0 });
    if (!found.enrolled) lane.log('decision', `not enrolled: ${found.why}`);
    return;
  }
  i.lookAttempts += 1;
  i.lookDueAt = retryAt(lane.ctx, i.lookAttempts, outcome.retryAfterMs, !mayPass(outcome));
  if (i.lookAttempts <= FAILED_READS_SHOWN)
    lane.log('call', `Crossbill could not read from Stripe whether the customer is enrolled: ${codesOf(outcome)}`);
}

/** Withdraws the relay for a customer outside ENROLMENT. */
export function withdrawRelay(lane: Lane): void {
  if (enrolmentStatus(lane) !== 'outside') return;
  for (const m of lane.calls)
    if (m.kind === 'relay_event' && m.status === 'pending')
      Object.assign(m, { status: 'cancelled', answeredAt: lane.now });
}

/**
 * Yields a review item if Crossbill has failed for a while to read from Stripe whether the customer is enrolled. Until
 * a read succeeds, Crossbill expects no verdict.
 */
export const unreadItems = itemRule({ 'enrolment-unread': 'Crossbill knows the enrolment now' }, function* (lane) {
  const i = lane.invoice;
  if (i === null || i.lookDueAt === null || enrolmentStatus(lane) !== 'unknown') return;
  if (!lane.isPast(new Date(i.firstSeenAt.getTime() + ENROLMENT_TIMEOUT_MS))) return;
  const fact = { code: 'enrolment-unread', customer: i.customerId, since: i.firstSeenAt.toISOString() } as const;
  yield { kind: 'effect_failed', about: { id: i.invoiceId }, subject: `enrolment:${i.invoiceId}`, fact };
});
