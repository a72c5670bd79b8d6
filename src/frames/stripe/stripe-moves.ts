// Reads and changes at Stripe to hand a subscription over to the MoR: Stripe itself must no longer charge the customer.
import {
  BillingMoves,
  type MovableSubscription,
  type MoveCall,
  type MoveWay,
  type StoredMoveCall,
  type UnpaidInvoice,
} from '../../shared/domain/ports/billing-moves.js';
import { type CallOutcome, type WireRequest } from '../../shared/domain/ports/call.js';
import { MOVED_DAYS_UNTIL_DUE } from '../../shared/policy.js';
import { form, segment } from './encode.js';
import { parseSubscription } from './parse-charging.js';
import { idOf, isObject, partOf, textOf, timeOf } from '@crossbill/mor/read.js';
import { notUnderstood, type StripeClient } from './stripe-client.js';

const EXPAND = ['default_payment_method', 'customer.invoice_settings.default_payment_method', 'latest_invoice'];
const expand = (of: string): string => EXPAND.map((what, i) => `expand[${i}]=${of}${what}`).join('&');

/** The constant name of each route, for the request budget and the metrics. */
const ROUTES: Record<MoveCall['kind'], string> = {
  make_method: 'payment_methods.create',
  attach_method: 'payment_methods.attach',
  set_method: 'subscriptions.update',
  set_collection: 'subscriptions.update',
};

export class StripeMoves extends BillingMoves {
  readonly way: MoveWay;

  constructor(
    private readonly client: StripeClient,
    private readonly customType: string | null,
  ) {
    super();
    this.way = customType === null ? 'send_invoice' : 'custom_method';
  }

  override async read(subscriptionId: string): Promise<CallOutcome<MovableSubscription | null>> {
    const name = 'subscriptions.retrieve';
    const read = await this.client.read(name, `/v1/subscriptions/${segment(subscriptionId)}?${expand('')}`);
    if (!read.ok || read.value === null) return read.ok ? { ...read, value: null } : read;
    const found = parseMovable(read.value);
    return found?.subscriptionId === subscriptionId ? { ...read, value: found } : notUnderstood(name, read);
  }

  override async list(
    startingAfter: string | null,
  ): Promise<CallOutcome<{ items: readonly MovableSubscription[]; next: string | null }>> {
    const after = startingAfter === null ? '' : `&starting_after=${encodeURIComponent(startingAfter)}`;
    const name = 'subscriptions.list';
    const page = await this.client.page(name, `/v1/subscriptions?limit=100&${expand('data.')}${after}`);
    if (!page.ok) return page;
    const items = parseAll(page.value.items);
    return items === null ? notUnderstood(name, page) : { ...page, value: { items, next: page.value.next } };
  }

  override ofCustomer(customerId: string): Promise<CallOutcome<readonly MovableSubscription[]>> {
    const path = `/v1/subscriptions?customer=${encodeURIComponent(customerId)}&limit=100&${expand('data.')}`;
    return this.client.all('subscriptions.list', path, parseMovable);
  }

  override async readOpenInvoice(subscriptionId: string): Promise<CallOutcome<UnpaidInvoice | null>> {
    const name = 'invoices.list';
    const path = `/v1/invoices?subscription=${encodeURIComponent(subscriptionId)}&status=open&limit=1`;
    const page = await this.client.page(name, path);
    if (!page.ok) return page;
    const [first] = page.value.items;
    if (first === undefined) return { ...page, value: null };
    const invoiceId = idOf(first);
    return invoiceId === null ? notUnderstood(name, page) : { ...page, value: { invoiceId, status: 'open' } };
  }

  override async readMethodOwner(methodId: string): Promise<CallOutcome<string | null>> {
    const read = await this.client.read('payment_methods.retrieve', `/v1/payment_methods/${segment(methodId)}`);
    return read.ok ? { ...read, value: read.value === null ? null : idOf(read.value['customer']) } : read;
  }

  override encode(call: MoveCall): WireRequest {
    switch (call.kind) {
      case 'make_method':
        return post('/v1/payment_methods', { type: 'custom', custom: { type: this.customType ?? '' } });
      case 'attach_method':
        return post(`/v1/payment_methods/${segment(call.methodId)}/attach`, { customer: call.customerId });
      case 'set_method': // an empty value removes the payment method
        return post(`/v1/subscriptions/${segment(call.subscriptionId)}`, {
          default_payment_method: call.methodId ?? '',
        });
      case 'set_collection':
        return post(`/v1/subscriptions/${segment(call.subscriptionId)}`, {
          collection_method: call.collectionMethod,
          ...(call.collectionMethod === 'send_invoice' ? { days_until_due: MOVED_DAYS_UNTIL_DUE } : {}),
        });
    }
  }

  override async send({ asked, key, wire }: StoredMoveCall): Promise<CallOutcome<string>> {
    const name = ROUTES[asked.kind];
    const sent = await this.client.request(name, wire, key);
    if (!sent.ok) return sent;
    const id = replies(asked, sent.value) ? idOf(sent.value['id']) : null;
    return id === null ? notUnderstood(name, sent) : { ...sent, value: id };
  }
}

/** True if the reply shows the wanted effect. */
function replies(asked: MoveCall, object: Readonly<Record<string, unknown>>): boolean {
  switch (asked.kind) {
    case 'make_method':
      return object['object'] === 'payment_method';
    case 'attach_method':
      return idOf(object['customer']) === asked.customerId;
    case 'set_method':
      return idOf(object['default_payment_method']) === asked.methodId;
    case 'set_collection':
      return object['collection_method'] === asked.collectionMethod;
  }
}

function parseAll(objects: readonly unknown[]): readonly MovableSubscription[] | null {
  const items = objects.map(parseMovable).filter((item) => item !== null);
  return items.length === objects.length ? items : null;
}

/** Parses a subscription. Null: not a subscription. Since API version 2025-03-31 the items have the period. */
export function parseMovable(object: unknown): MovableSubscription | null {
  const facts = parseSubscription(object);
  const status = isObject(object) ? textOf(object['status']) : null;
  if (facts === null || status === null || !isObject(object)) return null;
  const items = partOf(object['items'])['data'];
  const ends = (Array.isArray(items) ? items : [])
    .map((item) => timeOf(partOf(item)['current_period_end']))
    .filter((at) => at !== null)
    .sort((a, b) => a.getTime() - b.getTime());
  const latest = partOf(object['latest_invoice']);
  const invoiceId = idOf(latest['id']);
  const isUnpaid = latest['status'] === 'draft' || latest['status'] === 'open';
  return {
    ...facts,
    status,
    ownMethodId: idOf(object['default_payment_method']),
    renewsAt: timeOf(object['current_period_end']) ?? ends[0] ?? null,
    scheduleId: idOf(object['schedule']),
    unpaid: isUnpaid && invoiceId !== null ? { invoiceId, status: String(latest['status']) } : null,
  };
}

function post(path: string, params: object): WireRequest {
  return { method: 'POST', path, body: form(params) };
}
