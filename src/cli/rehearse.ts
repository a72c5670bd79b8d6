// `crossbill rehearse`: a guided run against the merchant's own test accounts. Each step says what it does, waits, checks, and is kept.
import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import Stripe from 'stripe';
import { type Config, secretValues, stripeMode, VERSION } from '../config/index.js';
import { SystemClock } from '../engine/system-ports.js';
import { morOptions } from '../mor/options-from-settings.js';
import { morClient } from '../mor/options.js';
import { textCensor } from '../observe/index.js';
import { CliError, EXIT } from './exit-codes.js';
import { DaemonApi } from './rehearse/daemon.js';
import { Interrupted, NotArrived } from './rehearse/ends.js';
import { look } from './rehearse/end.steps.js';
import { handsFor } from './rehearse/hands.js';
import { textAt } from './rehearse/json.js';
import { MorProbe } from './rehearse/mor-probe.js';
import { cleaned, jsonReport, markdownReport } from './rehearse/report.js';
import { loadRehearsal, newRehearsal, observe, type Rehearsal, saveFile } from './rehearse/state.js';
import { failed, type Outcome, type Stage, type Step } from './rehearse/step.js';
import { STEPS } from './rehearse/steps.js';
import { type Cli, parseCount, type Session } from './session.js';
import { plain } from './table.js';

const LOOK_EVERY_MS = 250;
const ENDED = 'The rehearsal was interrupted. Run the same command again: it goes on where it stopped.';

export function addRehearse(program: Command, session: Session): void {
  session
    .leaf(
      program,
      'rehearse',
      "go through signup, renewal, refund, decline and retry on your own test accounts (Stripe's test mode and the MoR's staging), and write down what the MoR's documents leave open; run it again to go on",
      rehearse,
    )
    .option('--dir <path>', 'where rehearsal.json and rehearsal.md are written; default: CROSSBILL_DATA_DIR')
    .option('--new', 'begin a new rehearsal; the files of the last one are written over')
    .option('--url <url>', 'the address of the running daemon; default: CROSSBILL_URL, else this machine and PORT')
    .option('--page <url>', 'your own page that confirms an intent: it gets #client_secret=… behind its address')
    .option('--currency <code>', 'of the test subscription, ISO 4217', parseCode(3), 'eur')
    .option('--country <code>', 'jurisdiction of a payment link, ISO 3166-1; default: RECOVERY_LINK_JURISDICTION')
    .option('--wait <seconds>', 'how long to wait for what must arrive', parseCount(86_400), 120)
    .option('--yes', 'do not ask for confirmation');
}

function parseCode(length: number): (text: string) => string {
  return (text) => {
    if (text.length !== length || !/^[A-Za-z]+$/.test(text)) throw new InvalidArgumentError('Use a code such as eur.');
    return text.toLowerCase();
  };
}

async function rehearse(cli: Cli): Promise<number> {
  const config = cli.config();
  if (stripeMode(config) === 'live')
    throw new CliError(
      EXIT.usage,
      'live_key',
      'STRIPE_API_KEY is a live key: a rehearsal runs in test mode only. Nothing was changed.',
    );
  const daemon = daemonOf(cli, config);
  const stripe = stripeOf(config);
  const { accountId, version } = await sameAccount(daemon, stripe);
  const dir = resolve(cli.io.cwd, String(cli.options['dir'] ?? cli.env('CROSSBILL_DATA_DIR') ?? '.crossbill'));
  const [file, page] = [join(dir, 'rehearsal.json'), join(dir, 'rehearsal.md')];
  const before = cli.options['new'] === true ? null : loadRehearsal(file);
  if (before !== null && before.accountId !== accountId)
    throw new CliError(
      EXIT.failed,
      'other_rehearsal',
      `The rehearsal in ${file} is of account ${before.accountId}, and the key is of ${accountId}. Begin a new one with --new.`,
    );
  const question = `Rehearse on Stripe account ${accountId} (test mode) with the MoR at ${config.morBaseUrl}? It makes a test clock, a customer and test payments.`;
  if (before === null && !(await cli.confirm(question))) return EXIT.failed;
  const rehearsal = before ?? newRehearsal(randomBytes(4).toString('hex'), accountId, new Date());
  rehearsal.versions = {
    Crossbill: VERSION,
    daemon: version,
    'Stripe API': Stripe.API_VERSION,
    'stripe package': Stripe.PACKAGE_VERSION,
    Node: process.versions.node,
  };
  const censor = textCensor([...secretValues(config), cli.env('CROSSBILL_API_KEY') ?? ''].filter((s) => s !== ''));
  const say = (text: string): void => cli.io.err(`${text.split('\n').map(plain).join('\n')}\n`);
  /** Before anything was made there is nothing to go on with. */
  const isKept = (): boolean => Object.keys(rehearsal.ids).length > 0;
  const save = (): void => {
    if (!isKept()) return;
    saveFile(file, cleaned(jsonReport(rehearsal), censor));
    saveFile(
      page,
      cleaned(
        markdownReport(
          rehearsal,
          STEPS.map((s) => s.name),
        ),
        censor,
      ),
    );
  };
  const mor = morClient(
    morOptions(config, () => undefined),
    new SystemClock(),
  );
  const hands = await handsFor(config, { say, page: (cli.options['page'] as string | undefined) ?? null });
  const stage: Stage = {
    cli,
    config,
    daemon,
    stripe,
    mor: new MorProbe(mor.transport, config.morPsp, (call, { status, retryAfter }) => {
      if (retryAfter !== null) observe(rehearsal, 'retry_after', { call, status, retry_after: retryAfter });
    }),
    hands,
    rehearsal,
    currency: String(cli.options['currency']),
    jurisdiction: (cli.options['country'] as string | undefined)?.toUpperCase() ?? config.recoveryLinkJurisdiction,
    say,
    keep(name, id) {
      rehearsal.ids[name] = id;
      save();
    },
    id(name) {
      const id = rehearsal.ids[name];
      if (id === undefined)
        throw new CliError(EXIT.failed, 'step_missing', `The step that makes "${name}" has not run.`);
      return id;
    },
    observe: (fact, observed) => observe(rehearsal, fact, observed),
    until: (what, look, holds, sec) => until(cli, what, look, holds, sec ?? Number(cli.options['wait'])),
  };
  try {
    const code = await runAll(stage, save);
    await cli.print(
      { ...rehearsal, files: isKept() ? [file, page] : [] },
      () => `\n${summary(rehearsal)}${isKept() ? ` The report is in ${page}.` : ''}\n`,
    );
    return code;
  } finally {
    await hands.close();
    await mor.close();
  }
}

async function runAll(stage: Stage, save: () => void): Promise<number> {
  const { rehearsal, say } = stage;
  let code: number = EXIT.ok;
  for (const step of STEPS) {
    const known = rehearsal.steps.find((s) => s.name === step.name && s.state === 'passed');
    if (known !== undefined) {
      say(`pass     ${step.name} (before)`);
      continue;
    }
    say(`\n${step.name}: ${step.does}`);
    const outcome = await runStep(step, stage);
    const at = new Date().toISOString();
    const index = rehearsal.steps.findIndex((s) => s.name === step.name);
    const result = { name: step.name, ...outcome, at };
    if (index < 0) rehearsal.steps.push(result);
    else rehearsal.steps[index] = result;
    save();
    say(`${outcome.state.padEnd(7)}  ${step.name}: ${outcome.detail}`);
    if (outcome.state !== 'failed') continue;
    code = EXIT.failed;
    if (step.optional !== true) break;
  }
  await look(stage);
  save();
  return code;
}

/** What did not arrive, and what Stripe refused, fails the step. Whatever else goes wrong ends the run. */
async function runStep(step: Step, stage: Stage): Promise<Outcome> {
  try {
    return await step.run(stage);
  } catch (e) {
    if (e instanceof Interrupted) throw new CliError(EXIT.unfinished, 'interrupted', ENDED);
    if (e instanceof NotArrived) return failed(e.message);
    if (e instanceof Stripe.errors.StripeError) return failed(`Stripe: ${plain(e.message)}`);
    if (e instanceof CliError && e.exitCode === EXIT.failed && step.name !== 'customer') return failed(e.message);
    throw e;
  }
}

async function until<T>(
  cli: Cli,
  what: string,
  look: () => Promise<T>,
  holds: (seen: T) => boolean,
  sec: number,
): Promise<T> {
  const end = performance.now() + sec * 1000;
  for (;;) {
    const seen = await look();
    if (holds(seen)) return seen;
    if (cli.io.signal.aborted) throw new Interrupted();
    if (performance.now() > end) throw new NotArrived(`Waited ${sec} s. Not true yet: ${what}.`);
    await new Promise((resolveNow) => setTimeout(resolveNow, LOOK_EVERY_MS));
  }
}

function daemonOf(cli: Cli, config: Config): DaemonApi {
  const url =
    (cli.options['url'] as string | undefined) ?? cli.env('CROSSBILL_URL') ?? `http://127.0.0.1:${config.port}`;
  const key = cli.env('CROSSBILL_API_KEY') ?? plainOpsKey(cli.env('API_KEYS') ?? '');
  if (key === null)
    throw new CliError(
      EXIT.usage,
      'api_key',
      'No API key of the role ops: set CROSSBILL_API_KEY to one of the running daemon.',
    );
  return new DaemonApi(url.replace(/\/+$/, ''), key);
}

/** The first key of `API_KEYS` with the role ops that is not a hash; null: there is none. */
function plainOpsKey(text: string): string | null {
  const parts = text.split(',').map((one) => one.trim().split(':'));
  return parts.find(([, role, key]) => role === 'ops' && key !== undefined && key !== 'sha256')?.[2] ?? null;
}

function stripeOf({ stripeApiKey, stripeApiBase }: Config): Stripe {
  const base = stripeApiBase === null ? null : new URL(stripeApiBase);
  return new Stripe(stripeApiKey.reveal(), {
    telemetry: false,
    maxNetworkRetries: 2,
    ...(base === null
      ? {}
      : {
          host: base.hostname,
          port: base.port === '' ? (base.protocol === 'https:' ? 443 : 80) : Number(base.port),
          protocol: base.protocol === 'https:' ? ('https' as const) : ('http' as const),
        }),
  });
}

/** The daemon and this command work for one account, in test mode. Throws a CliError where they do not; nothing was changed by then. */
async function sameAccount(
  daemon: DaemonApi,
  stripe: Stripe,
): Promise<{ readonly accountId: string; readonly version: string }> {
  const about = daemon.must(await daemon.get('/v1/about'), [200], 'the question what it is');
  if (textAt(about, 'stripe_mode') === 'live')
    throw new CliError(
      EXIT.usage,
      'live_daemon',
      `The daemon at ${daemon.url} works in live mode: a rehearsal needs one in test mode.`,
    );
  if (about['shadow'] === true)
    throw new CliError(
      EXIT.failed,
      'shadow',
      `The daemon at ${daemon.url} runs in shadow mode and changes nothing: set CROSSBILL_SHADOW=false.`,
    );
  daemon.must(await daemon.get('/v1/audit?limit=1'), [200], 'the key: it needs the role ops');
  let accountId: string;
  try {
    accountId = (await stripe.accounts.retrieveCurrent()).id;
  } catch (e) {
    const silent = e instanceof Stripe.errors.StripeConnectionError;
    const why = e instanceof Error ? plain(e.message) : 'no reason given';
    throw new CliError(
      silent ? EXIT.unreachable : EXIT.failed,
      'stripe_account',
      `Stripe did not tell the account of STRIPE_API_KEY: ${why}`,
    );
  }
  const theirs = textAt(about, 'stripe_account_id');
  if (theirs !== accountId)
    throw new CliError(
      EXIT.failed,
      'other_account',
      `The daemon at ${daemon.url} works for Stripe account ${theirs ?? 'unknown'}, and STRIPE_API_KEY here is of ${accountId}. Give both the same key.`,
    );
  return { accountId, version: textAt(about, 'version') ?? 'unknown' };
}

function summary({ steps }: Rehearsal): string {
  const count = (state: string): number => steps.filter((s) => s.state === state).length;
  const open = STEPS.length - steps.length;
  return `${count('passed')} passed, ${count('skipped')} skipped, ${count('failed')} failed${open > 0 ? `, ${open} not yet` : ''}.`;
}
