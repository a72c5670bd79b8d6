// Names of the program as people read them in the console.
import { expect, it } from '@jest/globals';
import { words } from '../../../../src/frames/console/show.js';

it.each([
  ['double_payment', 'double payment'],
  ['requestId', 'request id'],
  ['mor_receivable', 'MoR receivable'],
  ['settled_invoices', 'settled invoices'],
])('the console shows the code %s as the words “%s”', (name, said) => {
  expect(words(name)).toBe(said);
});
