// The form of a signature: what a report may show of a header.
import { expect, it } from '@jest/globals';
import { formOf, SignatureForms } from '../../../../src/frames/intake/signature-forms.js';

const HEX = '0123456789abcdef'.repeat(4);

it.each([
  [`t=1700000000,v1=${HEX}`, 't=<10 digits>,v1=<64 hex>'],
  [`t=1700000000, v1=${HEX.toUpperCase()},v1=${HEX}`, 't=<10 digits>, v1=<64 HEX>,v1=<64 hex>'],
  [`t=1700000000000,v1=sha256=${HEX}`, 't=<13 digits>,v1=sha256=<64 hex>'],
  ['whsec_secret', '<12 other>'],
  [`${HEX}=`, '<64 hex>='],
  ['t=2026-11-26T00:00:00Z,sig=YWJj+/x==', 't=<20 other>,sig=<7 other>=='],
])('Crossbill describes the signature header %s as %s', (header, form) => {
  expect(formOf(header)).toBe(form);
});

it('Crossbill keeps the pattern, not the digits, of the last readable and the last malformed signature at each endpoint', () => {
  const forms = new SignatureForms();
  forms.saw('mor_payments', `t=1700000000,v1=${HEX}`, true);
  forms.saw('mor_payments', 'nothing', false);
  expect(forms.of('mor_payments')).toEqual({ readable: 't=<10 digits>,v1=<64 hex>', malformed: '<7 other>' });
  expect(forms.of('mor_events')).toEqual({ readable: null, malformed: null });
});
