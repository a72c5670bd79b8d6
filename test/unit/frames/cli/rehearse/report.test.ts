// The report of a rehearsal: what people read, and what must not be in it.
import { expect, it } from '@jest/globals';
import { cleaned, jsonReport, markdownReport } from '../../../../../src/frames/cli/rehearse/report.js';
import { FACT_NAMES, newRehearsal, observe } from '../../../../../src/frames/cli/rehearse/state.js';

const NOW = new Date('2026-11-26T00:00:00Z');
const aRehearsal = () => newRehearsal('0a1b2c3d', 'acct_1', NOW);

it('the report of a rehearsal has a row for each step, even for a step not yet run', () => {
  const r = aRehearsal();
  r.steps.push({ name: 'customer', state: 'passed', detail: 'one | two', at: NOW.toISOString() });
  const text = markdownReport(r, ['customer', 'mark']);
  expect(text).toContain('| customer | pass | one \\| two |');
  expect(text).toContain('| mark | not yet | |');
});

it('the report of a rehearsal has a heading for each fact, even for a fact not observed', () => {
  const r = aRehearsal();
  observe(r, 'key_life', { answer: 'same', age_minutes: 3 });
  const text = markdownReport(r, []);
  expect(text.match(/^### /gm)).toHaveLength(FACT_NAMES.length);
  expect(text.match(/^Not observed\.$/gm)).toHaveLength(FACT_NAMES.length - 1);
  expect(text).toContain('- answer: `same`; age minutes: 3');
});

it('the report of a rehearsal lists equal observations only one time', () => {
  const r = aRehearsal();
  for (const status of [404, 404, 200]) observe(r, 'unknown_charge', { status });
  expect(r.facts.unknown_charge).toEqual([{ status: 404 }, { status: 200 }]);
});

it('the report of a rehearsal contains no secret and no e-mail address', () => {
  const r = aRehearsal();
  observe(r, 'unknown_charge', { words: 'no charge of ada@shop.example under key-0123456789' });
  const censor = (text: string) => text.replaceAll('key-0123456789', '[secret]');
  for (const text of [jsonReport(r), markdownReport(r, [])]) {
    expect(cleaned(text, censor)).not.toMatch(/ada@|key-0123456789/);
    expect(cleaned(text, censor)).toContain('no charge of [address] under [secret]');
  }
});
