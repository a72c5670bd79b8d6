// What ENROLMENT may be.
import { expect, it } from '@jest/globals';
import { SETTINGS } from '../../../../src/shared/config/index.js';

const setting = SETTINGS.enrolment;

const WANTED =
  'must be all, linked or metadata:<key>=<value> with a key of at most 40 characters and a value of at most 500, for example metadata:billed_by=mor';
const parsed = (text: string) => setting.parse(text);

it('ENROLMENT accepts `all`, `linked`, or `metadata` with a key and a value, even with an equals sign in the value', () => {
  expect(setting.unset).toEqual({ by: 'all' });
  expect(parsed('linked')).toEqual({ ok: true, value: { by: 'linked' } });
  expect(parsed('metadata:billed_by=mor=1')).toEqual({
    ok: true,
    value: { by: 'metadata', key: 'billed_by', value: 'mor=1' },
  });
});

it.each([
  ...['everyone', 'ALL', 'Linked', 'metadata', 'meta:a=b', 'linked,all', 'metadata:', 'metadata:key'],
  ...['metadata:=value', 'metadata:key=', `metadata:${'k'.repeat(41)}=v`, 'metadata:a[b]=c'],
])('the daemon refuses ENROLMENT=%s and names the allowed values', (text) => {
  expect(parsed(text)).toEqual({ ok: false, problem: WANTED });
});
