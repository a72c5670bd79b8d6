// The rules for the sources as they stand: imports, length of files, the place of a rule, stored words.
import { expect, it } from '@jest/globals';
import { brokenRules, folderCircles, readSources, tooLong } from './import-rules.js';
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

it('no source file has more than 400 lines, and no test file more than 550', () => {
  expect([src, tools, readSources('test')].flatMap(tooLong)).toEqual([]);
});

/** The complaints about a file with this text, in a project of the usual files. */
function saidOf(path: string, text: string): string[] {
  const others = [
    'domain/money.ts',
    'store/inbox.ts',
    'config/index.ts',
    'mor/wire.ts',
    'mor/client.ts',
    'intake/refund.ts',
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
    expect(saidOf('mor/pay.ts', text)).toEqual(['mor/pay.ts imports store/inbox.ts: mor may not']);
  }
});

it('the import check allows only the imports in the import table', () => {
  expect(saidOf('mor/pay.ts', `import '../domain/money.js'; import 'rxjs'; import './client.js';`)).toEqual([]);
  expect(
    saidOf('packages/proof/src/x.ts', `import '#src/shared/domain/money.js'; import '#src/frames/mor/wire.js';`),
  ).toEqual([]);
  expect(
    saidOf('packages/sandbox/src/mor.ts', `import '#src/frames/mor/client.js'; import '@crossbill/mor';`),
  ).toHaveLength(2);
  expect(saidOf('main.ts', `import './store/inbox.js'; import './config/index.js';`)).toEqual([]);
  expect(saidOf('mor/x.ts', `import '../intake/refund.js';`)).toHaveLength(1);
});

it('the import check refuses an npm package in src/domain, an unknown folder and a file outside src', () => {
  expect(saidOf('domain/x.ts', `import { readFile } from 'node:fs';`)).toHaveLength(1);
  expect(saidOf('domain/x.ts', `import { createHash } from 'node:crypto';`)).toEqual([]);
  expect(saidOf('store/x.ts', `import '../../migrations/1.js';`)).toHaveLength(1);
  expect(saidOf('helpers/x.ts', '')).toEqual(['helpers/x.ts: helpers is not in the table of parts']);
  expect(saidOf('store/x.ts', `import '../domain/gone.js';`)).toHaveLength(1);
});

it('the import check finds circular imports, even of types', () => {
  const files = [
    { path: 'domain/a.ts', text: `import { type B } from './b.js';` },
    { path: 'domain/b.ts', text: `import { c } from './c.js';` },
    { path: 'domain/c.ts', text: `export * from './a.js';` },
  ];
  expect(brokenRules(files)).toEqual(['a circle of imports: domain/a.ts -> domain/b.ts -> domain/c.ts -> domain/a.ts']);
});

it('the import check finds folders importing each other in a circle even if no files do', () => {
  const files = [
    { path: 'refunds/rules/a.ts', text: `import { type B } from '../../payments/b.js';` },
    { path: 'payments/b.ts', text: '' },
    { path: 'payments/c.ts', text: `import '../refunds/d.js';` },
    { path: 'refunds/d.ts', text: `import '../domain/money.js';` },
  ];
  expect(folderCircles(files)).toEqual([
    'refunds/rules/a.ts imports payments/b.js; payments/c.ts imports refunds/d.js',
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
    expect(saidOf('store/x.ts', text)).toEqual(['store/x.ts reads process.env: only config/ and the main programs do']);
    expect(saidOf('config/x.ts', text)).toEqual([]);
  }
  expect(saidOf('store/x.ts', '// process.env is not read here\nconst s = "process.env";')).toEqual([]);
});

it('the line check counts the lines of a file as an editor does', () => {
  expect(tooLong([{ path: 'a.ts', text: 'x\n'.repeat(400) }])).toEqual([]);
  expect(tooLong([{ path: 'a.ts', text: 'x\n'.repeat(401) }])).toHaveLength(1);
});

const NAMED_RULES: readonly (readonly [rule: string, file: string, name: string])[] = [
  ['the alarm when no verdict came', 'invoices/rules/verdict.ts', 'overdueItems'],
  ['when a draft counts as stuck', 'invoices/rules/invoice.ts', 'draftItems'],
  ['whether a payment may be marked on its invoice', 'payments/rules/mark.ts', 'decideMark'],
  ['what happens with an overpayment', 'payments/rules/payment.ts', 'declareSurplus'],
  ['how many invoices a charge pays', 'engine/payment.ts', 'collect'],
  ['who may refund how much', 'refunds/rules/request.ts', 'requestRefund'],
  ['when a refund counts as stuck', 'refunds/rules/request.ts', 'stuckRefunds'],
  ['what of a refund shows on Stripe', 'refunds/rules/mirror.ts', 'mirrorRefunds'],
  ["when a signup's charge counts as proven", 'payments/rules/payment.ts', 'unprovenItems'],
  ['what a short bank transfer does', 'transfers/rules/proforma.ts', 'takeSettled'],
  ['when a failed renewal gets a payment link', 'links/rules/link.ts', 'settleRecovery'],
  ['what a lost dispute books', 'returns/rules/loss.ts', 'bookLosses'],
  ['who won a dispute', 'disputes/rules/dispute.ts', 'outcomeIn'],
  ['what a person may choose for a review item', 'reviews/rules/choices.ts', 'resolutionsOf'],
  ["how long a refund's key is good", 'policy.ts', 'KEY_LIFE_MS'],
  ['how fast a failed call is tried again', 'policy.ts', 'RETRY_LONGEST_PAUSE_MS'],
  ['which Stripe errors are tried again', 'stripe/failure.ts', 'toFailure'],
];

const LIMIT_OF_RULES = 350;
/** The one file that knows the sentences of every room. */
const JOINS_WORDS = 'reviews/rules/words.ts';

it.each(NAMED_RULES)('the rule on %s is exported from %s', (_, path, name) => {
  const file = src.find((f) => f.path === path);
  expect(file?.text).toMatch(new RegExp(`^export (function|const|abstract class|class) ${name}\\b`, 'm'));
});

it('no file of rules has more than 350 lines', () => {
  const rules = src.filter((f) => /^domain\/|\/rules\/|^policy\.ts$/.test(f.path));
  const long = rules.filter((f) => f.text.split('\n').length - 1 > LIMIT_OF_RULES).map((f) => f.path);
  expect(rules.length).toBeGreaterThan(50);
  expect(long).toEqual([]);
});

it('a file of rules imports rules only from its own folder of src, mor-objects and reviews', () => {
  const needs = src.flatMap(({ path, text }) => {
    const room = /^([a-z-]+)\/rules\//.exec(path)?.[1];
    if (room === undefined || path === JOINS_WORDS) return [];
    const others = [...text.matchAll(/from '\.\.\/\.\.\/([a-z-]+)\/rules\//g)].map(([, to]) => to);
    return others.filter((to) => to !== 'mor-objects' && to !== 'reviews').map((to) => `${path} needs ${to ?? ''}`);
  });
  expect(needs).toEqual([]);
});

/**
 * The parts whose words reach a table or a log: journal lines, review items, reasons. The table of notifications describes fields for the
 * reference; its sentences have a test of their own.
 */
const WRITERS =
  /^(domain(?!\/notification\.ts)|engine|store|mor|stripe|intake|[a-z-]+\/rules)\/|\.flow\.ts$|(^|\/)(watch-[a-z]+|verify-reports)\.ts$/;

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
  const files = src.filter(({ path }) => WRITERS.test(path));
  expect(files.length).toBeGreaterThan(50);
  expect(files.flatMap(({ path, text }) => otherThanAscii(path, text))).toEqual([]);
  expect(otherThanAscii('x.ts', `const a = \`the MoR\u2019s \${b}\`; // \u2019`)).toHaveLength(1);
});
