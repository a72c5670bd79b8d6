// Setup intents and payment intents (Document 3, "Endpoints"), and the browser's confirmation.
import { Refusal, type SandboxRequest, morError } from '../kernel/http.js';
import { type FieldError, type JsonObject, Fields, isObject } from '../kernel/json.js';
import { type Kernel } from '../kernel/kernel.js';
import { type CardsBook, type Intent, type Outcome, outcomeOfEmail, outcomes } from './cards-book.js';
import { type Charges } from './cards-charges.js';
import { KeptReplies } from './cards-keys.js';
import { addConfirmScript, checkBrowser, fromBrowser } from './confirm-script.js';
import { type MorState } from './state.js';

const TYPES = ['card', 'us_bank_account', 'sepa_debit', 'bacs_debit', 'au_becs_debit'];
const DESCRIPTION_LIMIT = 255;
/** The account's largest amount for one payment, in smallest units. */
const CAP = 99_999_999;
/** The processor's smallest amount by currency; 50 for any other currency. */
const MINIMUM: Readonly<Record<string, number>> = {
  gbp: 30,
  jpy: 50,
  dkk: 250,
  sek: 300,
  nok: 300,
  czk: 1500,
  huf: 17_500,
  pln: 200,
  aed: 200,
  mxn: 1000,
  krw: 100,
  kwd: 100,
};
const CURRENCIES = new Set(
  (
    'usd eur gbp jpy aud cad chf dkk sek nok nzd pln czk huf ron bgn brl mxn aed sgd hkd inr zar thb myr ils try krw twd isk ' +
    'ugx kwd bhd omr jod tnd clp pyg vnd xof xaf'
  ).split(' '),
);

export function addIntents(kernel: Kernel, mor: MorState, book: CardsBook, charges: Charges): void {
  const kept = new KeptReplies(mor.openFacts);
  const base = `/api/payments/${mor.psp}`;

  kernel.mor.add('POST', `${base}/setup-intents`, (request) => {
    mor.requireMerchant(request);
    return kept.once(request, () => {
      const body = bodyOf(request, true);
      const types = typesOf(body, book.enabledTypes);
      const owner = ownerOf(body, mor.psp, book);
      const taxCalculationId = calculationOf(mor, body);
      if (types.some((t) => !book.enabledTypes.has(t)))
        refuse(422, 'validation_error', 'payment_method_types', 'not enabled for the account');
      const intent = newIntent(kernel, {
        kind: 'setup',
        customer: owner === null ? book.newCustomer(null, null) : book.customerFor(owner.id, owner.email),
        amount: 0,
        currency: '',
        types,
        taxCalculationId,
      });
      book.intents.set(intent.id, intent);
      return { status: 200, body: { ...common(intent), setup_intent_id: intent.id } };
    });
  });

  kernel.mor.add('POST', `${base}/payment-intents`, (request) => {
    mor.requireMerchant(request);
    return kept.once(request, () => {
      const body = bodyOf(request, false);
      const given = readPayment(body, mor.psp);
      const taxCalculationId = calculationOf(mor, body);
      if (!CURRENCIES.has(given.currency))
        refuse(422, 'unsupported_currency', 'currency', 'not enabled for the account');
      if (given.amount < (MINIMUM[given.currency] ?? 50) || given.amount > CAP) {
        refuse(422, 'amount_out_of_range', 'amount', 'below the processor minimum or above the cap');
      }
      const customer = book.customerFor(given.customer.id, given.customer.email);
      const { amount, currency } = given;
      const intent = newIntent(kernel, {
        kind: 'payment',
        customer,
        amount,
        currency,
        types: ['card'],
        taxCalculationId,
      });
      book.intents.set(intent.id, intent);
      return { status: 200, body: { ...common(intent), payment_intent_id: intent.id } };
    });
  });

  kernel.control(
    'POST',
    '/_sandbox/intents/:id/confirm',
    'the shopper confirms in the browser: {outcome?: succeed|decline|requires_action|bank_debit|bank_debit_failed, client_secret?, publishable_key?}',
    fromBrowser((request) => {
      const fields = new Fields(request.body);
      const intent = book.intents.get(request.params['id'] ?? '');
      if (intent === undefined) return fields.refuse('id', 'no such intent');
      checkBrowser(kernel, fields, intent.clientSecret);
      if (intent.status === 'succeeded' || intent.status === 'processing')
        return fields.refuse('id', `the intent is ${intent.status}`);
      const chosen = fields.has('outcome') ? fields.oneOf('outcome', outcomes) : outcomeOfIntent(intent, book);
      return { status: 200, body: confirm(intent, chosen, book, charges) };
    }),
  );
  addConfirmScript(kernel);
  kernel.control('GET', '/_sandbox/intents/:id', 'an intent as the processor has it', (request) => {
    const intent = book.intents.get(request.params['id'] ?? '');
    if (intent === undefined) return morError(404, 'not_found');
    const { id, kind, status, amount, currency, taxCalculationId } = intent;
    const { id: morCustomerId, merchantCustomerId } = intent.customer;
    const whose = { mor_customer_id: morCustomerId, merchant_customer_id: merchantCustomerId };
    return {
      status: 200,
      body: { id, kind, status, amount, currency, tax_calculation_id: taxCalculationId, ...whose },
    };
  });
}

function outcomeOfIntent(intent: Intent, book: CardsBook): Outcome {
  // At a signup only a bank debit counts among the outcomes a test chose. All chosen outcomes apply to renewals.
  const debit = intent.kind === 'payment' ? book.debitAtSignup(intent.customer.merchantCustomerId) : null;
  if (debit !== null) return debit;
  const notified = outcomeOfEmail(intent.customer.email);
  return notified === 'bank_debit' || intent.types.every((t) => t !== 'card') ? 'bank_debit' : 'succeed';
}

/** The browser's reply: id and status of the intent, and the charge id for the merchant's page (Document 3, rule 3). */
function confirm(intent: Intent, outcome: Outcome, book: CardsBook, charges: Charges): JsonObject {
  const result = (more: JsonObject): JsonObject => ({ id: intent.id, status: intent.status, ...more });
  if (outcome === 'decline') {
    intent.status = 'requires_payment_method';
    return result({
      error: { code: 'card_declined', decline_code: 'insufficient_funds', message: 'Your card was declined.' },
    });
  }
  if (outcome === 'requires_action') {
    intent.status = 'requires_action';
    return result({});
  }
  const debit = outcome !== 'succeed';
  const paidWith = book.saveMethod(intent.customer, debit ? 'bank_debit' : 'card', intent.id);
  if (intent.kind === 'setup') {
    intent.status = 'succeeded';
    intent.customer.carriedTax = intent.taxCalculationId ?? intent.customer.carriedTax;
    return result({ setup_intent_id: intent.id, mor_customer_id: intent.customer.id });
  }
  intent.status = debit ? 'processing' : 'succeeded';
  const payment = charges.signupPayment(
    {
      kind: 'signup',
      merchantInvoiceId: null,
      merchantCustomerId: intent.customer.merchantCustomerId ?? '',
      morCustomerId: intent.customer.id,
      amount: intent.amount,
      currency: intent.currency,
      method: paidWith.type,
      paidWith,
      intentId: intent.id,
      taxCalculationId: intent.taxCalculationId,
    },
    outcome,
    (succeeded) => (intent.status = succeeded ? 'succeeded' : 'requires_payment_method'),
  );
  return result({
    payment_intent_id: intent.id,
    charge_id: payment.processorChargeId,
    payment_id: payment.id,
    mor_customer_id: intent.customer.id,
    amount: intent.amount,
    currency: intent.currency,
  });
}

function newIntent(kernel: Kernel, input: Omit<Intent, 'id' | 'clientSecret' | 'status'>): Intent {
  const id = kernel.random.id(input.kind === 'setup' ? 'seti' : 'pi');
  return {
    ...input,
    id,
    clientSecret: `${id}_secret_${kernel.random.id('x', 24).slice(2)}`,
    status: 'requires_payment_method',
  };
}

function common(intent: Intent): JsonObject {
  return { client_secret: intent.clientSecret, mor_customer_id: intent.customer.id, status: intent.status };
}

function refuse(status: number, code: string, field: string, message: string): never {
  throw new Refusal(morError(status, code, [{ field, message }]));
}

function bodyOf(request: SandboxRequest, optional: boolean): JsonObject {
  if (optional && request.body === undefined && !request.bodyBroken) return {};
  return isObject(request.body) ? request.body : refuse(400, 'invalid_request', 'body', 'must be a JSON object');
}

/** Accepts the payment method types of Document 3 and the types a control route enabled. */
function typesOf(body: JsonObject, enabled: ReadonlySet<string>): string[] {
  const given = body['payment_method_types'];
  if (given === undefined || given === null) return ['card'];
  const types = Array.isArray(given)
    ? given.filter((t): t is string => typeof t === 'string' && (TYPES.includes(t) || enabled.has(t)))
    : [];
  if (!Array.isArray(given) || types.length === 0 || types.length !== given.length) {
    return refuse(400, 'invalid_request', 'payment_method_types', `must be a list of ${TYPES.join(', ')}`);
  }
  return types;
}

function calculationOf(mor: MorState, body: JsonObject): string | null {
  const id = body['tax_calculation_id'];
  if (id === undefined || id === null) return null;
  if (typeof id !== 'string') return refuse(400, 'invalid_request', 'tax_calculation_id', 'must be a string');
  return mor.taxCalculationExists(id)
    ? id
    : refuse(404, 'tax_calculation_not_found', 'tax_calculation_id', 'no such calculation');
}

type CustomerInput = { readonly id: string; readonly email: string | null };
type PaymentInput = { readonly amount: number; readonly currency: string; readonly customer: CustomerInput };
type Wrong = (field: string, message: string) => void;

/**
 * The owner of a setup intent's method; null: nobody. Document 3 names no owner in a setup intent, so the sandbox reads
 * the same field as in a payment intent, `merchant_customer`.
 */
function ownerOf(body: JsonObject, psp: string, book: CardsBook): CustomerInput | null {
  if ((body['merchant_customer'] ?? null) === null) return null;
  if (book.setupCustomer === 'refuse')
    refuse(400, 'invalid_request', 'merchant_customer', 'is no field of a setup intent');
  const errors: FieldError[] = [];
  const owner = readCustomer(body, psp, (field, message) => void errors.push({ field, message }));
  if (errors.length > 0) throw new Refusal(morError(400, 'invalid_request', errors));
  return book.setupCustomer === 'ignore' ? null : owner;
}

function readCustomer(body: JsonObject, psp: string, wrong: Wrong): CustomerInput {
  const customer = isObject(body['merchant_customer']) ? body['merchant_customer'] : {};
  const id = customer[`${psp}_id`];
  if (typeof id !== 'string' || id === '') wrong(`merchant_customer.${psp}_id`, 'must be a string');
  for (const name of ['email', 'name'] as const) {
    const value = customer[name] ?? null;
    if (value !== null && typeof value !== 'string') wrong(`merchant_customer.${name}`, 'must be a string');
  }
  const country = customer['country'] ?? null;
  if (country !== null && !(typeof country === 'string' && /^[A-Za-z]{2}$/.test(country))) {
    wrong('merchant_customer.country', 'must be a two-letter code');
  }
  const address = customer['address'] ?? null;
  if (address !== null && !isObject(address)) wrong('merchant_customer.address', 'must be an object');
  const email = customer['email'];
  return { id: typeof id === 'string' ? id : '', email: typeof email === 'string' ? email : null };
}

/** Reads the request for a payment intent. Throws 400 `invalid_request` with every wrong field. */
function readPayment(body: JsonObject, psp: string): PaymentInput {
  const errors: FieldError[] = [];
  const wrong: Wrong = (field, message) => void errors.push({ field, message });
  const { amount, currency, description } = body;
  if (!Number.isSafeInteger(amount) || Number(amount) < 1) wrong('amount', 'must be an integer of at least 1');
  if (typeof currency !== 'string' || !/^[A-Za-z]{3}$/.test(currency)) wrong('currency', 'must be a three-letter code');
  const customer = readCustomer(body, psp, wrong);
  const text = description ?? null;
  if (text !== null && (typeof text !== 'string' || text.length > DESCRIPTION_LIMIT)) {
    wrong('description', `must be a string of at most ${DESCRIPTION_LIMIT} characters`);
  }
  if (errors.length > 0) throw new Refusal(morError(400, 'invalid_request', errors));
  return {
    amount: Number(amount),
    currency: typeof currency === 'string' ? currency.toLowerCase() : '',
    customer,
  };
}
