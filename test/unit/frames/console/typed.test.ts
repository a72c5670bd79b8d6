// A refused form of the console: what it keeps, and the key of its next try.
import { expect, it } from '@jest/globals';
import { invalid, Problem } from '../../../../src/frames/api/http/problem.js';
import { Form } from '../../../../src/frames/console/form.js';
import { html } from '../../../../src/frames/console/html.js';
import { inputField, Typed } from '../../../../src/frames/console/typed.js';

const KEY = 'con-00000000-0000-4000-8000-000000000000';
const form = new Form(new Map([['key', KEY], ['days', '400'], ['note', '']])); // prettier-ignore
const refused = (problem: Problem): Typed => new Typed(form, problem);
const tooMany = (): Problem =>
  new Problem(400, 'invalid_request', 'x', [{ field: 'expires_in', message: 'is too long' }]);

it('a refused form keeps an emptied field empty, and a field it never had gets the page’s proposal', () => {
  const typed = refused(tooMany());
  expect([typed.text('days', '7'), typed.text('note', 'why'), typed.text('country', 'GB')]).toEqual(['400', '', 'GB']);
  expect(new Typed(null, null).text('days', '7')).toBe('7');
});

it('a refused form’s next try is a new request; without a reply it is the same request again', () => {
  expect(refused(tooMany()).key()).not.toBe(KEY);
  expect(refused(new Problem(502, 'mor_unavailable', 'x')).key()).toBe(KEY);
});

it('a mistake stands at its field under the field’s other names too, with its words escaped, and is not said twice', () => {
  const typed = refused(new Problem(400, 'invalid_request', 'x', [{ field: 'expires_in', message: 'not <b>' }]));
  const drawn = inputField(typed, { name: 'days', label: 'Days', also: ['expires_in'] }, html``).toString();
  expect(drawn).toContain('aria-describedby="days-mistake"');
  expect(drawn).toContain('Not &lt;b&gt;.');
  expect(typed.message()?.toString()).not.toContain('invalid_request');
});

it('a mistake of a field that the form does not show stands above the form, with its code', () => {
  const said = refused(invalid('recipient', 'has no address')).message()?.toString();
  expect(said).toContain('has no address');
  expect(said).toContain('invalid_request');
});
