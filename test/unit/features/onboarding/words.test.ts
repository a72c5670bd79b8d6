// The next step of a merchant by its status, and the codes of the refusals.
import { expect, it } from '@jest/globals';
import { nextStep, REFUSALS } from '../../../../src/features/onboarding/words.js';

type Seen = Parameters<typeof nextStep>[0];
const seen = (over: Partial<Seen>): Seen => ({
  status: 'created',
  merchantId: 'm',
  applicationId: 'a',
  regions: ['GB'],
  due: [],
  comments: [],
  ...over,
});
const ALL: readonly string[] = [
  'requested',
  'refused',
  'created',
  'submitted',
  'changes_requested',
  'approved',
  'rejected',
];

it.each<[string, Partial<Seen>, RegExp]>([
  ['the MoR refused to begin', { status: 'refused' }, /correct it/],
  ['the MoR has not confirmed', { status: 'requested', merchantId: null, applicationId: null }, /same body/],
  ['the merchant is not listed yet', { status: 'requested', merchantId: null }, /look again/],
  ['the merchant has no application', { status: 'requested', applicationId: null }, /choose product and regions/],
  [
    'every requirement is due',
    { due: ['selectedRegions', 'businessDescription', 'checkoutUrl'] },
    /regions.*businessDescription.*storeUrls/,
  ],
  ['an unknown requirement is due', { due: ['bankStatement'] }, /bankStatement/],
  ['the application has no regions', { regions: [] }, /Choose the regions/],
  ['nothing is due', {}, /POST \.\.\.\/submit/],
  ['the reviewer has the application', { status: 'submitted' }, /reviews it/],
  [
    'the reviewer comments on a field',
    { status: 'changes_requested', comments: [{ field: 'x', message: 'y' }] },
    /fix the listed errors/,
  ],
  [
    'the reviewer asks for changes and a requirement is due',
    { status: 'changes_requested', due: ['selectedRegions'] },
    /supply the regions/,
  ],
  ['the reviewer writes a message alone', { status: 'changes_requested' }, /read review_message/],
  ['the MoR approved the application', { status: 'approved' }, /live/],
  ['the MoR rejected the application', { status: 'rejected' }, /another merchant reference/],
])('the next onboarding step says what to do if %s', (_what, over, says) => {
  expect(nextStep(seen(over))).toMatch(says);
});

it('the next onboarding step is one sentence for every status', () => {
  for (const status of ALL) expect(nextStep(seen({ status }))).toMatch(/^[A-Z].*\.$/);
});

it('the next onboarding step is not empty for an unknown status', () => {
  expect(nextStep(seen({ status: 'on_hold' }))).not.toBe('');
});

it('the refusals of an onboarding step have the codes of the contract', () => {
  expect(Object.values(REFUSALS).map(({ status, code }) => [status, code])).toEqual([
    [409, 'onboarding_not_configured'],
    [409, 'onboarding_not_started'],
    [409, 'onboarding_begun'],
    [409, 'invalid_status'],
  ]);
});
