// Parses an invoice with its lines and its customer, for documents such as a proforma invoice.
import { type BilledInvoice, type BilledLine, type BilledParty } from '../../shared/domain/ports/billing-reader.js';
import { invoiceOf } from './parse-invoice.js';
import { isObject, type JsonObject, minorOf, partOf, textOf } from '@crossbill/mor/read.js';

/** Parses an invoice. Null: the object is no invoice. `lines` null: the object does not contain all lines. */
export function billedInvoiceOf(
  object: unknown,
): (Omit<BilledInvoice, 'lines'> & { readonly lines: readonly BilledLine[] | null }) | null {
  const invoice = invoiceOf(object);
  if (invoice === null || !isObject(object)) return null;
  const list = partOf(object['lines']);
  const lines = Array.isArray(list['data']) && list['has_more'] !== true ? list['data'].map(billedLineOf) : null;
  return {
    invoice,
    number: textOf(object['number']),
    seller: { name: textOf(object['account_name']), country: countryOf(object['account_country']) },
    customer: partyOf(object),
    lines: lines?.some((line) => line === null) === false ? lines.filter((line) => line !== null) : null,
  };
}

/** Parses a line. Null: the object is no line with an amount. */
export function billedLineOf(object: unknown): BilledLine | null {
  const line = partOf(object);
  const amount = minorOf(line['amount']);
  const quantity = minorOf(line['quantity']);
  return amount === null ? null : { description: textOf(line['description']), quantity, amount };
}

/**
 * Reads the customer's data on the invoice itself, because Stripe billed with this copy. The current customer fills the
 * gaps.
 */
function partyOf(invoice: JsonObject): BilledParty {
  const customer = partOf(invoice['customer']);
  const address = isObject(invoice['customer_address']) ? invoice['customer_address'] : customer['address'];
  const ids = invoice['customer_tax_ids'];
  return {
    name: textOf(invoice['customer_name']) ?? textOf(customer['name']),
    email: textOf(invoice['customer_email']) ?? textOf(customer['email']),
    address: isObject(address) ? addressOf(address) : null,
    taxIds: (Array.isArray(ids) ? ids : []).flatMap((id: unknown) => {
      const type = textOf(partOf(id)['type']);
      const value = textOf(partOf(id)['value']);
      return type === null || value === null ? [] : [{ type, value }];
    }),
  };
}

function addressOf(jsonObject: JsonObject): NonNullable<BilledParty['address']> {
  return {
    line1: textOf(jsonObject['line1']),
    line2: textOf(jsonObject['line2']),
    city: textOf(jsonObject['city']),
    state: textOf(jsonObject['state']),
    postalCode: textOf(jsonObject['postal_code']),
    country: countryOf(jsonObject['country']),
  };
}

function countryOf(value: unknown): string | null {
  return typeof value === 'string' && /^[A-Za-z]{2}$/.test(value) ? value.toUpperCase() : null;
}
