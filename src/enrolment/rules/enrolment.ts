// Whose invoices are expected to be paid through the MoR: decided once for each invoice, when we first learn of it. Money makes every
// invoice ours, whatever was decided.
import { closeReviews, type Ctx, note, openReview, putInvoice, putMessage, retryAt } from '../../engine/change.js';
import { type ErrandRule, type SettleRule } from '../../engine/subject.js';
import { type LaneState } from '../../domain/model.js';
import { type InvoiceFacts } from '../../domain/ports/billing-platform.js';
import { type CallOutcome, mayPass, said } from '../../domain/ports/call.js';
import { type Enrolment } from '../../domain/settings.js';
import { isOutside, SIGNUP_REASON } from '../../domain/status.js';
import { ENROLMENT_PATIENCE_MS, FAILED_READS_SHOWN, LINK_REACHES_BACK_MS } from '../../policy.js';

/** What a look found. `why`: for the timeline, when it is outside. */
export type Found = { readonly enrolled: true } | { readonly enrolled: false; readonly why: string };

/** What is known of a customer here. */
export type Known = {
  /** When the first link to a customer of the MoR was made; null: there is none. */
  readonly linkedAt: Date | null;
  /** The MoR has sent a `payment.*` event for one of its invoices. */
  readonly paid: boolean;
};

export type Standing = 'enrolled' | 'outside' | 'unknown';

export function standingOf(s: LaneState, ctx: Ctx): Standing {
  const i = s.invoice;
  if (i === null) return 'unknown';
  if (isOutside(s)) return 'outside';
  if (ruleOf(ctx).by === 'all' || i.enrolled !== null || i.expectedBy !== null) return 'enrolled';
  return s.payments.length > 0 || s.objects.length > 0 ? 'enrolled' : 'unknown';
}

export function ruleOf({ settings }: Pick<Ctx, 'settings'>): Enrolment {
  return settings.enrolment ?? { by: 'all' };
}

/** What the invoice itself carries of its subscription's metadata enrols it, at once and without a look. */
export function takeMetadata(s: LaneState, facts: InvoiceFacts, ctx: Ctx): LaneState {
  const i = s.invoice;
  if (i === null || i.enrolled === true || !carries(facts.metadata, ruleOf(ctx))) return s;
  return putInvoice(s, { ...i, enrolled: true });
}

export function carries(metadata: Readonly<Record<string, string>> | undefined, rule: Enrolment): boolean {
  return rule.by === 'metadata' && metadata !== undefined && metadata[rule.key] === rule.value;
}

/** What our own books say of the customer; null: they do not tell, the platform must be asked. */
export function fromBooks(
  invoice: { readonly customerId: string; readonly createdAt: Date | null },
  known: Known,
  rule: Enrolment,
): Found | null {
  if (rule.by === 'all' || known.paid) return { enrolled: true };
  if (rule.by === 'metadata') return null;
  const { linkedAt } = known;
  if (linkedAt === null) {
    const why = `customer ${invoice.customerId} is linked to no customer of the MoR (ENROLMENT=linked)`;
    return { enrolled: false, why };
  }
  const since = invoice.createdAt ?? linkedAt;
  if (linkedAt.getTime() - since.getTime() <= LINK_REACHES_BACK_MS) return { enrolled: true };
  return { enrolled: false, why: `it is older than the link of customer ${invoice.customerId} to the MoR` };
}

/** What the platform shows of the customer; null: it does not know it. */
export function fromPlatform(
  customerId: string,
  metadata: Readonly<Record<string, string>> | null,
  rule: Enrolment,
): Found {
  if (carries(metadata ?? undefined, rule)) return { enrolled: true };
  const wanted = rule.by === 'metadata' ? `${rule.key}=${rule.value}` : '';
  const why = `neither its subscription nor customer ${customerId} carries ${wanted} (ENROLMENT)`;
  return { enrolled: false, why };
}

/** A look is needed before anything is expected or relayed. A signup's invoice is paid at signup, enrolled or not. */
export const enrolmentErrand: ErrandRule = (s, ctx, due) => {
  const i = s.invoice;
  if (i === null || i.platformStatus === 'unknown' || i.billingReason === SIGNUP_REASON) return null;
  const { customerId } = i;
  if (customerId === null || standingOf(s, ctx) !== 'unknown' || !due(i.lookDueAt)) return null;
  return { do: 'look-up-enrolment', invoice: { ...i, customerId } };
};

export function applyEnrolment(s: LaneState, outcome: CallOutcome<Found>, ctx: Ctx): LaneState {
  const i = s.invoice;
  if (i === null || i.enrolled !== null) return s;
  if (outcome.ok) {
    const found = outcome.value;
    const state = putInvoice(s, { ...i, enrolled: found.enrolled, lookDueAt: null, lookAttempts: 0 });
    return found.enrolled ? state : note(state, ctx, 'decision', `not enrolled: ${found.why}`);
  }
  const lookAttempts = i.lookAttempts + 1;
  const slow = !mayPass(outcome);
  const lookDueAt = retryAt(ctx, lookAttempts, outcome.retryAfterMs, slow);
  const later = putInvoice(s, { ...i, lookAttempts, lookDueAt });
  if (lookAttempts > FAILED_READS_SHOWN) return later;
  return note(later, ctx, 'call', `whether its customer is enrolled could not be read from Stripe: ${said(outcome)}`);
}

/** Outside nothing is relayed. Who cannot be looked up is shown to a person. */
export const settleEnrolment: SettleRule = (s, ctx, lookAgain) => {
  const standing = standingOf(s, ctx);
  if (standing === 'outside') return withdrawRelay(cleared(s, ctx), ctx);
  const i = s.invoice;
  if (standing === 'enrolled' || i === null || i.lookDueAt === null) return cleared(s, ctx);
  const by = new Date(i.firstSeenAt.getTime() + ENROLMENT_PATIENCE_MS);
  if (by.getTime() > ctx.now.getTime()) {
    lookAgain(by);
    return s;
  }
  return openReview(s, ctx, {
    kind: 'effect_failed',
    subject: subjectOf(i.invoiceId),
    fact: { code: 'enrolment-unread', customer: i.customerId, since: i.firstSeenAt.toISOString() },
  });
};

const subjectOf = (invoiceId: string): string => `enrolment:${invoiceId}`;

function cleared(s: LaneState, ctx: Ctx): LaneState {
  const how = { by: null, resolution: 'cleared', note: 'it is known whether the customer is enrolled' } as const;
  return closeReviews(s, ctx, (r) => r.subject === subjectOf(s.lane), how);
}

function withdrawRelay(s: LaneState, ctx: Ctx): LaneState {
  const waiting = s.messages.filter((m) => m.kind === 'relay_event' && m.status === 'pending');
  return waiting.reduce((state, m) => putMessage(state, { ...m, status: 'cancelled', answeredAt: ctx.now }), s);
}
