// What is known of the refusals of one renewal, and of what followed them: read and written here alone.
import { type InvoiceRow, type LaneState } from '../../domain/model.js';
import { type Retry, type RetryTrail } from '../../domain/retry.js';
import { type Ctx, lastingName, putInvoice } from '../../engine/change.js';
import { DAY_MS, HOUR_MS } from '../../policy.js';

/** Writes a changed trail down. */
export function putTrail(s: LaneState, retries: RetryTrail): LaneState {
  return s.invoice === null ? s : putInvoice(s, { ...s.invoice, retries });
}

/** Changes one retry of the trail. */
export function putRetry(s: LaneState, number: number, over: Partial<Retry>): LaneState {
  const trail = s.invoice?.retries;
  if (!trail) return s;
  const retries = trail.retries.map((r) => (r.number === number ? { ...r, ...over } : r));
  return putTrail(s, { ...trail, retries });
}

/** By when a verdict on a charge that is ordered now is expected: as long as on the first one. */
export function verdictDueBy(i: InvoiceRow, ctx: Ctx): Date {
  const { renewalAlarmAfterHours: hours, bankDebitAlarmAfterDays: days } = ctx.settings;
  return new Date(ctx.now.getTime() + (i.paysByDebit === true ? days * DAY_MS : hours * HOUR_MS));
}

/** A name for retry `number` of an invoice. */
export function retryName(prefix: 'evt_crossbill' | 'lnk', invoiceId: string, number: number): string {
  return lastingName(prefix, invoiceId, 'retry', number);
}
