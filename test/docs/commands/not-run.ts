// The documents' commands without a run in their test, each with the reason. Keep it short: run everything runnable.

export type NotRun = {
  /** How the command begins. */
  readonly command: string;
  readonly why: string;
  /** The test with a run of it, if there is one. */
  readonly runs?: { readonly file: string; readonly title: string };
};

const DEVELOPERS = 'a program for developers, minutes long or without an end';
const HOURS = 'each pair takes minutes; `.ci/run` runs the short one';

const ON_A_SERVER = 'a step of a backup or restore, on a server of its own: `npm run restore-drill` runs it';
const DRILL = {
  file: 'docs/restore-drill.test.ts',
  title: 'docs/backups.md shows the commands',
};

export const NOT_RUN: readonly NotRun[] = [
  {
    command: 'npm install && npm run demo',
    why: 'a minute and more; `.ci/run` runs the whole demo by `npm run matrix -- --short`',
    runs: { file: 'cli/programs.test.ts', title: '`crossbill sandbox --help` lists' },
  },
  {
    command: 'npm install && npm run example',
    why: 'it stays up until Ctrl-C',
    runs: { file: 'examples/run.test.ts', title: 'starts shop, console and sandbox' },
  },
  {
    command: 'npm run --silent sandbox | tee sandbox.env',
    why: 'it stays up until Ctrl-C; the page’s shell has the file',
    runs: { file: 'cli/programs.test.ts', title: '`crossbill sandbox` prints the settings of a daemon' },
  },
  {
    command: 'npm start',
    why: 'it stays up until Ctrl-C; the daemon of the test stands for it',
    runs: { file: 'e2e/restart.test.ts', title: 'a daemon stops under load within 20 s' },
  },
  {
    command: 'crossbill move --reference "batch 1" --back',
    why: 'the daemon of the test enrols everybody, where it is refused',
    runs: { file: 'e2e/move.test.ts', title: '`crossbill move --back` restores the card' },
  },
  {
    command: 'crossbill rehearse',
    why: 'it asks once at a terminal',
    runs: { file: 'cli/rehearse.test.ts', title: 'passes every step on a test clock' },
  },
  {
    command: 'crossbill listen',
    why: 'it stays up until Ctrl-C',
    runs: { file: 'cli/notifications.test.ts', title: '`crossbill listen` prints' },
  },
  {
    command: 'npm run client:pack',
    why: 'a build of its own',
    runs: { file: 'client/package.test.ts', title: 'pack' },
  },
  { command: 'npm install && npm test', why: DEVELOPERS },
  { command: 'npm ci', why: DEVELOPERS },
  { command: 'npm run dev', why: DEVELOPERS },
  { command: 'npm run check', why: DEVELOPERS },
  { command: 'npm run test:unit', why: DEVELOPERS },
  { command: 'npm test', why: DEVELOPERS },
  { command: 'npm run test:long', why: DEVELOPERS },
  { command: 'node --inspect-brk', why: DEVELOPERS },
  { command: 'npm run matrix', why: HOURS },
  {
    command: 'npm run chaos',
    why: 'it kills processes for minutes; tests cover its parts',
    runs: { file: 'packages/proof/test/chaos.test.ts', title: 'a chaos run injects the same faults' },
  },
  { command: 'createdb', why: 'a program of PostgreSQL, on its server: tests make their databases by SQL' },
  ...[
    'pg_dump',
    'psql "$ADMIN_URL"',
    'psql "$DATABASE_URL" -c \'delete from console_session\'',
    'pg_restore',
    'pg_basebackup',
    'pg_ctl',
    'mv "$PGDATA"',
    'cp -a',
    'cat >>"$PGDATA',
    'touch "$PGDATA',
  ].map((command) => ({ command, why: ON_A_SERVER, runs: DRILL })),
];

/** The npm scripts with options, and the files reading them. */
export const OPTIONS_IN: Readonly<Record<string, string>> = {
  matrix: 'packages/proof/matrix/main.mjs',
  bench: 'packages/bench/src/main.ts',
  simulate: 'packages/proof/src/simulate/options.ts',
  chaos: 'packages/proof/src/chaos/options.ts',
  demo: 'packages/sandbox/src/demo/options.ts',
  fuzz: 'packages/proof/src/fuzz/options.ts',
};

/** The entry of the command, or undefined: the test runs it. */
export const notRun = (command: string): (typeof NOT_RUN)[number] | undefined =>
  NOT_RUN.find((entry) => command.startsWith(entry.command));
