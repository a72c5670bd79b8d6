// The file of a rehearsal: written whole, read with suspicion.
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { jsonReport } from '../../../../../src/frames/cli/rehearse/report.js';
import { loadRehearsal, newRehearsal, observe, saveFile } from '../../../../../src/frames/cli/rehearse/state.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'crossbill-rehearsal-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('the command `crossbill rehearse` reads back the same state that it saved, and only the owner of the state file may read the file', () => {
  const r = newRehearsal('0a1b2c3d', 'acct_1', new Date());
  r.ids['clock'] = 'clock_1';
  r.steps.push({ name: 'customer', state: 'passed', detail: 'made', at: new Date().toISOString() });
  observe(r, 'key_life', { answer: 'same' });
  const path = join(folder, 'new', 'rehearsal.json');
  saveFile(path, jsonReport(r));
  expect(loadRehearsal(path)).toEqual(r);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(join(folder, 'new'))).toEqual(['rehearsal.json']);
});

it('the command `crossbill rehearse` starts without a state file', () => {
  expect(loadRehearsal(join(folder, 'rehearsal.json'))).toBeNull();
});

it.each(['', '{', '[]', '{"rehearsal":2}', '{"rehearsal":1,"id":"a"}'])(
  'the command `crossbill rehearse` refuses a state file with the content %p',
  (text) => {
    const path = join(folder, 'rehearsal.json');
    writeFileSync(path, text);
    expect(() => loadRehearsal(path)).toThrow(expect.objectContaining({ code: 'not_a_rehearsal', exitCode: 1 }));
  },
);
