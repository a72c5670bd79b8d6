// `crossbill rehearse`: a guided run with the merchant's own test accounts. Each step explains itself, acts, checks,
// and stores its result.
import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import { InvalidArgumentError } from '@commander-js/extra-typings';
import Stripe from 'stripe';
import { type Config, secretValues, stripeMode, VERSION } from '../../shared/config/index.js';
import { SystemClock } from '../../engine/system-ports.js';
import { morClient } from '../mor/options.js';
import { morOptions } from '../mor/options-from-settings.js';
import { textCensor } from '../../shared/masks/secrets.js';
import { stripeAddress } from '../stripe/stripe-client.js';
import { type Cli } from './cli.js';
import { type Commands } from './commands.js';
import { CliError, EXIT } from './exit-codes.js';
import { parseCount } from './options.js';
import { DaemonApi } from './rehearse/daemon.js';
import { grownDraft, twoTrials } from './rehearse/draft.steps.js';
import { manualStepsFor } from './rehearse/manual-steps.js';
import { textAt } from './rehearse/json.js';
import { MorCheck } from './rehearse/mor-check.js';
import { replies, customer, firstInvoice, mark, partRefund, renewal, settings, signup } from './rehearse/paid.steps.js';
import { anotherCard, declined, pollStages, paymentLink, retry, verify } from './rehearse/refused.steps.js';
import { cleaned, jsonReport, markdownReport } from './rehearse/report.js';
import { failed, type Outcome, say, type Stage, stageOf, type Step } from './rehearse/stage.js';
import {
  Interrupted,
  loadRehearsal,
  newRehearsal,
  NotArrived,
  observe,
  type Rehearsal,
  saveFile,
} from './rehearse/state.js';
import { plain } from './table.js';

const STEPS: readonly Step[] = [
  ...[settings, customer, replies, signup, firstInvoice, renewal, mark, partRefund],
  ...[declined, anotherCard, retry, paymentLink, grownDraft, twoTrials, verify],
];
const ENDED = 'The rehearsal was interrupted. Run the same command again: it goes on where it stopped.';

export function addRehearse(on: Commands): void {
  on.add('rehearse', on.about)
    .option('--dir <path>', 'the folder for rehearsal.json and rehearsal.md; default: CROSSBILL_DATA_DIR')
    .option('--new', 'begin a new rehearsal, and overwrite the files of the last one')
    .option('--url <url>', 'the address of the running daemon; default: CROSSBILL_URL, else this machine and PORT')
    .option('--page <url>', 'your own page to confirm an intent; Crossbill adds #client_secret=… to its address')
    .option('--currency <code>', 'of the test subscription, ISO 4217', parseCode, 'eur')
    .option('--country <code>', 'jurisdiction of a payment link, ISO 3166-1; default: RECOVERY_LINK_JURISDICTION')
    .option('--wait <seconds>', 'how long to wait for each expected event or status', parseCount(86_400), 120)
    .option('--yes', 'do not ask for confirmation')
    .action(
      on.run(async (cli, o) => {
        const config = cli.config();
        const live = 'STRIPE_API_KEY is a live key: a rehearsal runs in test mode only. Crossbill changed nothing.';
        if (stripeMode(config) === 'live') throw new CliError(EXIT.usage, 'live_key', live);
        const daemon = daemonOf(cli, config, o.url);
        const stripe = new Stripe(config.stripeApiKey.reveal(), {
          telemetry: false,
          maxNetworkRetries: 2,
          ...stripeAddress(config.stripeApiBase),
        });
        const { accountId, version } = await sameAccount(daemon, stripe);
        const dir = resolve(cli.io.cwd, o.dir ?? cli.env('CROSSBILL_DATA_DIR') ?? '.crossbill');
        const files = { json: join(dir, 'rehearsal.json'), page: join(dir, 'rehearsal.md') };
        const rehearsal = await begin(cli, config, {
          accountId,
          before: o.new === true ? null : loadRehearsal(files.json),
          file: files.json,
        });
        rehearsal.versions = versions(version);
        const secrets = [...secretValues(config), cli.env('CROSSBILL_API_KEY') ?? ''].filter((s) => s !== '');
        const censor = textCensor(secrets);
        /** True if the rehearsal has stored an id. Without an id there is nothing to resume, and nothing to write. */
        const isKept = (): boolean => Object.keys(rehearsal.ids).length > 0;
        const save = (): void => {
          if (!isKept()) return;
          const names = STEPS.map((s) => s.name);
          saveFile(files.json, cleaned(jsonReport(rehearsal), censor));
          saveFile(files.page, cleaned(markdownReport(rehearsal, names), censor));
        };
        const client = morClient(
          morOptions(config, () => undefined),
          new SystemClock(),
        );
        const mor = new MorCheck(client.transport, config.morPsp, (call, { status, retryAfter }) => {
          if (retryAfter !== null) observe(rehearsal, 'retry_after', { call, status, retry_after: retryAfter });
        });
        const manual = await manualStepsFor(config, { say: (text) => say(cli, text), page: o.page ?? null });
        const jurisdiction = o.country?.toUpperCase() ?? config.recoveryLinkJurisdiction;
        const parts = { cli, config, daemon, stripe, mor, manual, rehearsal, jurisdiction, save };
        try {
          const code = await runAll(stageOf({ ...parts, currency: o.currency, waitSec: o.wait }));
          await cli.print({ ...rehearsal, files: isKept() ? [files.json, files.page] : [] }, () => {
            const report = isKept() ? ` The report is in ${files.page}.` : '';
            return `\n${summary(rehearsal)}${report}\n`;
          });
          return code;
        } finally {
          await manual.close();
          await client.close();
        }
      }),
    );
}

function parseCode(text: string): string {
  if (!/^[A-Za-z]{3}$/.test(text)) throw new InvalidArgumentError('Use a code such as eur.');
  return text.toLowerCase();
}

const versions = (daemon: string): Readonly<Record<string, string>> => ({
  Crossbill: VERSION,
  daemon,
  'Stripe API': Stripe.API_VERSION,
  'stripe package': Stripe.PACKAGE_VERSION,
  Node: process.versions.node,
});

/** Returns the rehearsal `before`, to resume it. Without `before` it asks the operator and begins a new rehearsal. */
async function begin(
  cli: Cli,
  config: Config,
  { accountId, before, file }: { readonly accountId: string; readonly before: Rehearsal | null; readonly file: string },
): Promise<Rehearsal> {
  if (before === null) {
    await cli.confirm(
      `Rehearse on Stripe account ${accountId} (test mode) with the MoR at ${config.morBaseUrl}? It makes a test clock, a customer and test payments.`,
    );
    return newRehearsal(randomBytes(4).toString('hex'), accountId, new Date());
  }
  if (before.accountId === accountId) return before;
  const message = `The rehearsal in ${file} belongs to account ${before.accountId}, and STRIPE_API_KEY to ${accountId}. Begin a new one with --new.`;
  throw new CliError(EXIT.failed, 'other_rehearsal', message);
}

async function runAll(stage: Stage): Promise<number> {
  const { rehearsal } = stage;
  let code: number = EXIT.ok;
  for (const step of STEPS) {
    if (rehearsal.steps.some((s) => s.name === step.name && s.state === 'passed')) {
      stage.say(`passed   ${step.name} (in an earlier run)`);
      continue;
    }
    stage.say(`\n${step.name}: ${step.does}`);
    const result = { name: step.name, ...(await runStep(step, stage)), at: new Date().toISOString() };
    const index = rehearsal.steps.findIndex((s) => s.name === step.name);
    if (index < 0) rehearsal.steps.push(result);
    else rehearsal.steps[index] = result;
    stage.save();
    stage.say(`${result.state.padEnd(7)}  ${step.name}: ${result.detail}`);
    if (result.state !== 'failed') continue;
    code = EXIT.failed;
    if (step.optional !== true) break;
  }
  await pollStages(stage);
  stage.save();
  return code;
}

/** Runs a step. A long wait or a refusal by Stripe or the daemon fails the step. Other errors end the rehearsal. */
async function runStep(step: Step, stage: Stage): Promise<Outcome> {
  try {
    return await step.run(stage);
  } catch (e) {
    if (e instanceof Interrupted) throw new CliError(EXIT.unfinished, 'interrupted', ENDED);
    if (e instanceof NotArrived) return failed(e.message);
    if (e instanceof Stripe.errors.StripeError) return failed(`Stripe: ${plain(e.message)}`);
    if (e instanceof CliError && e.exitCode === EXIT.failed && step !== customer) return failed(e.message);
    throw e;
  }
}

function daemonOf(cli: Cli, config: Config, given: string | undefined): DaemonApi {
  const url = given ?? cli.env('CROSSBILL_URL') ?? `http://127.0.0.1:${config.port}`;
  const key = cli.env('CROSSBILL_API_KEY') ?? plainOpsKey(cli.env('API_KEYS') ?? '');
  const message = 'Crossbill has no API key with the role ops: set CROSSBILL_API_KEY to such a key of the daemon.';
  if (key === null) throw new CliError(EXIT.usage, 'api_key', message);
  return new DaemonApi(url.replace(/\/+$/, ''), key);
}

/** The first plain key of `API_KEYS` with the role ops. Null: there is no such key, for example only hashes. */
function plainOpsKey(text: string): string | null {
  const parts = text.split(',').map((one) => one.trim().split(':'));
  return parts.find(([, role, key]) => role === 'ops' && key !== undefined && key !== 'sha256')?.[2] ?? null;
}

/** Checks that the daemon and this command use the same Stripe account in test mode. Throws before any change. */
async function sameAccount(
  daemon: DaemonApi,
  stripe: Stripe,
): Promise<{ readonly accountId: string; readonly version: string }> {
  const refuse = (exitCode: number, code: string, why: string): CliError => new CliError(exitCode, code, why);
  const at = `The daemon at ${daemon.url}`;
  const about = daemon.must(await daemon.get('/v1/about'), [200], 'GET /v1/about');
  if (textAt(about, 'stripe_mode') === 'live')
    throw refuse(EXIT.usage, 'live_daemon', `${at} runs in live mode: a rehearsal needs a daemon in test mode.`);
  if (about['shadow'] === true)
    throw refuse(EXIT.failed, 'shadow', `${at} runs in shadow mode and changes nothing: set CROSSBILL_SHADOW=false.`);
  daemon.must(await daemon.get('/v1/audit?limit=1'), [200], 'the key: it needs the role ops');
  const { id: accountId } = await stripe.accounts.retrieveCurrent().catch((e: unknown) => {
    const silent = e instanceof Stripe.errors.StripeConnectionError;
    const why = e instanceof Error ? plain(e.message) : 'no reason given';
    const message = `Stripe did not name the account of STRIPE_API_KEY: ${why}`;
    throw refuse(silent ? EXIT.unreachable : EXIT.failed, 'stripe_account', message);
  });
  const theirs = textAt(about, 'stripe_account_id');
  if (theirs === accountId) return { accountId, version: textAt(about, 'version') ?? 'unknown' };
  const message = `${at} works for Stripe account ${theirs ?? 'unknown'}, and STRIPE_API_KEY here belongs to ${accountId}. Give both the same key.`;
  throw refuse(EXIT.failed, 'other_account', message);
}

function summary({ steps }: Rehearsal): string {
  const count = (state: string): number => steps.filter((s) => s.state === state).length;
  const open = STEPS.length - steps.length;
  return `${count('passed')} passed, ${count('skipped')} skipped, ${count('failed')} failed${open > 0 ? `, ${open} not yet` : ''}.`;
}
