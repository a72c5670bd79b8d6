// Turns a checked API request into the service's request. Each kind of signup has its own fields.
import { parseCurrency } from '../../shared/domain/money.js';
import { type WireRequest } from '../../shared/domain/ports/call.js';
import { type SignupCustomer } from '../../shared/domain/ports/payment-gateway.js';
import { type SignupRequest } from './signup-price.js';
import { invalid } from '../../frames/api/http/problem.js';
import { type CreateSignupDto, type SignupCustomerDto } from './signup.dto.js';

export type SignupTax = { readonly id: string | null; readonly calculation: WireRequest | null };

/**
 * Makes the service's request. Throws a 400 with the field if a payment has neither a sum nor an invoice, or a field does
 * not belong to this kind of signup.
 * @param tax the tax calculation to bind: its id, or the request for a new calculation; both null: no calculation
 */
export function signupRequest(dto: CreateSignupDto, tax: SignupTax, by: string): SignupRequest {
  const { id: taxCalculationId, calculation } = tax;
  const invoiceId = dto.invoice_id ?? null;
  const common = { kind: dto.kind, customerId: dto.customer.id, invoiceId, taxCalculationId, calculation, by };
  const customer = customerOf(dto.customer);
  if (dto.kind === 'trial') {
    for (const field of ['amount', 'currency', 'invoice_id'] as const) {
      if (dto[field] !== undefined) throw invalid(field, 'is for a payment: a trial takes no money');
    }
    const paymentMethodTypes = dto.payment_method_types ?? null;
    const call = { kind: 'create_setup_intent', customer, paymentMethodTypes } as const;
    return { ...common, amount: null, currency: null, call };
  }
  // Document 3: only a setup intent takes these types. If Crossbill silently dropped them, the MoR could charge by
  // another method than intended.
  if (dto.payment_method_types !== undefined) throw invalid('payment_method_types', 'is for a trial only');
  if (invoiceId === null) {
    for (const field of ['amount', 'currency'] as const) {
      if (dto[field] === undefined) throw invalid(field, 'is required for a payment without invoice_id');
    }
  }
  const amount = dto.amount === undefined ? null : BigInt(dto.amount);
  const currency = dto.currency === undefined ? null : parseCurrency(dto.currency);
  const call = { kind: 'create_payment_intent', customer, description: dto.description ?? null } as const;
  return { ...common, amount, currency, call };
}

/** The customer for the MoR, without null and empty fields. */
function customerOf({ id, email, name, country, address }: SignupCustomerDto): SignupCustomer {
  const lines = Object.entries(address ?? {}).flatMap(([line, text]) => (text === null ? [] : [[line, text] as const]));
  return {
    id,
    ...(isGiven(email) ? { email } : {}),
    ...(isGiven(name) ? { name } : {}),
    ...(isGiven(country) ? { country: country.toUpperCase() } : {}),
    ...(lines.length === 0 ? {} : { address: Object.fromEntries(lines) }),
  };
}

function isGiven(text: string | null | undefined): text is string {
  return typeof text === 'string';
}

/** Translates the MoR's field name in an error into our caller's field name. */
export function signupField(morField: string): string {
  return morField
    .replace(/^merchant_customer\.[a-z0-9_-]+_id$/, 'customer.id')
    .replace(/^merchant_customer\b/, 'customer');
}
