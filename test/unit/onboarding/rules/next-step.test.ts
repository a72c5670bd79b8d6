// The next step of a merchant, by its status.
import { describe, expect, it } from '@jest/globals';
import { type OnboardingStatus } from '../../../../src/domain/onboarding.js';
import { nextStep } from '../../../../src/onboarding/rules/next-step.js';

type Seen = Parameters<typeof nextStep>[0];
const seen = (over: Partial<Seen>): Seen => ({
  status: 'created',
  merchantId: 'm',
  applicationId: 'a',
  regions: ['GB'],
  due: [],
  comments: [],
  reviewMessage: null,
  ...over,
});
const ALL: readonly OnboardingStatus[] = [
  'requested',
  'refused',
  'created',
  'submitted',
  'changes_requested',
  'approved',
  'rejected',
];

describe('the next step of a merchant', () => {
  it.each<[string, Partial<Seen>, RegExp]>([
    ['the MoR refused to begin', { status: 'refused' }, /correct what it named/],
    ['without a confirmation', { status: 'requested', merchantId: null, applicationId: null }, /same body/],
    ['the merchant is not listed yet', { status: 'requested', merchantId: null }, /look again/],
    ['a merchant without an application', { status: 'requested', applicationId: null }, /choose product and regions/],
    [
      'everything is due',
      { due: ['selectedRegions', 'businessDescription', 'checkoutUrl'] },
      /regions.*businessDescription.*storeUrls/,
    ],
    ['an unknown requirement', { due: ['bankStatement'] }, /bankStatement/],
    ['an application of mor without regions', { regions: [] }, /Choose the regions/],
    ['nothing is due', {}, /POST \.\.\.\/submit/],
    ['it waits for the reviewer', { status: 'submitted' }, /reviews it/],
    [
      'changes with comments',
      { status: 'changes_requested', comments: [{ field: 'x', message: 'y' }] },
      /fix what errors name/,
    ],
    ['changes with something due', { status: 'changes_requested', due: ['selectedRegions'] }, /supply the regions/],
    ['changes in words alone', { status: 'changes_requested', reviewMessage: 'call us' }, /read review_message/],
    ['approved', { status: 'approved' }, /live/],
    ['rejected', { status: 'rejected' }, /another merchant reference/],
  ])('after this state is a sentence of its own: %s', (_what, over, says) => {
    expect(nextStep(seen(over))).toMatch(says);
  });

  it('is one sentence for every status', () => {
    for (const status of ALL) expect(nextStep(seen({ status }))).toMatch(/^[A-Z].*\.$/);
  });

  it('is there for an unknown status too', () => {
    expect(nextStep(seen({ status: 'on_hold' }))).not.toBe('');
  });
});
