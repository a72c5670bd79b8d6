// Turns a Stripe invoice into the request for a proforma invoice (Document 2), with exact decimals and exact sums.
import {
  type Checked,
  encodeProforma,
  encodeProformaFromCalculation,
  proformaFromCalculationRequest,
  proformaRequest,
} from '@crossbill/mor';
import { decimalFromMinor } from '../../shared/domain/money.js';
import { type BilledInvoice, type BilledParty } from '../../shared/domain/ports/billing-reader.js';
import { type WireRequest } from '../../shared/domain/ports/call.js';
import { type FieldError, Problem } from '../../frames/api/http/problem.js';
import { type CreateProformaDto } from '../../core/mor-objects/mor-object.dto.js';
import { callersField } from '../../core/mor-objects/callers-words.js';

const MAX_LINES = 1_000;

/**
 * Returns the bytes to send. Throws a 400 with each missing or wrong field, under the caller's name of the field.
 * @param settled the number of paid proforma invoices for this invoice. Two live proforma invoices must not share a
 * reference (Document 2), and a paid proforma invoice may keep its reference. So each further reference gets a number
 */
export function proformaWire(dto: CreateProformaDto, billed: BilledInvoice, today: string, settled = 0): WireRequest {
  const { jurisdiction, notices, provider, tax_calculation_id: taxCalculationId } = dto;
  const { invoiceId } = billed.invoice;
  const merchantReference = settled === 0 ? invoiceId : `${invoiceId}:${settled + 1}`;
  const dates = { issueDate: dto.issue_date ?? today, dueDate: dto.due_date };
  if (taxCalculationId !== undefined) {
    if (dto.recipient !== undefined) {
      throw problemOf([{ field: 'recipient', message: 'comes from tax_calculation_id: leave one of the two out' }]);
    }
    const body = { taxCalculationId, jurisdiction, ...dates, merchantReference, provider, notices };
    return encodeProformaFromCalculation(checked(proformaFromCalculationRequest.check(body)));
  }
  const { currency, amountRemaining } = billed.invoice;
  const body = {
    jurisdiction,
    total: { amount: decimalFromMinor(amountRemaining, currency), currency },
    recipient: recipientOf(dto.recipient ?? {}, billed.customer),
    provider: {
      providerName: billed.seller.name ?? undefined,
      providerCountry: billed.seller.country ?? undefined,
      ...provider,
    },
    lineItems: linesOf(billed),
    ...dates,
    notices,
    merchantReference,
  };
  return encodeProforma(checked(proformaRequest.check(body)));
}

/** The recipient. The caller's fields take precedence; Stripe's fields fill in the missing fields. */
function recipientOf(given: Readonly<Record<string, unknown>>, known: BilledParty): Record<string, unknown> {
  const { address } = known;
  return {
    legalName: known.name ?? undefined,
    address: {
      line1: address?.line1 ?? undefined,
      line2: address?.line2 ?? undefined,
      locality: address?.city ?? undefined,
      region: address?.state ?? undefined,
      postalCode: address?.postalCode ?? undefined,
      country: address?.country ?? undefined,
    },
    taxIdentifiers: known.taxIds.flatMap(taxIdentifierOf),
    contact: { email: known.email ?? undefined },
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
  };
}

/** The countries of VAT prefixes outside ISO 3166-1: Greece, Northern Ireland. */
const PREFIX_COUNTRY: Readonly<Record<string, string>> = { EL: 'GR', XI: 'GB' };

/**
 * The tax id in Document 2's form. Stripe's `eu_vat` is Document 2's `EU_VAT`, with the number's prefix as its country.
 * For the other types the country is a part of the type. Types without a country (`unknown`, `eu_oss_vat`) are left out:
 * Document 2 requires one.
 */
function taxIdentifierOf({ type, value }: BilledParty['taxIds'][number]): Record<string, string>[] {
  const prefix = /^(?!eu_)[a-z]{2}(?=_)/.exec(type === 'eu_vat' ? `${value.slice(0, 2).toLowerCase()}_` : type)?.[0];
  if (prefix === undefined) return [];
  const country = prefix.toUpperCase();
  return [{ type: type.toUpperCase(), code: value, country: PREFIX_COUNTRY[country] ?? country }];
}

/**
 * The invoice's lines, if their sum is the amount due. After a discount, a tax, a balance, a credit or a part payment
 * the sum differs, and one line then has the whole amount due.
 */
function linesOf({ invoice, number, lines }: BilledInvoice): readonly Record<string, unknown>[] {
  const { currency, amountRemaining: due } = invoice;
  const price = (minor: bigint): Record<string, string> => ({ amount: decimalFromMinor(minor, currency), currency });
  const fit =
    lines.length > 0 &&
    lines.length <= MAX_LINES &&
    lines.every((line) => line.amount >= 0n) &&
    lines.reduce((sum, line) => sum + line.amount, 0n) === due;
  if (!fit) {
    return [{ description: `Invoice ${number ?? invoice.invoiceId}`, quantity: '1', unitPrice: price(due) }];
  }
  return lines.map(({ description, quantity, amount }) => {
    const text = description === null || description.trim() === '' ? 'Item' : description;
    // The unit price must be exact. With tiers or fractions the line becomes a single piece.
    const exact = quantity !== null && quantity > 0n && amount % quantity === 0n;
    if (exact) return { description: text, quantity: quantity.toString(), unitPrice: price(amount / quantity) };
    return { description: text, quantity: '1', unitPrice: price(amount) };
  });
}

function checked<T>(result: Checked<T>): T {
  if (result.ok) return result.value;
  throw problemOf(result.errors.map((e) => ({ ...e, field: callersField(e.field) })));
}

function problemOf(errors: readonly FieldError[]): Problem {
  const [first] = errors;
  return new Problem(400, 'invalid_request', `${first?.field ?? ''}: ${first?.message ?? ''}`, errors);
}
