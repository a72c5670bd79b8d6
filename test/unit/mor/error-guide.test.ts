// The guide to the MoR's errors: complete, and one sentence of advice each.
import { ERROR_CODES } from '@crossbill/mor';
import { describe, expect, it } from '@jest/globals';
import { ERROR_GUIDE, guideRow } from '../../../src/mor/error-guide.js';

describe('the guide to errors', () => {
  it('has every code of the three documents once per call, with one sentence of advice', () => {
    const seen = new Set<string>();
    for (const row of ERROR_GUIDE) {
      expect(row.advice).toMatch(/^[A-Z].*[^.]\.$/);
      for (const call of row.calls === 'all' ? ['all'] : row.calls) {
        const name = `${call} ${row.status} ${row.code} ${row.field ?? ''}`;
        expect([name, seen.has(name)]).toEqual([name, false]);
        seen.add(name);
      }
    }
    const codes = new Set(ERROR_GUIDE.map(({ code }) => code));
    expect(ERROR_CODES.filter((code) => !codes.has(code))).toEqual([]);
  });

  it('tells the reasons of one code apart by their field', () => {
    const invalid = (field: string) => guideRow('tax.transaction.create', 400, 'invalid_state', [field]);
    expect(invalid('taxCalculationId')?.advice).toContain('calculat');
    expect(invalid('merchantTransactionReference')?.advice).toContain('The reference already names a transaction');
    expect(invalid('customer')?.field).toBeUndefined();
  });

  it('a setup intent that is refused for its customer says how to leave the customer out, wherever the field stands', () => {
    const refused = (...fields: string[]) => guideRow('setup_intent.create', 400, 'invalid_request', fields);
    const said = [
      ['merchant_customer'],
      ['merchant_customer.otherpsp_id'],
      ['payment_method_types', 'merchant_customer'],
    ];
    for (const fields of said) {
      expect(refused(...fields)).toMatchObject({ advice: expect.stringContaining('MOR_SETUP_CUSTOMER=omit') });
    }
    for (const fields of [[], ['payment_method_types'], ['merchant_customers']]) {
      expect(refused(...fields)?.field).toBeUndefined();
    }
    expect(guideRow('payment_intent.create', 400, 'invalid_request', ['merchant_customer'])?.field).toBeUndefined();
  });
});
