// The notification about a payment link.
import { currency, customerFacts, invoicePage, number, time } from '../../../core/books/rules/notice-facts.js';
import { type PublicInvoiceStatus } from '../../../shared/domain/invoice-row.js';
import { type LaneState } from '../../../shared/domain/model.js';
import { type MorObjectRow } from '../../../shared/domain/mor-object.js';
import { type Notice } from '../../../shared/domain/notification.js';
import { flag, text } from '../../../shared/domain/notification-fields.js';
import {
  amountOrNull,
  currencyOrNull,
  CUSTOMER,
  invoiceId,
  invoicePageField,
  notification,
  soon,
  sum,
} from '../../../shared/domain/notification-parts.js';

export const linkNotifications = {
  'payment_link.created': notification(
    'A payment link for an invoice can be sent to its customer',
    {
      payment_link_id: text("The MoR's id of the payment link.", 'pl_sample'),
      invoice_id: invoiceId,
      ...CUSTOMER,
      url: text(
        'The page for the payment. Anybody with this address can pay: give it to the customer only.',
        'https://pay.example/pl_sample',
      ),
      amount: amountOrNull,
      currency: currencyOrNull,
      expires_at: soon('The last moment to pay by the link.'),
      automatic: flag('True: Crossbill made it after a failed renewal.', true),
      console: invoicePageField,
    },
    (d) => `Invoice ${d.invoice_id} has a payment link of ${sum(d)}: ${d.url}`,
  ),
};

declare module '../../../shared/domain/notification.js' {
  interface FeatureNotifications {
    readonly 'payment_link.created': (typeof linkNotifications)['payment_link.created'];
  }
}

// In these statuses the customer has nothing to pay. The backend would send the customer a new link, so Crossbill makes
// no notification about the link.
const NOTHING_TO_PAY: ReadonlySet<PublicInvoiceStatus> = new Set(['marking', 'paid', 'void']);

export function tellLinks(before: LaneState, after: LaneState): readonly Notice[] {
  if (after.invoice !== null && NOTHING_TO_PAY.has(after.invoice.status)) return [];
  const made = (object: MorObjectRow): boolean =>
    object.kind === 'payment_link' && object.morId !== null && object.url !== null;
  return after.objects.flatMap((o): Notice[] => {
    const { morId, url } = o;
    if (!made(o) || morId === null || url === null || before.objects.some((x) => x.id === o.id && made(x))) return [];
    const data = {
      payment_link_id: morId,
      invoice_id: o.invoiceId,
      ...customerFacts(after),
      url,
      amount: number(o.amount),
      currency: currency(o.currency),
      expires_at: time(o.deadline),
      automatic: o.detail.automatic === true,
      console: invoicePage(o.invoiceId),
    };
    return [{ type: 'payment_link.created', subject: morId, data }];
  });
}
