// Document 3: saving a payment method (setup intent) and the first payment (payment intent) of a signup.
import { Injectable } from '@nestjs/common';
import { type CallOutcome, type WireRequest } from '../domain/ports/call.js';
import {
  type CustomerDetails,
  type IntentAnswer,
  type SignupCall,
  type SignupCustomer,
} from '../domain/ports/payment-gateway.js';
import { MAX_MINOR } from '../domain/money.js';
import { type MorOptions } from './options.js';
import { Fields, parseAnswer } from './read.js';
import { MorTransport } from './transport.js';
import { segment, wireWith } from './wire.js';

const SETUP = '/setup-intents';
const PAYMENT = '/payment-intents';

export type IntentOptions = Pick<MorOptions, 'psp' | 'setupCustomer'>;

/**
 * A setup intent names its customer in the payment intent's field: Document 3 has no field of its own for the owner of a saved method.
 * `setupCustomer: 'omit'` is for a MoR with no place for it there.
 */
export function encodeIntent({ psp, setupCustomer }: IntentOptions, call: SignupCall): WireRequest {
  const family = `/api/payments/${segment(psp)}`;
  if (call.kind === 'create_setup_intent') {
    return wireWith('POST', family + SETUP, {
      merchant_customer: setupCustomer === 'send' ? merchantCustomer(psp, call.customer) : undefined,
      payment_method_types: call.paymentMethodTypes ?? undefined,
      tax_calculation_id: call.taxCalculationId ?? undefined,
    });
  }
  if (call.amountMinor < 1n || call.amountMinor > MAX_MINOR) throw new RangeError('an amount must be 1 to 2^53 - 1');
  return wireWith('POST', family + PAYMENT, {
    amount: call.amountMinor,
    currency: call.currency,
    merchant_customer: merchantCustomer(psp, call.customer),
    description: call.description ?? undefined,
    tax_calculation_id: call.taxCalculationId ?? undefined,
  });
}

function merchantCustomer(psp: string, { id, email, name, country, address }: SignupCustomer) {
  return { [`${psp}_id`]: id, email, name, country, address };
}

/** The reverse of `merchantCustomer`, without the id. */
export function decodeDetails(body: string): CustomerDetails {
  const customer = new Fields(parseAnswer(body).value ?? {}).may('merchant_customer', (value) => new Fields(value));
  if (customer === null) return {};
  const texts = (from: Fields, names: readonly string[]): Record<string, string> =>
    Object.fromEntries(names.flatMap((name) => (from.has(name) ? [[name, from.text(name)]] : [])));
  const address = customer.may('address', (value) => new Fields(value));
  return {
    ...texts(customer, ['email', 'name', 'country']),
    ...(address === null ? {} : { address: texts(address, address.names()) }),
  };
}

export function parseSetupIntent(value: unknown): IntentAnswer {
  return parseIntent(value, 'setup_intent_id');
}

export function parsePaymentIntent(value: unknown): IntentAnswer {
  return parseIntent(value, 'payment_intent_id');
}

// The statuses are the processor's own words and stay text: Document 3 lists those of setup intents alone.
function parseIntent(value: unknown, idField: string): IntentAnswer {
  const fields = new Fields(value);
  return {
    clientSecret: fields.id('client_secret', 4096),
    intentId: fields.id(idField),
    morCustomerId: fields.id('mor_customer_id'),
    status: fields.id('status'),
  };
}

@Injectable()
export class CardIntents {
  constructor(private readonly transport: MorTransport) {}

  /** Sends a stored intent request; the path says which of the two it is. */
  send(wire: WireRequest, key: string): Promise<CallOutcome<IntentAnswer>> {
    const setup = wire.path.endsWith(SETUP);
    return this.transport.call(wire, {
      name: setup ? 'setup_intent.create' : 'payment_intent.create',
      key,
      accept: ({ body }) => (setup ? parseSetupIntent(body) : parsePaymentIntent(body)),
    });
  }
}
