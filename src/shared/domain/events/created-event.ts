// Crossbill's own `invoice.created` event for the MoR.
import { type ShownToRelay } from '../ports/billing-platform.js';

/**
 * Makes an `invoice.created` event with the invoice as it is now. Stripe makes only one such event for an invoice, when
 * it is still a draft; the MoR charges on this event alone (Document 3, "What the service does", 4 and 5). The event has
 * an id of Crossbill's own: under Stripe's id the MoR would take it for a repeated delivery.
 */
export function renderCreated(id: string, { apiVersion, livemode, object }: ShownToRelay, now: Date): string {
  const head = { id, object: 'event', api_version: apiVersion, created: Math.floor(now.getTime() / 1000) };
  const tail = { livemode, pending_webhooks: 1, request: { id: null, idempotency_key: null }, type: 'invoice.created' };
  return `${JSON.stringify(head).slice(0, -1)},"data":{"object":${object}},${JSON.stringify(tail).slice(1)}`;
}
