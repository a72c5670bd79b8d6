// The page of a customer: the money first, then who it is, the newest payments, invoices and refunds, and the rest.
import { type Html, html } from '../../frames/console/html.js';
import { columnsOf } from '../../frames/console/fields.js';
import { type Column, more, table } from '../../frames/console/list.js';
import { invoiceFields } from '../invoices/invoice.fields.js';
import { invoiceListView } from '../invoices/invoice.view.js';
import { paymentFields } from '../payments/payment.fields.js';
import { paymentView } from '../payments/payment.view.js';
import { refundFields } from '../refunds/refund.fields.js';
import { listedRefundView } from '../refunds/refund.view.js';
import { customerFields } from './customer.fields.js';
import { type CustomerLinkView, linkView } from './customer-link.view.js';
import {
  amount,
  count,
  facts,
  foreign,
  headed,
  id,
  moneyLink,
  section,
  status,
  time,
} from '../../frames/console/show.js';
import { type Enrolment } from '../../shared/domain/settings.js';
import { type CustomerSum } from '../payments/payments.repository.js';
import { type InvoiceListItem } from '../invoices/invoices.repository.js';
import { type ListedRefund, type PaymentView } from '../../engine/read-model.js';
import { type CustomerLink } from '../../shared/domain/customer-link.js';
import { type FoundCustomer } from '../../frames/console/finder.js';
import { type MethodsShown, methodsPart } from './methods-part.js';

export type CustomerShown = {
  readonly customerId: string;
  /** The customer at Stripe. `unknown`: Stripe has no such customer. Null: Stripe did not reply. */
  readonly atStripe: FoundCustomer | 'unknown' | null;
  readonly enrolment: Enrolment;
  readonly sums: readonly CustomerSum[];
  readonly invoices: readonly InvoiceListItem[];
  readonly payments: readonly PaymentView[];
  readonly refunds: readonly ListedRefund[];
  /** What features show of the customer. */
  readonly parts: readonly (Html | null)[];
  readonly links: readonly CustomerLink[];
  readonly methods: MethodsShown;
};

export function customerPart(customerShown: CustomerShown): Html {
  const all = `?customer_id=${encodeURIComponent(customerShown.customerId)}`;
  return html`${section('Money', table('By currency, over all time', SUMS, customerShown.sums, 'Payments and refunds of this customer appear here.'))}
  ${whoItIs(customerShown)}
  ${section(
    'Payments',
    html`${table('Newest first', PAYMENTS, customerShown.payments.map(paymentView), 'Payments of this customer appear here.')}${more(customerShown.payments, `/console/payments${all}`, 'All payments')}`,
  )}
  ${section(
    'Invoices',
    html`${table('Newest first', INVOICES, customerShown.invoices.map(invoiceListView), 'Invoices of this customer appear here.')}${more(customerShown.invoices, `/console/invoices${all}`, 'All invoices')}`,
  )}
  ${customerShown.refunds.length > 0 && section('Refunds', html`${table('Newest first', REFUNDS, customerShown.refunds.map(listedRefundView), '')}${more(customerShown.refunds, `/console/refunds${all}`, 'All refunds')}`)}
  ${customerShown.parts} ${methodsPart(customerShown.methods)}
  ${section('Subscriptions', table('From the newest invoices', SUBSCRIPTIONS, subscriptions(customerShown.invoices), 'None of the newest invoices belongs to a subscription.'))}
  ${section(
    'At the MoR',
    table(
      'Links to the MoR, the newest first',
      LINKS,
      customerShown.links.map((l) => linkView(l, [])),
      'Not linked to a customer of the MoR yet.',
    ),
  )}`;
}

function whoItIs({ customerId, atStripe, enrolment, invoices, links }: CustomerShown): Html {
  const dim = (text: string): Html => html`<span class="dim">${text}</span>`;
  const said = (of: 'name' | 'email'): Html => {
    if (atStripe === null) return dim('Stripe did not answer: reload the page');
    return atStripe === 'unknown' ? dim('Stripe has no such customer') : foreign(atStripe[of]);
  };
  return facts([
    ['Name', said('name')],
    ['E-mail', said('email')],
    ['Customer', id(customerId)],
    ['Enrolled', enrolled(enrolment, invoices, links)],
  ]);
}

/**
 * Says whether the customer is enrolled, as Crossbill decided for the newest invoice. For a customer without an
 * invoice, applies the ENROLMENT rule to the known links.
 */
function enrolled(
  rule: Enrolment,
  [newest]: readonly InvoiceListItem[],
  links: readonly CustomerLink[],
): Html | string {
  if (rule.by === 'all') return 'yes: every customer is (ENROLMENT=all)';
  if (newest !== undefined && newest.enrolled !== null) {
    const at = html`decided for the invoice of ${time(newest.platformCreatedAt ?? newest.firstSeenAt)}`;
    return newest.enrolled ? html`yes, ${at}` : html`no, ${at}`;
  }
  if (rule.by === 'linked')
    return links.length > 0 ? 'yes: it is linked to the MoR' : 'no: it is linked to no customer of the MoR';
  return `if the customer or the subscription has the metadata ${rule.key}=${rule.value}`;
}

const SUMS: readonly Column<CustomerSum>[] = [
  { label: 'Currency', cell: (s) => s.currency, phone: 'lead' },
  { label: 'Payments', cell: (s) => count(s.payments), number: true, phone: 'none' },
  {
    label: 'Taken',
    cell: (s) => headed('taken', amount(s.taken, s.currency)),
    number: true,
    phone: 'side',
  },
  {
    label: 'Refunded',
    cell: (s) => headed('refunded', amount(s.refunded, s.currency)),
    number: true,
  },
  {
    label: 'Kept',
    cell: (s) => headed('kept', amount(s.taken - s.refunded, s.currency)),
    number: true,
  },
];

type Subscription = { readonly id: string; readonly newest: InvoiceListItem; readonly invoices: number };

function subscriptions(invoices: readonly InvoiceListItem[]): Subscription[] {
  const found = new Map<string, Subscription>();
  for (const i of invoices) {
    if (i.subscriptionId === null) continue;
    const known = found.get(i.subscriptionId);
    found.set(i.subscriptionId, {
      id: i.subscriptionId,
      newest: known?.newest ?? i,
      invoices: (known?.invoices ?? 0) + 1,
    });
  }
  return [...found.values()];
}

const SUBSCRIPTIONS: readonly Column<Subscription>[] = [
  { label: 'Subscription', cell: (s) => id(s.id), phone: 'lead' },
  {
    label: 'Newest invoice',
    cell: (s) => moneyLink('invoices', s.newest.invoiceId, s.newest.amountDue, s.newest.currency),
    number: true,
    phone: 'side',
  },
  { label: 'Status', cell: (s) => status(s.newest.status) },
  { label: 'Created', cell: (s) => time(s.newest.platformCreatedAt ?? s.newest.firstSeenAt) },
  { label: 'Invoices', cell: (s) => count(s.invoices), number: true, phone: 'none' },
];

const OWN = ['customer_id'] as const;
const INVOICES = columnsOf(invoiceFields, undefined, OWN);
const PAYMENTS = columnsOf(paymentFields, undefined, OWN);
const REFUNDS = columnsOf(refundFields, undefined, OWN);
const LINKS: readonly Column<CustomerLinkView>[] = [
  { label: 'Customer at the MoR', cell: (l) => id(l.mor_customer_id), phone: 'lead' },
  ...columnsOf(customerFields, undefined, [...OWN, 'mor_customer_id']),
];
