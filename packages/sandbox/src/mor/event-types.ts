// The event types a merchant may subscribe to (Document 2, Events), and the event ids derived from the object.

export const EVENT_TYPES = [
  'proforma_invoice.issued',
  'proforma_invoice.issuance_failed',
  'proforma_invoice.settled',
  'dispute.action_needed',
  'dispute.outcome',
  'dispute.revision_requested',
  'pre_chargeback_alert.received',
  'pre_chargeback_alert.outcome',
  'payment.captured',
  'e_invoice.issued',
  'e_invoice.issuance_failed',
  'e_invoice.cancelled',
  'payment.settled',
  'report.available',
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

/** Document 2 announces these types. A merchant can subscribe to them, but the MoR never sends such an event. */
export const NEVER_SENT: readonly string[] = ['payment.settled', 'report.available'];

export function isEventType(value: string): value is EventType {
  return EVENT_TYPES.some((type) => type === value);
}

/**
 * The id of an event, such as `evt_issued_<id>`. For `proforma_invoice.settled` it is `evt_<id>` (Document 2).
 */
export function eventIdFor(type: EventType, entityId: string): string {
  if (type === 'proforma_invoice.settled') return `evt_${entityId}`;
  return `evt_${type.slice(type.indexOf('.') + 1)}_${entityId}`;
}
