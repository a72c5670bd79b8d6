// The demo's output: a rewritten line on a terminal, plain lines in a pipe, and a table without boxes.
import { expect, it } from '@jest/globals';
import { billsUsage, castOf, DEMO_ROLES } from '../../src/demo/cast.js';
import { Progress } from '../../src/demo/progress.js';
import { table } from '../../src/demo/report.js';

function recorded(isTTY: boolean): {
  out: { write(text: string): void; isTTY: boolean; columns: number };
  all: () => string;
} {
  let text = '';
  return { out: { write: (more) => void (text += more), isTTY, columns: 40 }, all: () => text };
}

function story(progress: Progress): void {
  progress.step('a step that is longer than forty columns can show at once');
  progress.warn('something to know');
  progress.done('done');
  progress.idle();
}

it('the demo writes plain lines to a pipe, without colours or progress steps', () => {
  const { out, all } = recorded(false);
  story(new Progress(out, undefined));
  expect(all()).toMatch(/^something to know\ndone \(\d+\.\d s\)\n$/);
});

it('the demo rewrites one line on a terminal and never lets the line wrap', () => {
  const { out, all } = recorded(true);
  story(new Progress(out, undefined));
  const drawn = all()
    .split('\r\u001b[2K')
    .filter((part) => part.includes('a step'));
  expect(drawn.length).toBeGreaterThan(0);
  for (const part of drawn) expect(part.length).toBeLessThan(40);
  expect(all()).toContain('\u001b[33msomething to know\u001b[39m\n');
  expect(all().endsWith('\r\u001b[2K')).toBe(true);
});

it('the demo writes no colours to a terminal under NO_COLOR', () => {
  const { out, all } = recorded(true);
  story(new Progress(out, '1'));
  expect(all().replaceAll('\r\u001b[2K', '')).not.toContain('\u001b');
});

it("the demo's table aligns labels left and numbers right, without spaces at the end of a line", () => {
  expect(
    table([
      ['Signups', '12', 'all of them'],
      ['Declined, still open', '4', ''],
    ]),
  ).toEqual(['  Signups               12  all of them', '  Declined, still open   4']);
});

it('the demo has the same customers for the same seed, and other customers for another seed', () => {
  expect(castOf(24, 'a')).toEqual(castOf(24, 'a'));
  expect(castOf(24, 'a')).not.toEqual(castOf(24, 'b'));
});

it("the demo's first twelve customers include every kind, and those with a bank debit start with a trial", () => {
  const cast = castOf(12, 'a', DEMO_ROLES);
  expect(new Set(cast.map((c) => c.role)).size).toBe(10);
  expect(cast.filter(billsUsage).map((c) => [c.role, c.trial])).toEqual([
    ['metered', true],
    ['usage', false],
  ]);
  for (const c of cast) if (c.role === 'debit' || c.role === 'bounces') expect(c.trial).toBe(true);
  expect(new Set(cast.map((c) => c.email)).size).toBe(12);
});
