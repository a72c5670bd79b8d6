// Enrolment decides if the MoR should collect an invoice. After a payment from the MoR the invoice counts as enrolled,
// whatever the setting says.
import { type LaneRows } from './model.js';
import { type Enrolment, type DecisionSettings } from './settings.js';
import { isOutside } from './status.js';

/** The answer to: should the MoR collect this invoice? `why`: the reason against it, for the invoice's timeline. */
export type Enrolled = { readonly enrolled: true } | { readonly enrolled: false; readonly why: string };

export type EnrolmentStatus = 'enrolled' | 'outside' | 'unknown';

/** The enrolment setting. Absent: all customers are enrolled. */
export function ruleOf({ settings }: { readonly settings: Pick<DecisionSettings, 'enrolment'> }): Enrolment {
  return settings.enrolment ?? { by: 'all' };
}

export function enrolmentStatus(
  lane: Pick<LaneRows, 'invoice' | 'payments' | 'objects'> & Parameters<typeof ruleOf>[0],
): EnrolmentStatus {
  const { invoice, payments, objects } = lane;
  if (invoice === null) return 'unknown';
  if (isOutside(lane)) return 'outside';
  if (ruleOf(lane).by === 'all' || invoice.enrolled !== null || invoice.expectedBy !== null) return 'enrolled';
  return payments.length > 0 || objects.length > 0 ? 'enrolled' : 'unknown';
}

/** True if the metadata of the customer, subscription or invoice has the key and the value of the setting. */
export function carries(metadata: Readonly<Record<string, string>> | undefined, rule: Enrolment): boolean {
  return rule.by === 'metadata' && metadata?.[rule.key] === rule.value;
}
