// A card payment that the MoR captured (`payment.captured`). The MoR reports it in a `payment.*` event too (Document 3), so
// Crossbill stores only the payment's uuid: e-invoices and documents use it.
import { idsIn, type MorServiceEvent } from '../../../shared/domain/events/mor-service-event.js';
import { idNamed } from '../../../shared/domain/events/payload-fields.js';
import { type Lane } from '../../../engine/lane.js';
import { done, type EventOutcome } from '../../../engine/event.js';
import { paymentNamed } from '../../books/rules/payment-rows.js';
import { type EventRow } from '../../../feature.js';
import { findOrAddObject } from './mor-object.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function applyCapture(lane: Lane, event: MorServiceEvent): EventOutcome {
  keepCapture(lane, event, paymentNamed(lane, new Set(idsIn(event.data)))?.id ?? null);
  return done('a card payment: its own payment.* event counts');
}

/** Stores the uuid of the captured payment. `paymentRowId`: our id of the payment; null: unknown. */
export function keepCapture(lane: Lane, event: MorServiceEvent, paymentRowId: string | null): void {
  const morId = idNamed(event.data, 'paymentId', 'payment_id');
  if (morId === null || !UUID.test(morId)) return;
  const o = findOrAddObject(lane, 'capture', morId);
  if (o.status === 'CAPTURED' && o.paymentRowId === paymentRowId) return;
  Object.assign(o, { status: 'CAPTURED', paymentRowId, updatedAt: lane.now });
}

export const captured = {
  apply: applyCapture,
  unknown: ({ eventId: event }: MorServiceEvent) => ({
    kind: 'conflicting_event' as const,
    fact: { code: 'unknown-capture' as const, event },
  }),
  mayBeUnderWay: () => true,
} satisfies EventRow<'payment.captured'>;
