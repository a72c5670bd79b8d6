// Every command as run by a person and by a script: on a terminal and through pipes, judged by its output.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { REVIEW } from '../../src/shared/domain/review-row.js';
import { newRow } from '../../src/shared/domain/row.js';
import { ensureBuilt } from '../e2e/support/daemon-process.js';
import { settingsFor } from '../support/rigs/any-server.js';
import { company } from '../support/builders/company.js';
import { FACTS } from '../support/builders/item-facts.js';
import { changeByHand } from '../support/rigs/lane-log.js';
import { startWorld, type World } from '../support/rigs/world.js';
import { newSecret, NotifyReceiver } from '../support/fakes/notify-receiver.js';
import { commandsOf } from './rig.js';
import { CASES, endpoints, facts } from './terminal-cases.js';
import { daemonOnTerminal, hasTerminals, onTerminal, runMany, type Seen } from './terminal.js';

/** Commands people pipe into `less` or `grep`. */
const READ_THROUGH_A_PIPE = ['status', 'events list', 'explain'];

/** Beside these a terminal shows progress. */
const BESIDE = ['verify', 'export ledger', 'status'];

/** The fault, the command, its settings, exit code and message. */
const WRONG: readonly (readonly [string, readonly string[], Record<string, string>, number, RegExp])[] = [
  ['an unknown id', ['explain', 'in_nobody'], {}, 1, /^Crossbill does not know in_nobody\. If Stripe .*\n$/],
  ['an unknown payment', ['refund', 'pay_nobody', '--yes'], {}, 1, /^There is no payment pay_nobody\.\n$/],
  [
    'a wrong setting',
    ['status'],
    { PORT: 'eighty' },
    78,
    /^1 setting is wrong\n {2}PORT: .*\n.*`crossbill init` writes one\.\n$/,
  ],
  [
    'a missing database',
    ['status'],
    { DATABASE_URL: 'postgres://crossbill@127.0.0.1:1/crossbill' },
    4,
    /^The database does not answer \(.*\)\. Check the database and DATABASE_URL.\n$/,
  ],
];

const COLOUR = /\u001b\[[\d;]*m/;
/** The only coloured words. */
const MARKED = /\u001b\[3[13]m(WARN|FAIL)\u001b\[39m/g;

/** Forbidden output of any run, good or bad. */
function isPlainSpeech(seen: Seen | undefined): void {
  const said = `${seen?.out}${seen?.err}`.replace(MARKED, '$1');
  expect(said).not.toMatch(COLOUR);
  expect(said).not.toMatch(/^ +at .+[:(]/m); // a stack
  expect(said).not.toMatch(/is not a function|Cannot read properties|undefined|\[object Object\]|Warning:/);
}

it('each command has a test case on a terminal and through a pipe', async () => {
  const leaves = await commandsOf((command) => command.commands.length === 0);
  // `listen` runs until Ctrl-C: test/cli/notifications.test.ts; demo and sandbox: test/cli/programs.test.ts; the last three have tests of their own.
  const elsewhere = ['listen', 'start', 'demo', 'sandbox', 'ask-mor', 'move', 'rehearse'];
  expect(leaves.sort()).toEqual([...Object.keys(CASES), ...elsewhere].sort());
});

(hasTerminals ? describe : describe.skip)('the command line', () => {
  let world: World;
  let receiver: NotifyReceiver;
  let folder: string;
  let env: Record<string, string>;
  const ran = {
    terminal: new Map<string, Seen>(),
    pipe: new Map<string, Seen>(),
    text: [] as readonly Seen[],
    file: [] as readonly Seen[],
  };

  beforeAll(async () => {
    await ensureBuilt();
    folder = mkdtempSync(join(tmpdir(), 'crossbill-terminal-'));
    world = await startWorld();
    receiver = await NotifyReceiver.open();
    const notify = { NOTIFY_URL: receiver.url, NOTIFY_SECRETS: newSecret(9) };
    await world.startDaemon(notify);
    env = { ...world.env, ...notify, LOG_LEVEL: 'info' };
    const s = await world.subscriber();
    const [terminal, pipe] = [await world.subscriber(), await world.subscriber()];
    for (const one of [s, terminal, pipe]) await world.invoice(one.firstInvoiceId, 'paid');
    facts.customers = { terminal: terminal.customerId, pipe: pipe.customerId };
    const paymentOf = async (invoiceId: string): Promise<string> => {
      const { payments } = await world.invoice(invoiceId, 'paid');
      return (payments as { id: string }[])[0]?.id ?? '';
    };
    facts.debits = { terminal: await paymentOf(terminal.firstInvoiceId), pipe: await paymentOf(pipe.firstInvoiceId) };
    facts.invoiceId = await world.renew(s.subscriptionId);
    await world.invoice(facts.invoiceId, 'held');
    await world.advance(3_700);
    const invoice = await world.invoice(facts.invoiceId, 'paid');
    facts.paymentId = (invoice['payments'] as { id: string }[])[0]?.id ?? '';
    const events = await world.api<{ data: { id: string }[] }>('GET', '/v1/events?type=invoice.created&limit=1');
    facts.eventId = events.body.data[0]?.id ?? '';
    for (const way of ['terminal', 'pipe'] as const) {
      const type = way === 'terminal' ? 'invoice.voided' : 'invoice.deleted';
      await world.control('POST', '/stripe/events', { type, data: { object: 'invoice' } }); // without an id it is parked
      const list = await world.until(
        'an event is parked',
        () => world.api<{ data: { id: string }[] }>('GET', `/v1/events?type=${type}&status=parked`),
        (r) => r.body.data.length > 0,
      );
      facts.parked[way] = list.body.data[0]?.id ?? '';
    }
    facts.merchants = join(folder, 'merchants.json');
    const about = { regions: ['GB'], businessDescription: 'Trees', storeUrls: ['https://larch.example'] };
    writeFileSync(
      facts.merchants,
      JSON.stringify([{ merchantReference: 'larch', productCode: 'tor', company, ...about }]),
    );
    for (const way of ['terminal', 'pipe'] as const) {
      const url = `https://bridge.example.com/for-${way}/webhooks/mor/events`;
      const made = await world.api<{ id: string }>('POST', '/v1/mor/webhooks', { url, events: ['dispute.outcome'] });
      endpoints[way] = made.body.id;
    }
    for (const way of ['terminal', 'pipe']) {
      const { id } = await world.stripe.customers.create({ name: `Moved ${way}` });
      writeFileSync(join(folder, `import-${way}.csv`), `customer,mor_customer_id\n${id},mcus_${way}\n`);
    }
    const notified = await world.until(
      'the backend was told',
      () => world.api<{ data: { id: string }[] }>('GET', '/v1/notifications?type=invoice.paid&status=delivered'),
      (r) => r.body.data.length > 0,
    );
    facts.notificationId = notified.body.data[0]?.id ?? '';
    const db = new pg.Pool({ connectionString: world.databaseUrl, max: 1 });
    const item = { kind: 'dispute', status: 'open', topic: FACTS.dispute.code, fact: FACTS.dispute } as const;
    const items = ['terminal', 'pipe'].map((way) =>
      newRow(REVIEW, {
        ...{ ...item, id: `rev_${way}`, subject: way, invoiceId: facts.invoiceId },
        ...{ actions: ['dismiss'], createdAt: new Date() },
      }),
    );
    await changeByHand(db, facts.invoiceId, (s) => ({ ...s, reviews: [...s.reviews, ...items] }));
    await db.end();

    const text = READ_THROUGH_A_PIPE.map((name) => ({
      argv: [...name.split(' '), ...(CASES[name]?.args?.('pipe') ?? [])],
      cwd: folder,
    }));
    ran.text = await runMany('pipe', text, { env, cwd: folder });
    for (const way of ['terminal', 'pipe'] as const) {
      const jobs = Object.entries(CASES).map(([name, { args }]) => ({
        argv: [...name.split(' '), ...(args?.(way) ?? []), ...(way === 'pipe' ? ['--json'] : [])],
        cwd: at(`${way}-${name}`),
      }));
      const wrong = WRONG.map(([, wrongArgv, over]) => ({ argv: wrongArgv, cwd: folder, env: over }));
      const seen = await runMany(way, [...jobs, ...wrong], { env, cwd: folder });
      [...Object.keys(CASES), ...WRONG.map(([what]) => what)].forEach((name, i) => {
        const one = seen[i];
        if (one !== undefined) ran[way].set(name, one);
      });
    }
    const beside = BESIDE.map((name) => ({ argv: [...name.split(' '), '--json'], cwd: folder }));
    ran.file = await runMany('terminal, out to a file', beside, { env, cwd: folder });
  }, 300_000); // the build is most of it, where there is none yet
  const at = (name: string): string => {
    const cwd = join(folder, name.replaceAll(' ', '-'));
    mkdirSync(cwd, { recursive: true });
    return cwd;
  };
  afterAll(async () => {
    await world.close();
    await receiver.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const COMMANDS = Object.entries(CASES);

  it.each(COMMANDS)('`crossbill %s` prints plain text on a terminal, colouring only WARN and FAIL', (name, one) => {
    const seen = ran.terminal.get(name);
    expect(seen).toEqual({ code: one.code ?? 0, out: expect.stringMatching(one.text), err: '' });
    isPlainSpeech(seen);
  });

  it.each(COMMANDS)('`crossbill %s` writes only its JSON result to a pipe', (name, { json, code = 0, beside }) => {
    const seen = ran.pipe.get(name);
    const err = expect.stringMatching(beside ?? /^$/);
    expect(seen).toEqual({ code, out: expect.stringMatching(/^\{.*\}\n$/s), err });
    for (const line of seen?.out.trimEnd().split('\n') ?? [])
      expect(Object.keys(JSON.parse(line) as object)).toEqual(expect.arrayContaining([...json]));
    expect(seen?.err).not.toContain('\u001b');
  });

  it.each(READ_THROUGH_A_PIPE)('`crossbill %s` writes the same text to a pipe as to a terminal', (name) => {
    const seen = ran.text[READ_THROUGH_A_PIPE.indexOf(name)];
    expect(seen).toEqual({ code: 0, out: expect.stringMatching(CASES[name]?.text ?? /no such case/), err: '' });
    isPlainSpeech(seen);
  });

  it('the command line writes JSON without progress lines to a file while a terminal shows the progress', () => {
    for (const [i, { out, code }] of ran.file.entries()) {
      expect([BESIDE[i], code]).toEqual([BESIDE[i], 0]);
      for (const line of out.trimEnd().split('\n')) expect(JSON.parse(line)).toBeInstanceOf(Object);
    }
  });

  it.each(WRONG)('the command line explains %s in one message without a stack', (what, _args, _over, code, text) => {
    const terminal = ran.terminal.get(what);
    expect(terminal).toEqual({ code, out: expect.stringMatching(text), err: '' });
    isPlainSpeech(terminal);
    expect(ran.pipe.get(what)).toEqual({ code, out: '', err: terminal?.out });
  });

  it.each([
    ['n\n', 'a no'],
    ['\u0004', 'Ctrl-D'],
    ['\u0003', 'Ctrl-C'],
  ])('`crossbill erase` asks for consent on a terminal and erases nothing after %j (%s)', async (reply) => {
    const seen = await onTerminal(['erase', facts.customers.terminal], { env, cwd: folder, reply });
    expect(seen.code).toBe(1);
    expect(seen.out).toMatch(/for good\? \[y\/N\][^]*\nNothing was done\.\n$/);
    expect(seen.out).not.toContain('Erased');
  });

  it('`crossbill doctor` colours WARN and FAIL on a terminal, and nothing under NO_COLOR', async () => {
    const seen = (over: Record<string, string>): Promise<Seen> =>
      onTerminal(['doctor'], {
        env: { PATH: process.env['PATH'] ?? '', TERM: 'xterm-256color', ...over },
        cwd: folder,
      });
    expect((await seen({})).out).toMatch(/^\u001b\[31mFAIL\u001b\[39m {2}settings {2}[A-Z_]+ /m);
    const bare = await seen({ NO_COLOR: '1' });
    expect(bare.out).toMatch(/^FAIL {2}settings {2}[A-Z_]+ /m);
    isPlainSpeech(bare);
  });

  it('`crossbill purge` asks for consent on a terminal and purges after a yes', async () => {
    const seen = await onTerminal(['purge', '--older-than', '90d'], { env, cwd: folder, reply: 'y\n' });
    expect(seen.out).toMatch(/\[y\/N\][^]*\nDropped 0 event bodies/);
    expect(seen.code).toBe(0);
  });
});

(hasTerminals ? describe : describe.skip)('the log of the daemon on a terminal', () => {
  let folder: string;
  beforeAll(async () => {
    await ensureBuilt();
    folder = mkdtempSync(join(tmpdir(), 'crossbill-terminal-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** It waits for a missing database, says so, and ends at Ctrl-C. */
  const logged = (over: Record<string, string>): Promise<Seen> =>
    daemonOnTerminal({
      env: { ...settingsFor('postgres://crossbill@127.0.0.1:1/crossbill'), PORT: '0', ...over },
      cwd: folder,
      after: 'trying again',
      reply: '\u0003',
    });

  it("the daemon's log on a terminal is coloured text for a person", async () => {
    const seen = await logged({});
    expect(seen).toEqual({ code: 0, out: expect.stringMatching(COLOUR), err: '' });
    expect(seen.out).toMatch(/trying again[^]*stopping/);
  });

  it("the daemon's log on a terminal has no colour under NO_COLOR", async () => {
    const seen = await logged({ NO_COLOR: '1' });
    expect(seen).toEqual({ code: 0, out: expect.stringMatching(/ERROR[^]*trying again[^]*stopping/), err: '' });
    expect(seen.out).not.toContain('\u001b');
  });
});
