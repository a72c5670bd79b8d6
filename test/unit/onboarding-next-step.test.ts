// What comes next for a merchant, row by row.
import { describe, expect, it } from '@jest/globals';
import { isFinal, isPolled } from '../../src/onboarding/rules/status.js';
import { type OnboardingStatus } from '../../src/domain/onboarding.js';
import { nextStep } from '../../src/onboarding/rules/next-step.js';

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

describe('what comes next', () => {
  it.each<[string, Partial<Seen>, RegExp]>([
    ['the MoR refused to begin', { status: 'refused' }, /correct what it named/],
    ['nothing was confirmed', { status: 'requested', merchantId: null, applicationId: null }, /same body/],
    ['the merchant is not listed yet', { status: 'requested', merchantId: null }, /look again/],
    ['a merchant without an application', { status: 'requested', applicationId: null }, /choose product and regions/],
    [
      'everything is due',
      { due: ['selectedRegions', 'businessDescription', 'checkoutUrl'] },
      /regions.*businessDescription.*storeUrls/,
    ],
    ['a requirement that nobody knows', { due: ['bankStatement'] }, /bankStatement/],
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
  ])('%s', (_what, over, says) => {
    expect(nextStep(seen(over))).toMatch(says);
  });

  it('is one sentence for every status', () => {
    for (const status of ALL) expect(nextStep(seen({ status }))).toMatch(/^[A-Z].*\.$/);
  });

  it('asks the MoR only while somebody there may still act', () => {
    expect(ALL.filter(isFinal)).toEqual(['approved', 'rejected']);
    expect(ALL.filter(isPolled)).toEqual(['submitted', 'changes_requested']);
  });
});

describe('a status that no document has', () => {
  it('is not final, is asked for again, and has a next step', () => {
    expect([isFinal('on_hold'), isPolled('on_hold')]).toEqual([false, true]);
    expect(nextStep(seen({ status: 'on_hold' }))).not.toBe('');
  });
});
