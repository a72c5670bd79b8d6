// One restore from beginning to end. Money moves, an operator takes a backup, more money moves, and the database is
// lost. The commands of docs/backups.md restore it. Then Crossbill, Stripe and the MoR must agree.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { disagreements } from '@crossbill/sandbox/demo/check.js';
import { signUpAll } from '@crossbill/sandbox/demo/drive-signups.js';
import { Unexpected } from '@crossbill/sandbox/demo/http.js';
import { type Progress } from '@crossbill/sandbox/demo/progress.js';
import { Idle, shown } from '@crossbill/sandbox/demo/idle.js';
import { readSides, type Sides, TAKEN } from '@crossbill/sandbox/demo/sides.js';
import { newTally, pass, type Story } from '@crossbill/sandbox/demo/story.js';
import { startWorld, type World } from '@crossbill/sandbox/demo/world.js';
import { type DebianServer, DebianServers } from './debian.js';
import { filledIn, PAGE, type Step, stepsOf } from './page.js';

/** `dump`: pg_dump and pg_restore. `base`: a base backup and the write-ahead log, restored to a given second. */
export type Way = 'dump' | 'base';

/** The facts a drill has seen, to print. If a check fails, the drill throws instead. */
export type Seen = readonly (readonly [what: string, seen: string])[];

const CUSTOMERS = 6;
const DRAFT_SEC = 3_700;
const ROOT = new URL('../../../', import.meta.url); // from dist/proof/restore/
const CLI = fileURLToPath(new URL('../../cli.js', import.meta.url));
const WITHIN_MS = 180_000;

type Asked = { readonly paymentId: string; readonly body: object; readonly key: string };
type Command = { readonly code: number; readonly out: string };

export class Drill {
  private readonly servers = new DebianServers();
  private readonly steps = stepsOf(readFileSync(new URL(PAGE, ROOT), 'utf8'));
  private readonly seen: (readonly [string, string])[] = [];
  private readonly backup = this.servers.folderFor('backup');
  private world: World | null = null;

  constructor(
    private readonly way: Way,
    private readonly progress: Progress,
    private readonly environment: Readonly<Record<string, string>>,
  ) {
    this.servers.folderFor('backup/wal');
  }

  async run(): Promise<Seen> {
    const { progress } = this;
    progress.step(`${this.way}: PostgreSQL, sandbox and daemon start`);
    const server = await this.servers.primary(this.way === 'base' ? this.text('archive').split('\n') : []);
    await server.makeDatabase('crossbill');
    const world = await this.open(server);
    const story = this.storyOf(world);
    await signUpAll(story, CUSTOMERS, 'restore');
    await this.renewAll(story, 'before the backup');

    await server.ask(
      "insert into console_session values ('session', 'anna', '::1', now(), now() + interval '8 hours')",
      'crossbill',
    );
    const backedUpAt = (await world.control.get('/_sandbox/clock')).text('now');
    progress.step(`${this.way}: the backup is taken`);
    await this.shell(this.way === 'dump' ? 'dump' : 'baseBackup', server);
    progress.done(`${this.way}: the backup is there`);
    let until: Date | null = null;
    let since = backedUpAt;
    if (this.way === 'base') {
      await this.renewAll(story, 'after the base backup, before the mistake');
      until = new Date();
      since = (await world.control.get('/_sandbox/clock')).text('now');
    }
    const old = await this.sides(world);
    const asked = await this.renewAll(
      story,
      this.way === 'dump' ? 'after the backup' : 'after the moment that comes back',
    );
    const lived = await this.sides(world);

    await this.restore(server, until);
    await this.compare(story, { old, lived, asked, since });
    return this.seen;
  }

  async close(): Promise<void> {
    await this.world?.stop();
    await this.servers.close();
  }

  private async open(server: DebianServer): Promise<World> {
    this.world = await startWorld({
      seed: 'restore',
      databaseUrl: { url: server.url('crossbill', 'crossbill'), about: 'PostgreSQL 15', stop: () => Promise.resolve() },
      dataDir: this.servers.folderFor('daemon'),
      startAgoMs: 0,
      anyPorts: true,
      environment: this.environment,
      onDeath: (how) => this.progress.warn(`the daemon died (${how})`),
      warn: (text) => this.progress.warn(text),
    });
    return this.world;
  }

  private storyOf(world: World): Story {
    const { progress } = this;
    const remaining = new Idle(world);
    return {
      world,
      progress,
      rest: remaining,
      months: 1,
      run: `restore-${this.way}`,
      subscribers: [],
      tally: newTally(),
    };
  }

  /**
   * Renews every subscription. Then makes a full and two partial refunds through the API, and one in the MoR's portal.
   * Returns the first two requests, so the drill can repeat them.
   */
  private async renewAll({ world, rest: remaining, subscribers, run }: Story, when: string): Promise<readonly Asked[]> {
    this.progress.step(`${this.way}: renewals and refunds, ${when}`);
    const taken = async (): Promise<Sides['daemon']['payments']> =>
      (await this.sides(world)).daemon.payments.filter(
        (p) => p.origin === 'renewal' && TAKEN.has(p.status) && p.amountRefunded * 2 <= p.amount,
      );
    const before = await taken();
    for (const { subscriptionId } of subscribers)
      await world.control.post('/_sandbox/stripe/renew', { subscription: subscriptionId });
    await remaining.decided();
    await pass(world, DRAFT_SEC);
    await remaining.settled();
    const known = new Set(before.map((p) => p.id));
    const fresh = (await taken()).filter((p) => !known.has(p.id));
    const [full, portal, part] = fresh;
    if (full === undefined || portal === undefined || part === undefined) throw new Error('too few renewals were paid');
    const earlier = before[0] ?? part; // a payment from before the backup, so the restored database has it
    const third = (payment: { id: string; amount: number }): Pick<Asked, 'paymentId' | 'body'> => ({
      paymentId: payment.id,
      body: { amount: Math.floor(payment.amount / 3), reason: 'a part' },
    });
    const asked = [
      { ...third(earlier), key: `${run} ${when} earlier` },
      { paymentId: full.id, body: { reason: 'all of it' }, key: `${run} ${when} all` },
    ];
    for (const one of [...asked, { ...third(part), key: `${run} ${when} part` }]) await refund(world, one);
    await world.control.post('/_sandbox/mor/refunds', { payment_id: portal.id, amount: Math.floor(portal.amount / 2) });
    await remaining.settled();
    this.progress.done(`${this.way}: ${subscribers.length} renewals and 4 refunds, ${when}`);
    return asked;
  }

  private async restore(server: DebianServer, until: Date | null): Promise<void> {
    const { progress, world } = this;
    progress.step(`${this.way}: the daemon stops, the database is restored`);
    await world?.daemon.stop();
    if (this.way === 'dump') await this.shell('restoreDump', server);
    else {
      await server.ask('drop database crossbill with (force)'); // the operator's mistake
      await this.shell('restoreBase', server, until);
      await untilSo(async () => (await server.ask('select pg_is_in_recovery()')) === 'f');
      await this.shell('afterBase', server);
    }
    must(
      (await server.ask('select count(*) from console_session', 'crossbill')) === '0',
      'a console session came back',
    );
    await world?.daemon.start();
    progress.done(`${this.way}: restored by the commands of ${PAGE}, and one daemon started`);
  }

  private async compare(
    { world, rest: remaining }: Story,
    was: { old: Sides; lived: Sides; asked: readonly Asked[]; since: string },
  ): Promise<void> {
    const restored = await this.sides(world);
    const lost = was.lived.daemon.payments.length - restored.daemon.payments.length;
    must(
      restored.daemon.payments.length === was.old.daemon.payments.length,
      `the books have ${restored.daemon.payments.length} payments, had ${was.old.daemon.payments.length} at that moment`,
    );
    must(lost > 0, 'nothing was lost: this restore proves nothing');
    this.saw(
      'payments in the books before the loss, after the restore',
      `${was.lived.daemon.payments.length}, ${restored.daemon.payments.length}`,
    );

    const [status = '', repair = '', reviews = '', last = ''] = this.text('check').trim().split('\n');
    must((await this.crossbill(status)).code === 0, 'the schema is not current');
    const named = await this.crossbill('crossbill verify --json');
    must(named.code === 3, `verify ended with ${named.code} and names nothing:\n${named.out}`);
    this.saw('differences that verify names', kindsOf(named.out));

    const [first] = was.asked;
    if (first !== undefined) await this.again(world, first, was.lived);
    this.saw('a refund from after the backup, asked for again at once', 'the same refund at the MoR');

    const mended = await this.crossbill(repair);
    must([0, 3].includes(mended.code), `the repair ended with ${mended.code}:\n${mended.out}`);
    this.saw('what the repair did', mended.out.split('\n')[0] ?? '');
    const { sent } = await sentAgain(world, was.since);
    await remaining.settled();
    this.saw('events that the MoR sent again', String(sent));

    for (const one of was.asked) await this.again(world, one, was.lived);
    const sides = await remaining.settled();
    must(sides.mor.refunds.length === was.lived.mor.refunds.length, 'a refund was paid twice');
    must(sides.daemon.payments.length === was.lived.daemon.payments.length, 'payments are still missing');
    this.saw(
      'refunds at the MoR before the loss, after repeating all requests',
      `${was.lived.mor.refunds.length}, ${sides.mor.refunds.length}`,
    );
    must((await this.crossbill(reviews)).code === 0, 'reviews cannot be listed');
    const open = sides.daemon.reviews.filter((r) => r.status === 'open');
    this.saw(
      'review items that are left for a person',
      open.length === 0 ? 'none' : open.map((r) => r.kind).join(', '),
    );
    const clean = await this.crossbill(last);
    must(clean.code === 0, `verify is not clean (${clean.code}):\n${clean.out}`);
    const findings = disagreements(sides);
    must(findings.length === 0, findings.map(shown).join('\n'));
    this.saw(
      'books, Stripe and the MoR at the end',
      `agree on ${sides.daemon.payments.length} payments and ${sides.mor.refunds.length} refunds; verify is clean`,
    );
  }

  /** Repeats the refund request with its key. The MoR must not make a second refund. */
  private async again(world: World, one: Asked, lived: Sides): Promise<void> {
    await refund(world, one, true);
    const { mor } = await this.sides(world);
    must(mor.refunds.length === lived.mor.refunds.length, `the refund ${one.key} was paid twice`);
  }

  private sides(world: World): Promise<Sides> {
    return readSides(world.api, world.control, world.notified);
  }

  private saw(what: string, seen: string): void {
    this.seen.push([what, seen]);
  }

  private text(step: Step, until: Date | null = null): string {
    return filledIn(this.steps[step], this.backup, until);
  }

  private async shell(step: Step, server: DebianServer, until: Date | null = null): Promise<void> {
    await this.servers.shell(this.text(step, until), {
      PGDATA: server.data,
      ADMIN_URL: server.url('postgres'),
      DATABASE_URL: server.url('crossbill', 'crossbill'),
    });
  }

  /** Runs a line of docs/backups.md, such as `crossbill verify`, with the daemon's settings. */
  private crossbill(line: string): Promise<Command> {
    const { world } = this;
    const [program, ...args] = line.trim().split(/\s+/);
    if (program !== 'crossbill' || world === null) throw new Error(`${PAGE}: this is no command of ours: ${line}`);
    return new Promise((resolve) => {
      const options = { env: world.daemonEnv, cwd: world.folder, timeout: WITHIN_MS };
      execFile(process.execPath, [CLI, ...args], options, (error, out, err) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
        resolve({ code, out: out.trim() === '' ? err : out });
      });
    });
  }
}

/** Requests a refund. `again`: also accepts the refusal of a repeat, because then no second refund goes out. */
async function refund(world: World, { paymentId, body, key }: Asked, again = false): Promise<void> {
  try {
    await world.api.post(`/v1/payments/${paymentId}/refunds`, body, key);
  } catch (e) {
    if (!again || !(e instanceof Unexpected && e.message.includes('payment_not_refundable'))) throw e;
  }
}

async function sentAgain(world: World, since: string): Promise<{ sent: number }> {
  const reply = await world.control.post('/_sandbox/deliveries/again', { side: 'mor', since });
  return { sent: reply.amount('sent') };
}

function kindsOf(text: string): string {
  const { differences } = JSON.parse(text) as { differences: readonly { kind: string }[] };
  const count = new Map<string, number>();
  for (const { kind } of differences) count.set(kind, (count.get(kind) ?? 0) + 1);
  return [...count].map(([kind, n]) => `${n} ${kind}`).join(', ');
}

function must(so: boolean, otherwise: string): asserts so {
  if (!so) throw new Error(otherwise);
}

async function untilSo(so: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + WITHIN_MS;
  while (!(await so())) {
    if (performance.now() > deadline) throw new Error('the restored server takes no writes');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
