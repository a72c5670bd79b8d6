// Rules by the name an operator would call them, each with the file where it stands: found from the names of folders and files alone.
import { describe, expect, it } from '@jest/globals';
import { readSources } from './import-rules.js';

const RULES: readonly (readonly [rule: string, file: string, name: string])[] = [
  ['the alarm when no verdict came', 'renewals/rules/overdue.ts', 'verdictBy'],
  ['when a draft counts as stuck', 'renewals/rules/stuck-draft.ts', 'watchFinalization'],
  ['whether a payment may be marked on its invoice', 'renewals/rules/decide-mark.ts', 'decideMark'],
  ['what happens with an overpayment', 'renewals/rules/surplus.ts', 'settleSurplus'],
  ['one charge pays one invoice', 'ledger/rules/one-charge.ts', 'collect'],
  ['who may refund how much', 'refunds/rules/request-refund.ts', 'requestRefund'],
  ['when a refund counts as stuck', 'refunds/rules/stuck-refund.ts', 'watchRefunds'],
  ['what of a refund shows on Stripe', 'refunds/rules/mirror.ts', 'mirrorRefunds'],
  ["when a signup's charge counts as proven", 'signups/rules/prove-charge.ts', 'proven'],
  ['what a short bank transfer does', 'transfers/rules/proforma-event.ts', 'applySettled'],
  ['when a failed renewal gets a payment link', 'links/rules/recovery.ts', 'settleRecovery'],
  ['what a lost dispute books', 'disputes/rules/book-losses.ts', 'bookLosses'],
  ['who won a dispute', 'disputes/rules/outcome.ts', 'outcomeIn'],
  ['which tax is committed when', 'tax/rules/settle-tax.ts', 'settleTax'],
  ['what a person may choose for a review item', 'reviews/rules/choices.ts', 'resolutionsOf'],
  ["how long a refund's key is good", 'policy.ts', 'KEY_LIFE_MS'],
  ['how fast a failed call is tried again', 'policy.ts', 'RETRY_LONGEST_PAUSE_MS'],
  ['which Stripe errors are tried again', 'stripe/failure.ts', 'toFailure'],
];

const LIMIT = 350;

describe('the rooms', () => {
  const files = readSources('src');

  it.each(RULES)('%s: %s', (_, path, name) => {
    const file = files.find((f) => f.path === path);
    expect(file?.text).toMatch(new RegExp(`^export (function|const|abstract class|class) ${name}\\b`, 'm'));
  });

  it(`have no rule in a file of more than ${LIMIT} lines`, () => {
    const rules = files.filter((f) => /^domain\/|\/rules\/|^policy\.ts$/.test(f.path));
    const long = rules.filter((f) => f.text.split('\n').length - 1 > LIMIT).map((f) => f.path);
    expect(rules.length).toBeGreaterThan(50);
    expect(long).toEqual([]);
  });

  it('are known to the engine and do not know it: no rule of a subject imports lane/rules', () => {
    const found = files
      .filter((f) => /\/rules\//.test(f.path) && !f.path.startsWith('lane/'))
      .filter((f) => /from '[^']*\/lane\/rules\//.test(f.text.replaceAll('/domain/lane/', '/')));
    expect(found.map((f) => f.path)).toEqual([]);
  });

  it('have no two subjects whose rules need each other, however far around', () => {
    const needs = new Map<string, Set<string>>();
    for (const { path, text } of files) {
      const from = /^([a-z-]+)\/rules\//.exec(path)?.[1];
      if (from === undefined) continue;
      const own = needs.get(from) ?? new Set();
      for (const [, to = ''] of text.matchAll(/from '\.\.\/\.\.\/([a-z-]+)\/rules\//g)) own.add(to);
      needs.set(from, own);
    }
    // Whoever needs nobody that is left goes; what stays goes round in a circle.
    for (let gone = true; gone;) {
      gone = false;
      for (const [from, own] of needs) {
        if ([...own].some((to) => needs.has(to))) continue;
        needs.delete(from);
        gone = true;
      }
    }
    expect([...needs]).toEqual([]);
  });
});
