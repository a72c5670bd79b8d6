// The restores of docs/backups.md: `npm run restore-drill` carries them out; this test proves it leaves nothing of
// the page out.
import { execFileSync } from 'node:child_process';
import { expect, it } from '@jest/globals';
import { filledIn, PAGE, stepsOf } from '../../packages/proof/src/restore/page.js';
import { textOf } from './support.js';

const page = textOf(PAGE);
const until = new Date('2026-01-02T03:04:05.678Z');

it('docs/backups.md shows the commands of the restore drill, and bash can parse them', () => {
  for (const [step, block] of Object.entries(stepsOf(page))) {
    const text = filledIn(block, '/tmp/b', step === 'restoreBase' ? until : null);
    expect([step, text]).toEqual([step, expect.not.stringContaining('/backup/')]);
    if (step !== 'archive') execFileSync('bash', ['-n'], { input: text });
  }
  expect(filledIn(stepsOf(page).restoreBase, '/tmp/b', until)).toContain(
    "recovery_target_time = '2026-01-02 03:04:05.678+00'",
  );
});

it('the restore drill refuses an added or changed command in docs/backups.md', () => {
  const more = page.replace('## After a restore', '```sh\nrm -rf "$PGDATA.before"\n```\n\n## After a restore');
  expect(() => stepsOf(more)).toThrow('no step of the restore drill carries this block out:\nrm -rf');
  expect(() => stepsOf(page.replace('pg_dump --format', 'pg_dumpall --format'))).toThrow(PAGE);
});

it('both restores of docs/backups.md end the console sessions: ended ones would come back', () => {
  const { dump, afterBase } = stepsOf(page);
  expect(dump).toContain(' --exclude-table-data console_session ');
  expect(afterBase).toMatch(/^psql "\$DATABASE_URL" -c 'delete from console_session'$/m);
});
