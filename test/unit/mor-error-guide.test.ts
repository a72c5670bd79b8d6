// The guide to the MoR's errors: complete, and one sentence of advice each.
import { describe, expect, it } from '@jest/globals';
import { ERROR_GUIDE, guideRow } from '../../src/mor/error-guide.js';

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
    const listed =
      'validation_error invalid_argument incomplete_application not_found duplicate_reference invalid_status internal_error ' +
      'missing_country_of_origin missing_classification_text shipping_address_required invalid_state region_not_activated ' +
      'region_not_supported physical_goods_not_supported integration_credentials_invalid integration_not_configured ' +
      'nfse_validation_failed tax_provider_unavailable tax_calculation_already_used tax_calculation_expired ' +
      'tax_calculation_unusable unsupported_jurisdiction no_payment_destination merchant_reference_conflict ' +
      'idempotency_key_reused issuance_failed not_deletable no_active_arrangement unsupported_outpost_role unknown_event ' +
      'invalid_url webhook_endpoint_limit_exceeded invalid_request merchant_suspended tax_calculation_not_found ' +
      'idempotency_conflict rate_limited unsupported_currency amount_out_of_range psp_unavailable payment_not_found ' +
      'payment_not_refundable';
    expect(listed.split(' ').filter((code) => !codes.has(code))).toEqual([]);
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
