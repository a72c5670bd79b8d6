// Lists on a terminal: no line is wider than the terminal, and what a person needs comes first.
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fitted, localTime } from '../../../../src/frames/cli/fit.js';

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
  const hint = linesOf(fitted({ heads: HEADS, rows: ROWS }, 60)).at(-1);
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
      const lines = linesOf(fitted({ heads: HEADS, rows }, width)).slice(0, -1);
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(width);
    }),
  );
});
