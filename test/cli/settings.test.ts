// The commands without a database: help, init, config, completion, and the answers to wrong use.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { parseSince } from '../../src/frames/cli/options.js';
import { plain } from '../../src/frames/cli/table.js';
import { cli, commandsOf, type Ran } from './rig.js';

const commandPaths = await commandsOf(() => true);
/** Programs of their own: test/cli/programs.test.ts */
const PROGRAMS = ['start', 'demo', 'sandbox'];

it('crossbill --help names every command and every exit code', async () => {
  const { code, out } = await cli(['--help']);
  expect(code).toBe(0);
  for (const name of commandPaths.filter((path) => !path.includes(' ')))
    expect(out).toMatch(new RegExp(`^  ${name}\\b`, 'm'));
  expect(out).toContain('3   verify, rebuild --check and other comparisons: open differences');
});

it.each(commandPaths.filter((path) => !PROGRAMS.includes(path)))(
  "`crossbill %s --help` prints the command's usage and its common options",
  async (path) => {
    const { code, out, err } = await cli([...path.split(' '), '--help']);
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain(`Usage: crossbill ${path}`);
    const isGroup = commandPaths.some((other) => other.startsWith(`${path} `));
    if (!isGroup) for (const option of ['--json', '--env-file', '--help']) expect(out).toContain(option);
  },
);

it('the command line answers wrong use with exit code 2 and points to --help', async () => {
  expect(await cli(['--version'])).toEqual({ code: 0, out: '0.1.0\n', err: '' });
  for (const [line, why] of [
    ['verfy', "unknown command 'verfy'\n(Did you mean verify?)"],
    ['verify --since yesterday', "option '--since <when>' argument 'yesterday' is invalid. Use a past date"],
    [
      'refund pay_1 --amount 10,00',
      "option '--amount <amount>' argument '10,00' is invalid. Use an amount such as 12.50",
    ],
    ['explain', "missing required argument 'id'"],
    // No empty list for a misspelt word.
    ['events --status nope', "option '--status <status>' argument 'nope' is invalid. Use one of received, done"],
    ['events --source mor', "option '--source <source>' argument 'mor' is invalid. Use one of stripe, mor_payments"],
    ['reviews --kind amount_mismatched', "option '--kind <kind>' argument 'amount_mismatched' is invalid. Use one of"],
    ['reviews --order oldest', "option '--order <order>' argument 'oldest' is invalid. Use one of newest, due"],
    ['export ledger --format xml', "option '--format <format>' argument 'xml' is invalid. Use one of csv, jsonl"],
  ] as const) {
    const ran = await cli(line.split(' '));
    expect([line, ran]).toEqual([line, { code: 2, out: '', err: expect.stringContaining(`error: ${why}`) }]);
    expect(ran.err).toMatch(/--help.*\n$/);
  }
});

const built = join(process.cwd(), 'dist/cli.js');
(existsSync(built) ? it : it.skip)('the built crossbill program prints its usage', () => {
  expect(execFileSync(process.execPath, [built, '--help'], { encoding: 'utf8' })).toContain('Usage: crossbill');
});

describe('settings', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'crossbill-cli-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('`crossbill init` writes a settings file with a new key, readable by its owner only, and never overwrites a file', async () => {
    const made = await cli(['init'], {}, { cwd: folder });
    expect(made.code).toBe(0);
    const text = readFileSync(join(folder, '.env'), 'utf8');
    const key = /^API_KEYS=operator:ops:([0-9a-f]{64})$/m.exec(text)?.[1] ?? '';
    expect(key).toHaveLength(64);
    expect(made.out).not.toContain(key);
    expect(statSync(join(folder, '.env')).mode & 0o777).toBe(0o600);
    const compose = readFileSync(join(folder, 'docker-compose.yml'), 'utf8');
    expect(compose).toMatch(/^name: crossbill\n\nservices:\n {2}postgres:\n[^]*\n {2}crossbill:\n[^]*\nvolumes:\n/m);
    expect(compose).not.toMatch(/build:|sandbox/);
    expect(text + compose).not.toMatch(/npm run|Copy this file|deploy\/|docs\//); // who installs the package has no sources
    const passwords = [...text.matchAll(/^POSTGRES_\w*PASSWORD=([0-9a-f]{64})$/gm)].map(([, one]) => one);
    expect(new Set(passwords).size).toBe(2);
    const again = await cli(['init'], {}, { cwd: folder });
    expect(again).toEqual({ code: 1, out: '', err: expect.stringContaining('exists already') });
    expect(readFileSync(join(folder, '.env'), 'utf8')).toBe(text);
  });

  it('the command line names all wrong settings at once, without their values, and ends with exit code 78', async () => {
    const { code, out, err } = await cli(['status'], { STRIPE_API_KEY: 'not a key of stripe', PORT: 'eighty' });
    expect([code, out]).toEqual([78, '']);
    for (const name of ['STRIPE_API_KEY', 'PORT', 'MOR_CLIENT_SECRET', 'API_KEYS']) expect(err).toContain(name);
    expect(err).not.toContain('not a key');
    const doctor = await cli(['doctor'], { PORT: 'eighty' });
    expect(doctor.code).toBe(1);
    expect(doctor.out).toMatch(/FAIL {2}settings +PORT/);
  });

  it('the command line reads settings from a file unless the environment sets them, and `crossbill config print` shows no secret', async () => {
    const secret = 'whsec_0123456789abcdef0123456789';
    writeFileSync(
      join(folder, 'test.env'),
      [
        'STRIPE_API_KEY=sk_test_0123456789abcdefABCDEF',
        `STRIPE_WEBHOOK_SECRETS=${secret}`,
        'MOR_BASE_URL=http://127.0.0.1:4020',
        'MOR_AUTH_URL=http://127.0.0.1:4020',
        'MOR_CLIENT_ID=merchant',
        'MOR_CLIENT_SECRET="s3cret-value-of-the-merchant"',
        `MOR_PAYMENT_WEBHOOK_SECRETS=${secret}`,
        `API_KEYS=ada:ops:${'k'.repeat(40)}`,
        'PORT=3111',
        'DATABASE_URL=postgres://crossbill:hunter22@127.0.0.1:1/crossbill',
      ].join('\n'),
    );
    const { code, out, err } = await cli(
      ['config', 'print', '--env-file', 'test.env', '--json'],
      { PORT: '3222' },
      { cwd: folder },
    );
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const shown = JSON.parse(out) as Record<string, string>;
    expect(shown['PORT']).toBe('3222');
    expect(shown['API_KEYS']).toBe('ada:ops');
    for (const value of [secret, 's3cret', 'hunter22', 'kkkkkkkk', 'sk_test_0']) expect(out).not.toContain(value);
    const gone = await cli(['status', '--env-file', 'test.env'], {}, { cwd: folder });
    expect(gone).toEqual({ code: 4, out: '', err: expect.stringMatching(/^The database does not answer/) });
    expect(gone.err).not.toContain('hunter22');
    const missing = await cli(['status', '--env-file', 'missing.env'], {}, { cwd: folder });
    expect(missing).toEqual({ code: 2, out: '', err: expect.stringContaining('missing.env') });
  });
});

describe('.env of the working folder', () => {
  const key = 'k'.repeat(40);
  const ENV = [
    'STRIPE_API_KEY=sk_test_0123456789abcdefABCDEF',
    'STRIPE_WEBHOOK_SECRETS=whsec_0123456789abcdef',
    'MOR_BASE_URL=http://127.0.0.1:4020',
    'MOR_AUTH_URL=http://127.0.0.1:4020',
    'MOR_CLIENT_ID=merchant',
    'MOR_CLIENT_SECRET="s3cret-value-of-the-merchant"',
    'MOR_PAYMENT_WEBHOOK_SECRETS=whsec_0123456789abcdef',
    `API_KEYS=ada:ops:${key}`,
    'PORT=3111',
    'POSTGRES_PASSWORD=for-compose-alone',
  ];
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'crossbill-cli-'));
    writeFileSync(join(folder, '.env'), ENV.join('\n'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const printed = (env: Record<string, string>, ...more: string[]): Promise<Ran> =>
    cli(['config', 'print', '--json', ...more], env, { cwd: folder });
  const portOf = ({ out }: Ran): unknown => (JSON.parse(out) as Record<string, unknown>)['PORT'];

  it('the command line reads .env in the working folder, counts its settings and shows none of them', async () => {
    const ran = await printed({});
    expect([ran.code, portOf(ran), ran.err]).toEqual([0, '3111', 'Settings read from .env: 9\n']);
    const wrong = await cli(['status'], { PORT: 'eighty' }, { cwd: folder });
    expect(wrong.code).toBe(78);
    expect(wrong.err).toMatch(/^Settings read from \.env: 8\n1 setting is wrong\n {2}PORT: /);
  });

  it('the environment and the file of `--env-file` win over .env in the working folder', async () => {
    const over = await printed({ PORT: '3222' });
    expect([portOf(over), over.err]).toEqual(['3222', 'Settings read from .env: 8\n']);
    writeFileSync(join(folder, 'other.env'), ENV.join('\n').replace('PORT=3111', ''));
    const other = await printed({}, '--env-file', 'other.env');
    expect([portOf(other), other.err]).toEqual(['3000', '']);
  });

  it('the command line ignores .env in production, and a missing .env does no harm', async () => {
    const production = await printed({ NODE_ENV: 'production' });
    expect(production.code).toBe(78);
    expect(production.err).not.toContain('.env:');
    expect(production.err).toContain('STRIPE_API_KEY: is not set');
    rmSync(join(folder, '.env'));
    expect((await printed({})).err).toMatch(/^8 settings are wrong/);
    mkdirSync(join(folder, '.env')); // as a Python environment is sometimes called
    expect((await printed({})).err).toMatch(/^8 settings are wrong/);
  });

  it('`crossbill doctor` needs no option to read the .env file written by `crossbill init`', async () => {
    rmSync(join(folder, '.env'));
    const made = await cli(['init'], {}, { cwd: folder });
    expect(made.out).toMatch(/^  crossbill doctor +# checks everything/m);
    expect(made.out).toMatch(/^  node \S*main\.js /m);
    const doctor = await cli(['doctor'], {}, { cwd: folder });
    expect(doctor.err).toMatch(/^Settings read from \.env: \d+\n$/);
    expect(doctor.out).toMatch(/FAIL {2}settings +STRIPE_API_KEY is still a placeholder/);
    expect(doctor.out).not.toMatch(/settings +API_KEYS/);
    const elsewhere = await cli(['init', '--file', 'other.env'], {}, { cwd: folder });
    expect(elsewhere.out).toContain('  crossbill doctor --env-file other.env ');
    expect(elsewhere.out).not.toContain('main.js');
  });
});

it.each(['bash', 'zsh'])('the shell completion for %s knows the commands and their options', async (shell) => {
  const { code, out } = await cli(['completion', shell]);
  expect(code).toBe(0);
  expect(out).toContain('"events") words="list show retry');
  expect(out).toMatch(/"verify"\) words=".*--repair/);
});

it('the shell completion for fish offers each command with its purpose', async () => {
  const { code, out } = await cli(['completion', 'fish']);
  expect(code).toBe(0);
  expect(out).toContain(`complete -c crossbill -n '__crossbill_at' -a payments -d 'payments, newest first'\n`);
  expect(out).toContain(`complete -c crossbill -n '__crossbill_at events' -a list -d 'events, newest first'\n`);
  expect(out).toContain(`complete -c crossbill -n '__crossbill_at events list' -l limit -r -d 'how many to list'\n`);
  expect(out).toContain(
    `complete -c crossbill -n '__crossbill_at payments' -l invoice -r -d 'only this invoice\\'s'\n`,
  );
  expect(out).toMatch(/__crossbill_at verify' -l repair -d '/); // takes no value
});

(existsSync('/usr/bin/fish') ? it : it.skip)(
  'fish completes a command of crossbill with the printed script',
  async () => {
    const { out } = await cli(['completion', 'fish']);
    const said = execFileSync('/usr/bin/fish', ['-c', `${out}\ncomplete -C 'crossbill ev'`], { encoding: 'utf8' });
    expect(said).toMatch(/^events\t/);
  },
);

(existsSync('/bin/bash') ? it : it.skip)('bash completes a command of crossbill with the printed script', async () => {
  const { out } = await cli(['completion', 'bash']);
  const ask = 'COMP_WORDS=(crossbill ev); COMP_CWORD=1; _crossbill; echo "${COMPREPLY[@]}"';
  expect(execFileSync('/bin/bash', ['-c', `${out}\n${ask}`], { encoding: 'utf8' }).trim()).toBe('events');
});

it('the command line replaces control characters in text from outside with question marks', () => {
  expect(plain('a\u001b[2Jb\r\nc\u202ed')).toBe('a?[2Jb??c?d');
});

it('the option `--since` accepts only a time span such as 2d or a past date', () => {
  expect(parseSince('2026-01-01').toISOString()).toBe('2026-01-01T00:00:00.000Z');
  const span = Date.now() - parseSince('2d').getTime(); // the machine may set its clock a little in between
  expect(Math.abs(span - 2 * 86_400_000)).toBeLessThan(60_000);
  for (const wrong of ['2999-01-01', '30', 'd', '-1d', '2026-13-01', '01.02.2026'])
    expect(() => parseSince(wrong)).toThrow();
});
