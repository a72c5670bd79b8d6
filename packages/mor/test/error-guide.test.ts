// The guide to the MoR's errors: one sentence of advice for each answer of the documents.
import { expect, it } from '@jest/globals';
import { adviceFor, ERROR_GUIDE, listedCode } from '@crossbill/mor/error-guide.js';

it("the guide to the MoR's errors lists each error of a call once, with one sentence of advice", () => {
  const seen = new Set<string>();
  for (const [calls, status, code, advice, more] of ERROR_GUIDE) {
    expect(advice).toMatch(/^[A-Z].*[^.]\.$/);
    for (const call of [calls].flat()) {
      const name = `${call} ${status} ${code} ${more?.field ?? ''}`;
      expect([name, seen.has(name)]).toEqual([name, false]);
      seen.add(name);
    }
  }
});

it("the guide to the MoR's errors gives different advice for one error code, depending on the field the MoR names", () => {
  const invalid = (field: string) => adviceFor('tax.transaction.create', 400, 'invalid_state', [field]);
  const advice = ['taxCalculationId', 'merchantTransactionReference', 'status', 'customer'].map(invalid);
  expect(new Set(advice).size).toBe(4);
  expect(invalid('customer')).toBe(adviceFor('tax.transaction.create', 400, 'invalid_state'));
});

it("the guide to the MoR's errors proposes MOR_SETUP_CUSTOMER=omit for a setup intent refused because of its customer", () => {
  const refused = (...fields: string[]) => adviceFor('setup_intent.create', 400, 'invalid_request', fields);
  const said = [
    ['merchant_customer'],
    ['merchant_customer.otherpsp_id'],
    ['payment_method_types', 'merchant_customer'],
  ];
  for (const fields of said) expect(refused(...fields)).toContain('MOR_SETUP_CUSTOMER=omit');
  for (const fields of [[], ['payment_method_types'], ['merchant_customers']]) {
    expect(refused(...fields)).toBe(refused());
    expect(refused(...fields)).not.toContain('MOR_SETUP_CUSTOMER');
  }
});

it("a metric counts an error code missing in the MoR's documents as “other”", () => {
  expect([listedCode('not_found'), listedCode('made_up')]).toEqual(['not_found', 'other']);
});
