import { expect, it } from '@jest/globals';
import { whereItIs } from '../../../src/reviews/review-page.js';

it('the console never calls an open review item settled, even if more open items come before it than the console counts', () => {
  const beyond = { open: 200, more: true, at: null, previous: null, next: 'rev_1', first: 'rev_1' };
  const isSettled = (isOpen: boolean): boolean => String(whereItIs(beyond, isOpen)).includes('Settled');
  expect([isSettled(true), isSettled(false)]).toEqual([false, true]);
});
