// The rules for the sources as they stand: imports, length of files, the place of a rule, stored words.
import { expect, it } from '@jest/globals';
import { brokenRules, folderCircles, MAX_LINES, packagesBehind, readSources, tooLong } from './import-rules.js';
import { posix } from 'node:path';
import ts from 'typescript';

const src = readSources('src');
const tools = [...readSources('tools'), ...readSources('packages')].filter(
  (f) => !f.path.startsWith('packages/proof/test/'),
);

it('each source file imports only what the import table allows its folder, and no imports form a circle', () => {
  const files = [...src, ...tools];
  expect(files.length).toBeGreaterThan(5);
  expect(brokenRules(files)).toEqual([]);
});

it('no folders of src import each other in a circle', () => {
  expect(folderCircles(src)).toEqual([]);
});

it('the list of features loads no package at its start, so every folder may import it', () => {
  expect(packagesBehind(src, 'features.ts')).toEqual([]);
});

it('no file of src has more than 310 lines, no other source file more than 400, and no test file more than 550', () => {
  expect([src, tools, readSources('test')].flatMap(tooLong)).toEqual([]);
});

/** The complaints about a file with this text, in a project of the usual files. */
function saidOf(path: string, text: string): string[] {
  const others = [
    'shared/domain/money.ts',
    'frames/store/inbox.ts',
    'shared/config/index.ts',
    'frames/mor/wire.ts',
    'frames/mor/client.ts',
    'frames/intake/refund.ts',
  ];
  return brokenRules([...others.map((other) => ({ path: other, text: '' })), { path, text }]);
}

it('the import check finds a forbidden import in each syntactic form of an import', () => {
  for (const text of [
    `import { a } from '../store/inbox.js';`,
    `import { type A } from '../store/inbox.js';`,
    `import '../store/inbox.js';`,
    `export * from '../store/inbox.js';`,
    `export const a = await import('../store/inbox.js');`,
    `export type A = import('../store/inbox.js').A;`,
  ]) {
    expect(saidOf('frames/mor/pay.ts', text)).toEqual([
      'frames/mor/pay.ts imports frames/store/inbox.ts: frames/mor may not',
    ]);
  }
});

it('the import check allows only the imports in the import table', () => {
  expect(
    saidOf('frames/mor/pay.ts', `import '../../shared/domain/money.js'; import 'rxjs'; import './client.js';`),
  ).toEqual([]);
  expect(
    saidOf('packages/proof/src/x.ts', `import '#src/shared/domain/money.js'; import '#src/frames/mor/wire.js';`),
  ).toEqual([]);
  expect(
    saidOf('packages/sandbox/src/mor.ts', `import '#src/frames/mor/client.js'; import '@crossbill/mor';`),
  ).toHaveLength(2);
  expect(saidOf('main.ts', `import './frames/store/inbox.js'; import './shared/config/index.js';`)).toEqual([]);
  expect(saidOf('frames/mor/x.ts', `import '../intake/refund.js';`)).toHaveLength(1);
});

it('the import check refuses an npm package in src/domain, an unknown folder and a file outside src', () => {
  expect(saidOf('shared/domain/x.ts', `import { readFile } from 'node:fs';`)).toHaveLength(1);
  expect(saidOf('shared/domain/x.ts', `import { createHash } from 'node:crypto';`)).toEqual([]);
  expect(saidOf('frames/store/x.ts', `import '../../../migrations/1.js';`)).toHaveLength(1);
  expect(saidOf('helpers/x.ts', '')).toEqual(['helpers/x.ts: helpers is not in the table of parts']);
  expect(saidOf('frames/store/x.ts', `import '../../shared/domain/gone.js';`)).toHaveLength(1);
});

it('the import check finds circular imports, even of types', () => {
  const files = [
    { path: 'shared/domain/a.ts', text: `import { type B } from './b.js';` },
    { path: 'shared/domain/b.ts', text: `import { c } from './c.js';` },
    { path: 'shared/domain/c.ts', text: `export * from './a.js';` },
  ];
  expect(brokenRules(files)).toEqual([
    'a circle of imports: shared/domain/a.ts -> shared/domain/b.ts -> shared/domain/c.ts -> shared/domain/a.ts',
  ]);
});

it('the import check finds folders importing each other in a circle even if no files do', () => {
  const files = [
    { path: 'core/refunds/rules/a.ts', text: `import { type B } from '../../payments/b.js';` },
    { path: 'core/payments/b.ts', text: '' },
    { path: 'core/payments/c.ts', text: `import '../refunds/d.js';` },
    { path: 'core/refunds/d.ts', text: `import '../../shared/domain/money.js';` },
  ];
  expect(folderCircles(files)).toEqual([
    'core/refunds/rules/a.ts imports core/payments/b.js; core/payments/c.ts imports core/refunds/d.js',
  ]);
});

it('the import check finds each way to read an environment variable', () => {
  for (const text of [
    'process.env.PORT;',
    `process['env'].PORT;`,
    'globalThis.process.env;',
    'const { env } = process;',
    'const { env: e } = process;',
    `import { env } from 'node:process';`,
  ]) {
    expect(saidOf('frames/store/x.ts', text)).toEqual([
      'frames/store/x.ts reads process.env: only config/ and the main programs do',
    ]);
    expect(saidOf('shared/config/x.ts', text)).toEqual([]);
  }
  expect(saidOf('frames/store/x.ts', '// process.env is not read here\nconst s = "process.env";')).toEqual([]);
});

it('the line check counts the lines of a file as an editor does', () => {
  expect(tooLong([{ path: 'a.ts', text: 'x\n'.repeat(MAX_LINES) }])).toEqual([]);
  expect(tooLong([{ path: 'a.ts', text: 'x\n'.repeat(MAX_LINES + 1) }])).toHaveLength(1);
});

const NAMED_RULES: readonly (readonly [rule: string, file: string, name: string])[] = [
  ['the alarm when no verdict came', 'core/invoices/rules/verdict.ts', 'overdueItems'],
  ['when a draft counts as stuck', 'core/invoices/rules/invoice.ts', 'draftItems'],
  ['whether a payment may be marked on its invoice', 'core/payments/rules/decide-mark.ts', 'decideMark'],
  ['what happens with an overpayment', 'core/payments/rules/surplus.ts', 'declareSurplus'],
  ['how many invoices a charge pays', 'core/books/rules/collect.ts', 'collect'],
  ['who may refund how much', 'core/refunds/rules/request.ts', 'requestRefund'],
  ['when a refund counts as stuck', 'core/refunds/rules/stuck-refund.ts', 'stuckRefunds'],
  ['what of a refund shows on Stripe', 'core/refunds/rules/mirror.ts', 'mirrorRefunds'],
  ["when a signup's charge counts as proven", 'core/payments/rules/proof.ts', 'unprovenItems'],
  ['what a short bank transfer does', 'features/transfers/rules/proforma.ts', 'applySettled'],
  ['when a failed renewal gets a payment link', 'features/links/rules/link.ts', 'settleRecovery'],
  ['what a lost dispute books', 'features/losses/returns/rules/loss.ts', 'postLosses'],
  ['who won a dispute', 'features/losses/disputes/rules/dispute.ts', 'outcomeIn'],
  ['what a person may choose for a review item', 'core/reviews/rules/choices.ts', 'resolutionsOf'],
  ["how long a refund's key is good", 'shared/policy.ts', 'KEY_LIFE_MS'],
  ['how fast a failed call is tried again', 'shared/policy.ts', 'RETRY_LONGEST_PAUSE_MS'],
  ['which Stripe errors are tried again', 'frames/stripe/failure.ts', 'toFailure'],
];

const LIMIT_OF_RULES = 270;
/** Rules and words that were longer when the limit fell. This list may only shrink. */
const STILL_LONG = ['shared/domain/events/stripe-event.ts', 'shared/domain/mor-object.ts'];
/** The one file that knows the sentences of every room. */
const JOINS_WORDS = 'core/reviews/rules/words.ts';

it.each(NAMED_RULES)('the rule on %s is exported from %s', (_, path, name) => {
  const file = src.find((f) => f.path === path);
  expect(file?.text).toMatch(new RegExp(`^export (function|const|abstract class|class) ${name}\\b`, 'm'));
});

it('no file of rules has more than 270 lines', () => {
  const rules = src.filter((f) => /^shared\/(domain\/|policy\.ts$)|\/rules\//.test(f.path));
  const long = rules
    .filter((f) => f.text.split('\n').length - 1 > LIMIT_OF_RULES && !STILL_LONG.includes(f.path))
    .map((f) => f.path);
  expect(rules.length).toBeGreaterThan(50);
  expect(long).toEqual([]);
});

it('a file of rules imports rules only from its own folder of src, books, mor-objects and reviews', () => {
  const roomOf = (path: string): string | undefined => /^(.+)\/rules\//.exec(path)?.[1];
  const needs = src.flatMap(({ path, text }) => {
    const room = roomOf(path);
    if (room === undefined || path === JOINS_WORDS) return [];
    const targets = [...text.matchAll(/from '(\.[^']+)'/g)].map(([, to = '']) => posix.join(posix.dirname(path), to));
    const others = targets.flatMap((to) => roomOf(to) ?? []).filter((to) => to !== room);
    return others.filter((to) => !/^core\/(books|mor-objects|reviews)$/.test(to)).map((to) => `${path} needs ${to}`);
  });
  expect(needs).toEqual([]);
});

/**
 * The parts whose words reach a table or a log: journal lines, review items, reasons. The tables of notifications describe fields for the
 * reference; their sentences have a test of their own.
 */
const WRITERS =
  /^(shared\/domain|engine|frames\/(store|mor|stripe|intake)|.+\/rules)\/|\.service\.ts$|(^|\/)(watch-[a-z]+|verify-reports)\.ts$/;

const NOTIFICATIONS =
  /^(shared\/domain\/(core-notifications|notification-parts)|features\/.+\/rules\/notifications)\.ts$/;

/** String and template texts with other characters, as `path:line text`. Comments may have any, and so may escapes. */
function otherThanAscii(path: string, text: string): string[] {
  if (!/[^\x00-\x7f]/.test(text)) return [];
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    const isText = ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node);
    if (isText && /[^\x00-\x7f]/.test(node.getText(source))) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
      found.push(`${path}:${line + 1} ${node.text}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

it("no source file uses Nest's logger, since Nest's log lines have no event code", () => {
  const users = src.filter(({ text }) => /import \{[^}]*\bLogger\b[^}]*\} from '@nestjs\/common'/.test(text));
  expect(users.map(({ path }) => path)).toEqual([]);
});

it('each sentence Crossbill stores or logs is plain ASCII', () => {
  const files = src.filter(({ path }) => WRITERS.test(path) && !NOTIFICATIONS.test(path));
  expect(files.length).toBeGreaterThan(50);
  expect(files.flatMap(({ path, text }) => otherThanAscii(path, text))).toEqual([]);
  expect(otherThanAscii('x.ts', `const a = \`the MoR\u2019s \${b}\`; // \u2019`)).toHaveLength(1);
});
