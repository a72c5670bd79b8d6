// Crossbill's own request for the first charge of a renewal: an `invoice.created` event with the invoice as it is now.
import { renderCreated } from '../../../shared/domain/events/created-event.js';
import { type CallRow } from '../../../shared/domain/call-row.js';
import { showMoney } from '../../../shared/domain/money.js';
import { type ShownToRelay } from '../../../shared/domain/ports/billing-platform.js';
import { lastingName } from '../../../engine/context.js';
import { type Lane } from '../../../engine/lane.js';
import { verdictDueBy } from './awaited-verdict.js';

const OWN_EVENT = 'evt_crossbill';

/** True for a relayed event that Crossbill made. An event of Stripe has Stripe's id. */
export function isOwnEvent({ subject }: Pick<CallRow, 'subject'>): boolean {
  return subject.startsWith(`${OWN_EVENT}_`);
}

/** The id of the event for the MoR. `number` counts these events of an invoice from 1. */
export function firstChargeName(invoiceId: string, number: number): string {
  return lastingName(OWN_EVENT, invoiceId, 'first', number);
}

/**
 * Requests the first charge of a final invoice. Returns the id of the event for the MoR. Null: nothing is due, or a part
 * of it is paid: the MoR charges whole invoices only.
 * @param by who asked for it; null: nobody, the invoice has become final
 */
export function requestFirstCharge(lane: Lane, shown: ShownToRelay, by: string | null): string | null {
  const i = lane.invoice;
  if (i === null) return null;
  i.relayDueAt = null;
  i.expectedBy = verdictDueBy(i, lane);
  const { amountRemaining: minor, amountDue, currency } = shown.invoice;
  if (minor <= 0n) return null;
  if (minor !== amountDue) {
    lane.log('decision', 'the MoR is not asked to charge: a part is paid, and it charges whole invoices only');
    return null;
  }
  const number = 1 + lane.calls.filter((m) => m.kind === 'relay_event' && isOwnEvent(m)).length;
  const id = firstChargeName(i.invoiceId, number);
  const wire = { method: 'POST', path: '', body: renderCreated(id, shown, lane.now) } as const;
  lane.request({ peer: 'relay', kind: 'relay_event', subject: id, wire });
  const why = by === null ? 'the invoice is final' : `${by} asked for it`;
  lane.log(by === null ? 'decision' : 'person', `ask the MoR to charge ${showMoney({ minor, currency })}: ${why}`, id);
  return id;
}
