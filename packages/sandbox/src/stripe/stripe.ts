// Joins the parts of the Stripe side: its routes, the layers around them, and its control routes.
import { type Kernel } from '../kernel/kernel.js';
import { Billing } from './billing.js';
import { Cards } from './cards.js';
import { Collecting } from './collecting.js';
import { addCollectingControls } from './collecting-control.js';
import { StripeContext } from './context.js';
import { addStripeControls } from './control.js';
import { addCreditNoteRoutes } from './credit-notes.routes.js';
import { addCatalogueRoutes, addCustomerRoutes } from './customers.routes.js';
import { Cycles } from './cycles.js';
import { errorReply } from './errors.js';
import { addEventRoutes } from './events.routes.js';
import { Gate } from './idempotency.js';
import { addInvoiceRoutes } from './invoices.routes.js';
import { addPaymentMethodRoutes } from './payment-methods.routes.js';
import { addPaymentRecordRoutes } from './payment-records.routes.js';
import { StripeState } from './state.js';
import { addSubscriptionRoutes } from './subscriptions.routes.js';
import { addTestClockRoutes } from './test-clocks.routes.js';

export type StripeSide = {
  readonly state: StripeState;
  readonly billing: Billing;
  readonly cycles: Cycles;
  readonly gate: Gate;
};

const PRUNE_MS = 3_600_000;

export function addStripe(kernel: Kernel): StripeSide {
  const state = new StripeState(kernel);
  const billing = new Billing(state);
  const cycles = new Cycles(state, billing);
  const cards = new Cards(state);
  const collecting = new Collecting(state, billing, cycles, cards);
  const gate = new Gate(kernel, state.apiKey);
  const ctx = new StripeContext(kernel, state, billing, cycles);
  addCustomerRoutes(ctx, cards);
  addPaymentMethodRoutes(ctx, cards);
  addCatalogueRoutes(ctx);
  addSubscriptionRoutes(ctx);
  addTestClockRoutes(ctx);
  addInvoiceRoutes(ctx, collecting);
  addPaymentRecordRoutes(ctx);
  addCreditNoteRoutes(ctx, cards);
  addEventRoutes(ctx);
  addStripeControls(ctx, gate);
  addCollectingControls(ctx, collecting, cards);
  kernel.setRules('stripe', {
    around: (request, run) => gate.around(request, run),
    notFound: (request) =>
      errorReply(404, 'invalid_request_error', `Unrecognized request URL (${request.method}: ${request.path}).`),
    broken: () => errorReply(500, 'api_error', 'Something went wrong on our end.'),
    faultReply: (fault) => {
      const code = fault.code ?? (fault.status === 429 ? 'rate_limit' : undefined);
      const type =
        fault.status >= 500
          ? 'api_error'
          : fault.code === 'idempotency_key_in_use'
            ? 'idempotency_error'
            : 'invalid_request_error';
      // Stripe docs, "Rate limits": a 429 because of an object lock has no reason header.
      const limited = fault.status === 429 && fault.code !== 'lock_timeout';
      return errorReply(fault.status, type, 'An injected fault.', {
        ...(code === undefined ? {} : { code }),
        ...(limited ? { headers: { 'stripe-rate-limited-reason': 'global-rate' } } : {}),
      });
    },
  });
  const prune = (): void => {
    gate.prune();
    kernel.clock.after(PRUNE_MS, 'prune idempotency keys', prune);
  };
  kernel.clock.after(PRUNE_MS, 'prune idempotency keys', prune);
  return { state, billing, cycles, gate };
}
