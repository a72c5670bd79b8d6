// The final and the polled statuses of an onboarding.
import { expect, it } from '@jest/globals';
import { isFinal, isPolled } from '../../../../../src/features/onboarding/rules/status.js';

const KNOWN = ['requested', 'refused', 'created', 'submitted', 'changes_requested', 'approved', 'rejected'];

it('an approved or rejected onboarding application is final', () => {
  expect(KNOWN.filter(isFinal)).toEqual(['approved', 'rejected']);
});

it('Crossbill polls a submitted or changed application, and an application with an unknown status', () => {
  expect([...KNOWN, 'on_hold'].filter(isPolled)).toEqual(['submitted', 'changes_requested', 'on_hold']);
});
