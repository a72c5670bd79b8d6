// POST /_sandbox/events: sends disputes, alerts and any other event of Document 2 to its subscribers.
import { Fields } from '../kernel/json.js';
import { type Kernel } from '../kernel/kernel.js';
import { EVENT_TYPES, type EventType, eventIdFor } from './event-types.js';
import { type MorState } from './state.js';
import { type WebhookEndpoints } from './webhook-endpoints.js';

const DAY_MS = 86_400_000;

/** Document 2's members of disputes and alerts. They complete an event if the control request leaves them out. */
function defaults(type: EventType, mor: MorState, nowMs: number): Readonly<Record<string, unknown>> {
  const deadline = new Date(nowMs + 7 * DAY_MS).toISOString();
  switch (type) {
    case 'dispute.action_needed':
      return { deadline, dashboardUrl: `${mor.baseUrl}/dashboard/disputes` };
    case 'dispute.outcome':
      return { outcome: 'won' };
    case 'dispute.revision_requested':
      return { reviewerNote: 'Please add proof of delivery.', deadline };
    case 'pre_chargeback_alert.outcome':
      return { refunded: false };
    default:
      return {};
  }
}

/** The id of the event's object, found under the usual names. */
function entityOf(data: Readonly<Record<string, unknown>>): string | null {
  for (const name of ['disputeId', 'alertId', 'eInvoiceId', 'proformaInvoiceId', 'id', 'paymentId', 'payment_id']) {
    const value = data[name];
    if (typeof value === 'string' && value !== '') return value;
  }
  return null;
}

export function addEventControl(kernel: Kernel, mor: MorState, endpoints: WebhookEndpoints): void {
  kernel.control('POST', '/_sandbox/events', 'an event of Document 2: {type, data, id?}', (request) => {
    const fields = new Fields(request.body);
    const type = fields.oneOf('type', EVENT_TYPES);
    const given = fields.optionalObject('data') ?? {};
    const data = { ...defaults(type, mor, kernel.clock.nowMs()), ...given };
    const id = fields.optionalString('id') ?? eventIdFor(type, entityOf(given) ?? kernel.random.uuid());
    return { status: 201, body: { id, type, data, endpoints: endpoints.announce('main', id, type, data) } };
  });
  kernel.control(
    'GET',
    '/_sandbox/accounts',
    'credentials: the merchant, the partner, and a foreign one of each',
    () => ({
      status: 200,
      body: {
        merchant: mor.merchantCredentials,
        partner: mor.partnerCredentials,
        other_merchant: mor.otherMerchantCredentials,
        other_partner: mor.otherPartnerCredentials,
      },
    }),
  );
}
