// The final and the polled statuses of an onboarding, and what a repeated request to begin an application means.
import { expect, it } from '@jest/globals';
import {
  compareAttempt,
  isFinal,
  isPolled,
  readInitiated,
} from '../../../../../src/features/onboarding/rules/application.js';

const KNOWN = ['requested', 'refused', 'created', 'submitted', 'changes_requested', 'approved', 'rejected'];

it('an approved or rejected onboarding application is final', () => {
  expect(KNOWN.filter(isFinal)).toEqual(['approved', 'rejected']);
});

it('Crossbill polls a submitted or changed application, and an application with an unknown status', () => {
  expect([...KNOWN, 'on_hold'].filter(isPolled)).toEqual(['submitted', 'changes_requested', 'on_hold']);
});

const sent = (status: string, initiates = 1) => ({ initiates, status, bodySha256: 'aa' });

it.each([
  ['no request went out yet', sent('requested', 0), 'aa', false, false],
  ['the MoR refused the earlier request', sent('refused'), 'aa', false, false],
  ['the earlier request got no reply and was the same', sent('requested'), 'aa', true, true],
  ['the earlier request got no reply and was another', sent('requested'), 'bb', true, false],
])(
  'a request to begin an application is compared with the earlier requests: %s',
  (_, row, sha, isUnanswered, isRepeat) => {
    expect(compareAttempt(row, sha)).toEqual({ isUnanswered, isRepeat });
  },
);

const first = compareAttempt(sent('requested', 0), 'aa');
const repeat = compareAttempt(sent('requested'), 'aa');
const changed = compareAttempt(sent('requested'), 'bb');
const unlisted = { merchantId: null };
const listed = { merchantId: 'm' };

it.each([
  ['a first request makes the application', unlisted, first, false, [false, false, true]],
  ['somebody else made the application before', unlisted, first, true, [true, true, false]],
  ['a repeat finds our own application', unlisted, repeat, true, [false, false, true]],
  ['a repeat finds our own application, and its merchant was known', listed, repeat, true, [false, false, false]],
  ['a changed request finds the application of the unanswered request', unlisted, changed, true, [false, true, false]],
])(
  'the answer to a request to begin an application shows whose application it is: %s',
  (_, row, attempt, isExisting, said) => {
    const { existing, companyDiscarded, made } = readInitiated(row, attempt, isExisting);
    expect([existing, companyDiscarded, made]).toEqual(said);
  },
);
