// The wait for the MoR's verdict on another charge of a refused renewal.
import { type InvoiceRow } from '../../../shared/domain/invoice-row.js';
import { type LaneState } from '../../../shared/domain/model.js';
import { mayBringMoney } from './payment-state.js';
import { type Lane } from '../../../engine/lane.js';
import { type Ctx } from '../../../engine/context.js';
import { DAY_MS, HOUR_MS } from '../../../shared/policy.js';

/**
 * True if Crossbill waits for the MoR's verdict on another charge of a refused renewal, and no money has arrived since.
 */
export function awaitsRetry(lane: Pick<LaneState, 'invoice' | 'payments'>): boolean {
  const waiting = lane.invoice?.retries?.waitingSince ?? null;
  return waiting !== null && !lane.payments.some(mayBringMoney);
}

/**
 * Starts the wait for the MoR's verdict on a refused renewal at `at`. Null ends the wait. Without a verdict in time, an
 * item opens.
 */
export function awaitVerdict(lane: Lane, at: Date | null): void {
  const i = lane.invoice;
  if (!i?.retries) return;
  i.retries = { ...i.retries, waitingSince: at?.toISOString() ?? null };
  if (at !== null) i.expectedBy = verdictDueBy(i, lane);
}

/** The deadline of the MoR's verdict on a charge requested now. Crossbill waits as long as for the first charge. */
export function verdictDueBy(
  invoice: Pick<InvoiceRow, 'paysByDebit'>,
  { now, settings }: Pick<Ctx, 'now' | 'settings'>,
): Date {
  const { renewalAlarmAfterHours: hours, bankDebitAlarmAfterDays: days } = settings;
  return new Date(now.getTime() + (invoice.paysByDebit === true ? days * DAY_MS : hours * HOUR_MS));
}
