// Lists on a terminal: no line is wider than the terminal, and what a person needs comes first.
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { renderChecks } from '../../../../src/frames/cli/doctor.js';
import { check } from '../../../../src/frames/cli/doctor/check.js';
import { broken, drawn, fitted, localTime } from '../../../../src/frames/cli/fit.js';

const HEADS = ['id', 'due_at', 'created_at', 'kind', 'status', 'invoice_id', 'summary'];
const ROWS = [
  [
    'rev_7Hq2mXw9LkPz',
    '-',
    '2026-11-20T12:00:00.000Z',
    'amount_mismatch',
    'open',
    'in_Q05N6AXCZUxiw7hJuKhmWS4r',
    'The MoR took 29.90 EUR, but the invoice is open with 34.90 EUR. Nobody has marked the invoice.',
  ],
];
const linesOf = (text: string): string[] => text.trimEnd().split('\n');

it.each([40, 80, 100, 132])(
  'at %i columns no line of a list is wider, and status, sentence and id come first',
  (width) => {
    const [head = '', , row = '', ...rest] = linesOf(fitted({ heads: HEADS, rows: ROWS }, width));
    expect(Math.max(head.length, row.length)).toBeLessThanOrEqual(width);
    expect(head).toMatch(/^status +summary/);
    expect(row).toMatch(/^open +The MoR took 29\.90/);
    expect(rest.join(' ')).toContain('--wide');
  },
);

it('a list names the columns that have no room', () => {
  const hint = linesOf(fitted({ heads: HEADS, rows: ROWS }, 60))
    .slice(3)
    .join(' ');
  expect(hint).toContain('Not shown: ');
  expect(hint).toContain('invoice_id');
});

it('on a wide terminal each column is there, ids are short and times are local', () => {
  const text = fitted({ heads: HEADS, rows: ROWS }, 300);
  for (const head of HEADS) expect(linesOf(text)[0]).toContain(head);
  expect(text).not.toContain('Not shown');
  expect(text).toContain('rev_7Hq2mX…');
  expect(text).toContain('in_Q05N6A…');
  expect(text).toContain(localTime(new Date('2026-11-20T12:00:00Z')));
  expect(text).toContain('Nobody has marked the invoice.');
});

it('a list shortens ids, and no word of Crossbill with the shape of an id', () => {
  const rows = [['mor_receivable', 'in_Q05N6AXCZUxiw7hJuKhmWS4r', 'cus_abcdefgh1']];
  const row = linesOf(fitted({ heads: ['account', 'invoice', 'customer'], rows }, 80))[2];
  expect(row).toMatch(/^mor_receivable +in_Q05N6A… +cus_abcdef…$/);
});

it('text from outside cannot move the cursor in a fitted list', () => {
  expect(fitted({ heads: ['status', 'reason'], rows: [['open', 'a\u001b[2J b']] }, 80)).not.toContain('\u001b');
});

it('an empty list says so', () => {
  expect(fitted({ heads: HEADS, rows: [] }, 80)).toBe('none\n');
});

it('no list of any content and width is wider than its terminal', () => {
  const cell = fc.oneof(fc.string({ maxLength: 80 }), fc.constant('in_Q05N6AXCZUxiw7hJuKhmWS4r'), fc.constant('-'));
  const row = fc.tuple(...HEADS.map(() => cell));
  fc.assert(
    fc.property(fc.array(row, { minLength: 1, maxLength: 5 }), fc.integer({ min: 40, max: 200 }), (rows, width) => {
      const lines = linesOf(fitted({ heads: HEADS, rows }, width));
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(width);
    }),
  );
});

it('a report keeps everything in a file, and breaks its lines and fits its tables on a terminal', () => {
  const sentence = `  ${'12 customers are linked to the MoR, '.repeat(4)}the last.\n`;
  const report = ['Enrolment\n', sentence, { heads: HEADS, rows: ROWS }];
  const whole = drawn(report, null);
  expect(whole).toContain(sentence);
  expect(whole).toContain('in_Q05N6AXCZUxiw7hJuKhmWS4r');
  expect(whole).not.toContain('--wide');
  const shown = drawn(report, 80);
  for (const line of linesOf(shown)) expect(line.length).toBeLessThanOrEqual(80);
  expect(shown.replace(/\s+/g, ' ')).toContain(sentence.trim());
  expect(linesOf(shown)[2]).toMatch(/^ {2}\S/); // a broken line keeps its indent
  expect(shown).toContain('--wide');
  expect(drawn(['Nothing to list\n', { heads: HEADS, rows: [] }], 80)).not.toContain('--wide');
});

it('a broken line loses no character, and an unbreakable word stays whole', () => {
  const word = 'x'.repeat(50);
  expect(broken(`a ${word} b`, 20)).toBe(`a\n${word}\nb`);
  expect(broken('short\n\n', 20)).toBe('short\n\n');
});

it('`crossbill doctor` draws its table in a file, and on a narrow terminal a line for each check', () => {
  const { ok, warn } = check('subscriptions that Stripe would charge as well');
  const checks = [
    ok('none of 12 enrolled subscriptions, and this is a rather long sentence about them'),
    warn('1 of 12 enrolled subscriptions', 'Run `crossbill move` for each subscription of the list, then look again.'),
  ];
  const table = renderChecks(checks, false, null);
  expect(linesOf(table)[0]).toMatch(/^ok {4}subscriptions that Stripe would charge as well {2}none of 12/);
  expect(renderChecks(checks, false, 300)).toBe(table);
  const lines = linesOf(renderChecks(checks, false, 60));
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(60);
  expect(lines[0]).toMatch(/^ok {4}subscriptions that Stripe would charge as well: none/);
  expect(lines.find((line) => line.includes('->'))).toMatch(/^ {6}-> Run `crossbill move`/);
  expect(renderChecks(checks, true, 60)).toContain('\u001b[33mWARN\u001b[39m  subscriptions');
});
