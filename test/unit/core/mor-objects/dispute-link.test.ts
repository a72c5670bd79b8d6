// Where the console's link to a dispute leads.
import { expect, it } from '@jest/globals';
import { disputeLink } from '../../../../src/core/mor-objects/dispute-link.view.js';
import { aDispute } from '../../../support/builders/disputed-lane.js';

const PORTAL = 'https://portal.mor.example/disputes/{id}?from=crossbill';
const linked = (over: Parameters<typeof aDispute>[0], portal: string | null): string =>
  disputeLink(aDispute({ morId: 'dp 1/2', status: 'action_needed', ...over }), portal)?.toString() ?? 'none';

it('a dispute links to the address in the MoR’s event, or else to its id in the portal of MOR_PORTAL_URL', () => {
  expect(linked({ url: 'https://mor.example/d/1' }, PORTAL)).toContain('href="https://mor.example/d/1"');
  expect(linked({ url: null }, PORTAL)).toContain(
    'href="https://portal.mor.example/disputes/dp%201%2F2?from=crossbill"',
  );
  expect(linked({ url: null }, null)).toBe('none');
  expect(linked({ url: 'javascript:alert(1)' }, null)).toBe('none');
});

it.each([
  ['action_needed', true],
  ['revision_requested', true],
  ['won', false],
  ['lost', false],
] as const)('the link to a dispute in the state %s is the first act of its page: %s', (status, first) => {
  expect(linked({ status, url: null }, PORTAL).includes('class="button first"')).toBe(first);
});
