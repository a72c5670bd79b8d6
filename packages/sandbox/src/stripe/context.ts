// What the Stripe routes share: state, billing, and a function to register a route.
import { type Reply, type SandboxRequest } from '../kernel/http.js';
import { type JsonObject } from '../kernel/json.js';
import { type Kernel } from '../kernel/kernel.js';
import { type Billing } from './billing.js';
import { type Cycles } from './cycles.js';
import { Params, missing } from './errors.js';
import { queryOf } from './lists.js';
import { type Customer, type Invoice, type PaymentRecord, type Subscription } from './model.js';
import { type StripeState } from './state.js';

export type StripeHandler = (params: Params, id: string, request: SandboxRequest) => JsonObject;

export class StripeContext {
  constructor(
    readonly kernel: Kernel,
    readonly state: StripeState,
    readonly billing: Billing,
    readonly cycles: Cycles,
  ) {}

  /** Adds a route. `handler` gets the `:id` of `path`, and the parameters: a GET's query, or the request's body. */
  route(method: 'GET' | 'POST' | 'DELETE', path: string, handler: StripeHandler): void {
    this.kernel.stripe.add(method, path, (request): Reply => {
      const params = method === 'GET' ? queryOf(request) : Params.of(request.body);
      this.state.currentRequest = request;
      try {
        const body = handler(params, request.params['id'] ?? '', request);
        return { status: 200, body, headers: { 'stripe-version': request.headers['stripe-version'] ?? '' } };
      } finally {
        this.state.endOfRequest();
      }
    });
  }

  invoice(id: string): Invoice {
    const invoice = this.state.invoices.get(id) ?? missing('invoice', id, 'invoice');
    this.state.enter(invoice.customer);
    return invoice;
  }

  record(id: string, param = 'payment_record'): PaymentRecord {
    return this.state.records.get(id) ?? missing('payment_record', id, param);
  }

  subscription(id: string): Subscription {
    const subscription = this.state.subscriptions.get(id) ?? missing('subscription', id, 'subscription');
    this.state.enter(subscription.customer);
    return subscription;
  }

  /** Finds a customer. Throws for an unknown or deleted customer. */
  customer(id: string): Customer {
    const customer = this.state.customers.get(id);
    if (customer === undefined || customer.deleted) return missing('customer', id, 'customer');
    this.state.enter(id);
    return customer;
  }
}

/**
 * The payment method or source named by a parameter. Null if the parameter is absent or empty. Throws 404 for an
 * unknown one.
 */
export function methodIn(ctx: StripeContext, params: Params, name: string): string | null {
  const id = params.optionalText(name);
  return id === null || ctx.state.paymentMethods.has(id) ? id : missing('payment_method', id, name);
}
