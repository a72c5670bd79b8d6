// Document 3: saving a payment method (setup intent), and the first payment of a signup (payment intent).
import { type Outcome, type WireRequest } from './outcome.js';
import { MAX_MINOR } from './money.js';
import { DEFAULT_PSP, type MorOptions } from './options.js';
import { Fields, parseReply } from './read.js';
import { type MorTransport } from './transport.js';
import { segment, wireWith } from './wire.js';

const SETUP = '/setup-intents';
const PAYMENT = '/payment-intents';

/** The merchant's customer, in the MoR's field `merchant_customer` (Document 3). */
export type MerchantCustomer = {
  readonly id: string; // the merchant's own id, `cus_…`
  readonly email?: string;
  readonly name?: string;
  readonly country?: string; // upper case
  readonly address?: Readonly<Record<string, string>>;
};

export type SetupIntentRequest = {
  readonly customer: MerchantCustomer;
  /** Default: card. */
  readonly paymentMethodTypes?: readonly string[] | null;
  readonly taxCalculationId?: string | null;
};

export type PaymentIntentRequest = {
  readonly amountMinor: bigint;
  readonly currency: string;
  readonly customer: MerchantCustomer;
  readonly description?: string | null;
  readonly taxCalculationId?: string | null;
};

/** Document 3, "Setup response" and "Payment-intent response". Only the browser gets `clientSecret`: never store it. */
export type Intent = {
  readonly clientSecret: string;
  readonly intentId: string; // setup_intent_id or payment_intent_id
  readonly morCustomerId: string;
  readonly status: string;
};

export type IntentOptions = Pick<MorOptions, 'psp' | 'setupCustomer'>;

/**
 * Document 3 shows `merchant_customer` for payment intents only. The client also sends it in a setup intent, as the
 * owner of the saved method. Use `setupCustomer: 'omit'` if the MoR refuses the field there.
 */
export function encodeSetupIntent(request: SetupIntentRequest, options: IntentOptions = {}): WireRequest {
  const { psp = DEFAULT_PSP, setupCustomer = 'send' } = options;
  return wireWith('POST', `/api/payments/${segment(psp)}${SETUP}`, {
    merchant_customer: setupCustomer === 'send' ? merchantCustomer(psp, request.customer) : undefined,
    payment_method_types: request.paymentMethodTypes ?? undefined,
    tax_calculation_id: request.taxCalculationId ?? undefined,
  });
}

export function encodePaymentIntent(request: PaymentIntentRequest, options: IntentOptions = {}): WireRequest {
  const { psp = DEFAULT_PSP } = options;
  const { amountMinor: amount, currency } = request;
  if (amount < 1n || amount > MAX_MINOR) throw new RangeError('an amount must be 1 to 2^53 - 1');
  return wireWith('POST', `/api/payments/${segment(psp)}${PAYMENT}`, {
    amount,
    currency,
    merchant_customer: merchantCustomer(psp, request.customer),
    description: request.description ?? undefined,
    tax_calculation_id: request.taxCalculationId ?? undefined,
  });
}

function merchantCustomer(psp: string, { id, email, name, country, address }: MerchantCustomer) {
  return { [`${psp}_id`]: id, email, name, country, address };
}

/** Reads the customer, without the id, from the stored body of an intent. */
export function decodeDetails(body: string): Omit<MerchantCustomer, 'id'> {
  const customer = new Fields(parseReply(body).value ?? {}).may('merchant_customer', (value) => new Fields(value));
  if (customer === null) return {};
  const texts = (from: Fields, names: readonly string[]): Record<string, string> =>
    Object.fromEntries(names.flatMap((name) => (from.has(name) ? [[name, from.text(name)]] : [])));
  const address = customer.may('address', (value) => new Fields(value));
  return {
    ...texts(customer, ['email', 'name', 'country']),
    ...(address === null ? {} : { address: texts(address, address.names()) }),
  };
}

export function parseSetupIntent(value: unknown): Intent {
  return parseIntent(value, 'setup_intent_id');
}

export function parsePaymentIntent(value: unknown): Intent {
  return parseIntent(value, 'payment_intent_id');
}

// The statuses are the processor's own words and stay text: Document 3 lists them for setup intents only.
function parseIntent(value: unknown, idField: string): Intent {
  const fields = new Fields(value);
  return {
    clientSecret: fields.id('client_secret', 4096),
    intentId: fields.id(idField),
    morCustomerId: fields.id('mor_customer_id'),
    status: fields.id('status'),
  };
}

export class CardIntents {
  constructor(
    private readonly transport: MorTransport,
    private readonly options: IntentOptions = {},
  ) {}

  setUp(request: SetupIntentRequest, key: string): Promise<Outcome<Intent>> {
    return this.send(encodeSetupIntent(request, this.options), key);
  }

  pay(request: PaymentIntentRequest, key: string): Promise<Outcome<Intent>> {
    return this.send(encodePaymentIntent(request, this.options), key);
  }

  /** Sends a stored request. Its path shows whether it is a setup intent or a payment intent. */
  send(wire: WireRequest, key: string): Promise<Outcome<Intent>> {
    const setup = wire.path.endsWith(SETUP);
    return this.transport.call(wire, {
      name: setup ? 'setup_intent.create' : 'payment_intent.create',
      key,
      accept: ({ body }) => (setup ? parseSetupIntent(body) : parsePaymentIntent(body)),
    });
  }
}
