// `npm run demo`: the whole bridge on one machine. At the end it checks that Crossbill, Stripe and the MoR agree.
import { relative } from 'node:path';
import { DEMO_ROLES } from './cast.js';
import { disagreements, type Finding } from './check.js';
import { driveDisputes } from './drive-disputes.js';
import { driveLinks } from './drive-links.js';
import { onboardMerchant, registerEndpoint } from './drive-onboarding.js';
import { fetchPaymentFiles } from './drive-refunds.js';
import { renewAll } from './drive-renewals.js';
import { driveTransfers } from './drive-transfers.js';
import { signUpAll } from './drive-signups.js';
import { faultHits } from './drive-faults.js';
import { addOutsiders } from './outsiders.js';
import { leaveWork } from './left-open.js';
import { type DemoOptions, handedOn, readOptions } from './options.js';
import { builtFile } from './programs.js';
import { Progress } from './progress.js';
import { closingRows, table } from './report.js';
import { NotIdle, Idle, shown } from './idle.js';
import { readSides, type Sides } from './sides.js';
import { newTally, pass, startAgoMs, type Story, virtualNow } from './story.js';
import { monthEnd } from './trial-balance.js';
import { runVerify } from './verify-step.js';
import { startWorld, type World } from './world.js';

const DAY_MS = 86_400_000;
/** `leaveWork` lets a draft hour pass. So the story stops this long before now. */
const LEFT_SEC = 65 * 60;
const FINDINGS_SHOWN = 20;

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  const progress = new Progress(options.json ? process.stderr : process.stdout, process.env['NO_COLOR']);
  const signals = new Signals(progress);
  progress.line(
    `${progress.style('bold', 'Crossbill demo')}: customers ${options.customers}, months ${options.months}, seed ${options.seed}`,
  );
  progress.step('starting PostgreSQL, the sandbox and the daemon');
  const world = await startWorld({
    seed: options.seed,
    databaseUrl: process.env['DATABASE_URL'] || null,
    dataDir: process.env['CROSSBILL_DATA_DIR'] || '.crossbill/demo',
    startAgoMs: startAgoMs(new Date(), options.months),
    environment: handedOn(process.env),
    onDeath: (how) => progress.warn(`the daemon died (${how}); it starts again and goes on from its stored state`),
    warn: (text) => progress.warn(text),
    settings: () => ({ MOR_RELAY_EVENTS: 'finalized' }), // usage raises drafts: the MoR charges the final amount
  });
  // The MoR has no endpoint at Stripe: it hears of an invoice by the daemon's relay alone.
  await world.control.post('/_sandbox/mor/hearing', { direct: false });
  signals.owns(world);
  progress.done('everything is up');
  for (const line of world.about) progress.line(`  ${line}`);
  const story: Story = {
    world,
    progress,
    rest: new Idle(world),
    months: options.months,
    run: `demo-${Date.now().toString(36)}`,
    subscribers: [],
    tally: newTally(),
  };
  let clean: boolean;
  try {
    clean = await tell(options, story);
  } catch (error) {
    progress.idle();
    await world.stop();
    throw error;
  }
  if (!options.once) {
    await leaveWork(story);
    await catchUp(story, 0);
    invite(world, progress);
    await signals.asked;
  }
  await world.stop();
  return options.once && !clean ? 1 : 0;
}

/** Lets time pass until `beforeNowSec` seconds before now. So the story ends now, and its newest work is not old. */
async function catchUp({ world }: Story, beforeNowSec: number): Promise<void> {
  const remaining = Math.floor(Date.now() / 1000) - beforeNowSec - (await virtualNow(world));
  if (remaining > 0) await pass(world, remaining);
}

/** Runs all steps of the demo. Returns true if Crossbill, Stripe, the MoR and `crossbill verify` agree. */
async function tell(options: DemoOptions, story: Story): Promise<boolean> {
  const { world, progress } = story;
  let renewalsMs = 0;
  let open: readonly string[] = [];
  try {
    await onboardMerchant(story);
    await registerEndpoint(story);
    await signUpAll(story, options.customers, options.seed, DEMO_ROLES);
    await addOutsiders(story);
    const startedAt = performance.now();
    await renewAll(story).finally(() => (renewalsMs = performance.now() - startedAt));
    await fetchPaymentFiles(story);
    await driveTransfers(story);
    await driveLinks(story);
    await driveDisputes(story);
    await catchUp(story, LEFT_SEC);
    await story.rest.settled();
  } catch (error) {
    if (!(error instanceof NotIdle)) throw error;
    progress.warn(`${error.message}; still open:`);
    open = error.open;
    listed(open, progress);
  }
  const sides = await readSides(world.api, world.control, world.notified);
  const findings = disagreements(sides);
  const numbers = {
    signups: story.subscribers.length,
    trials: story.subscribers.filter((s) => s.trial).length,
    faults: await faultHits(world),
    deaths: world.daemon.deaths,
    renewalsMs: Math.max(1, renewalsMs),
    tally: story.tally,
  };
  progress.idle();
  progress.line();
  const rows = closingRows(sides, numbers);
  for (const line of table(rows)) progress.line(line);
  const books = await monthEnd(world.api, new Date().toISOString().slice(0, 7), openReviews(sides) > 0);
  progress.line(`\nTrial balance of ${books.month} (debit positive, credit negative)`);
  for (const line of table(books.rows)) progress.line(line);
  progress.line();
  for (const r of sides.daemon.reviews.filter((x) => x.status === 'open'))
    progress.line(`  for a person: ${r.kind}: ${r.summary}. ${r.proposal}`);
  findings.push(...books.findings);
  sayAgreement(findings, progress);
  const verified = await sayVerify(world, Math.ceil(startAgoMs(new Date(), options.months) / DAY_MS) + 1, progress);
  progress.line(`Took ${progress.elapsed()}.`);
  const clean = findings.length === 0 && open.length === 0 && verified;
  if (options.json)
    process.stdout.write(`${JSON.stringify({ clean, verified, findings, open, rows, books }, null, 2)}\n`);
  return clean;
}

const openReviews = (sides: Sides): number => sides.daemon.reviews.filter((r) => r.status === 'open').length;

function sayAgreement(findings: readonly Finding[], progress: Progress): void {
  if (findings.length === 0) {
    progress.line(progress.style('green', 'The ledger, Stripe and the MoR agree on every payment and every refund.'));
    return;
  }
  progress.line(progress.style('red', `The ledger, Stripe and the MoR disagree in ${findings.length} places:`));
  listed(findings.map(shown), progress);
}

async function sayVerify(world: World, days: number, progress: Progress): Promise<boolean> {
  progress.step('crossbill verify');
  const result = await runVerify(world.daemonEnv, world.folder, days);
  progress.idle();
  if (result === null) return true;
  const clean = result.verdict === 'clean';
  progress.line(progress.style(clean ? 'green' : 'red', `crossbill verify: ${result.verdict}`));
  const said = result.said.split('\n').filter((line) => line.trim() !== '');
  for (const line of said.slice(0, FINDINGS_SHOWN)) progress.line(`  ${line}`);
  return clean;
}

function listed(lines: readonly string[], progress: Progress): void {
  for (const line of lines.slice(0, FINDINGS_SHOWN)) progress.line(`  ${line}`);
  if (lines.length > FINDINGS_SHOWN) progress.line(`  and ${lines.length - FINDINGS_SHOWN} more`);
}

function invite(world: World, progress: Progress): void {
  progress.line();
  progress.line(`Everything stays up. Look around in the console: ${world.daemonUrl}/console`);
  progress.line(`  key for the login form: ${world.opsKey}`);
  progress.line(`  curl -H 'Authorization: Bearer ${world.opsKey}' '${world.daemonUrl}/v1/invoices?limit=3'`);
  const cli = relative(process.cwd(), builtFile('cli.js'));
  progress.line(`  command line: node ${cli} status --env-file ${world.leaveEnvFile()}`);
  progress.line(`  what the sandbox can do: curl ${world.control.base}/_sandbox`);
  progress.line('Stop everything with Ctrl-C.');
}

/** SIGINT, SIGTERM or SIGHUP stops daemon, sandbox and database in order. A second signal ends the demo at once. */
class Signals {
  readonly asked: Promise<void>;
  private world: World | null = null;
  private times = 0;

  constructor(progress: Progress) {
    this.asked = new Promise((resolve) => {
      const onSignal = (): void => {
        this.times += 1;
        if (this.times > 1 || this.world === null) {
          this.world?.kill();
          process.exit(130);
        }
        progress.idle();
        progress.line('stopping');
        resolve();
        void this.world.stop().then(
          () => process.exit(0),
          () => process.exit(1),
        );
      };
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
    });
  }

  owns(world: World): void {
    this.world = world;
  }
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error));
    process.exit(1);
  },
);
