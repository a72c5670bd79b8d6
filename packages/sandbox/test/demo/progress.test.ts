// The demo's output: a rewritten line on a terminal, plain lines in a pipe, and a table without boxes.
import { describe, expect, it } from '@jest/globals';
import { castOf } from '../../src/demo/cast.js';
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
  progress.rest();
}

describe('progress', () => {
  it('a pipe gets plain lines: no colour, no carriage return, no passing steps', () => {
    const { out, all } = recorded(false);
    story(new Progress(out, undefined));
    expect(all()).toMatch(/^something to know\ndone \(\d+\.\d s\)\n$/);
  });

  it('a terminal gets one rewritten line, never a wrapped one', () => {
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

  it('NO_COLOR turns colours off on a terminal too', () => {
    const { out, all } = recorded(true);
    story(new Progress(out, '1'));
    expect(all().replaceAll('\r\u001b[2K', '')).not.toContain('\u001b');
  });
});

describe('table', () => {
  it('a table puts labels left and numbers right, with nothing after the last word', () => {
    expect(
      table([
        ['Signups', '12', 'all of them'],
        ['Declined, still open', '4', ''],
      ]),
    ).toEqual(['  Signups               12  all of them', '  Declined, still open   4']);
  });
});

describe('the cast', () => {
  it('the cast is the same for the same seed and another for another seed', () => {
    expect(castOf(24, 'a')).toEqual(castOf(24, 'a'));
    expect(castOf(24, 'a')).not.toEqual(castOf(24, 'b'));
  });

  it('twelve customers are of every kind, and nobody with a bank debit pays at once', () => {
    const cast = castOf(12, 'a');
    expect(new Set(cast.map((c) => c.role)).size).toBe(8);
    for (const c of cast) if (c.role === 'debit' || c.role === 'bounces') expect(c.trial).toBe(true);
    expect(new Set(cast.map((c) => c.email)).size).toBe(12);
  });
});
