// `crossbill setup`: the webhook endpoints at Stripe and at the MoR, their secrets in the settings file, and what is left for a person.
import { type MorClient } from '@crossbill/mor';
import { createHash, randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { type Command } from 'commander';
import { Stripe } from 'stripe';
import { type Config, loadConfig, type Secret } from '../config/index.js';
import { morServiceTypes } from '../domain/events/mor-service-event.js';
import { stripeInvoiceTypes } from '../domain/events/stripe-event.js';
import { type CallOutcome, mayPass } from '../domain/ports/call.js';
import { SystemClock } from '../engine/system-ports.js';
import { morClient } from '../mor/options.js';
import { morOptions } from '../mor/options-from-settings.js';
import { stripeOptions } from '../stripe/options-from-settings.js';
import { StripeBillingReader } from '../stripe/stripe-billing-reader.js';
import { StripeClient } from '../stripe/stripe-client.js';
import { StripeWebhookEndpoints } from '../stripe/webhook-endpoints.js';
import { examine, summaryOf, textOfChecks } from './doctor.js';
import { CliError, EXIT } from './exit-codes.js';
import { startingSettings } from './init.js';
import { readEnvFile, valuesOf, withSetting, writeEnvFile } from './setup/env-file.js';
import { type Plan, planOf, type Step } from './setup/plan.js';
import { KEY_PERMISSIONS, shownPlan } from './setup/words.js';
import { type Cli, type Session } from './session.js';
import { plain } from './table.js';

/** Asked for at a terminal where neither the file nor the environment has them. */
const ASKED: readonly (readonly [name: string, question: string, hidden: boolean])[] = [
  ['STRIPE_API_KEY', "Stripe's secret or restricted key (sk_… or rk_…)", true],
  ['MOR_BASE_URL', "The address of the MoR's API", false],
  ['MOR_AUTH_URL', "The address of the MoR's token service", false],
  ['MOR_CLIENT_ID', 'Your client id at the MoR', false],
  ['MOR_CLIENT_SECRET', 'Your client secret at the MoR', true],
];

/** Made here, or told by the MoR: the rest of the settings can be checked without them. */
const SIGNING_SECRETS = ['STRIPE_WEBHOOK_SECRETS', 'MOR_EVENT_WEBHOOK_SECRETS', 'MOR_PAYMENT_WEBHOOK_SECRETS'];

export function addSetup(program: Command, session: Session): void {
  session
    .leaf(
      program,
      'setup',
      'make the webhook endpoints at Stripe and the MoR, write their secrets into .env, say what is left, and run doctor',
      setup,
    )
    .option('--url <url>', 'the https address at which Crossbill is reached, for example https://bridge.example.com')
    .option('--dry-run', 'say what would be done, and do nothing')
    .option('--yes', 'do not ask for confirmation');
}

async function setup(cli: Cli): Promise<number> {
  const file = new SettingsFile(cli);
  const missing = ASKED.filter(([name]) => !file.has(name));
  if (missing.length > 0 && !cli.io.isTerminal) {
    const names = missing.map(([name]) => name).join(', ');
    throw new CliError(
      EXIT.usage,
      'settings',
      `Not set, and there is no terminal to ask on: ${names}. Set them in the environment or in ${file.path}.`,
    );
  }
  for (const [name, question, hidden] of missing) file.keep(name, await answerTo(cli, question, hidden));
  const url = addressOf(
    (cli.options['url'] as string | undefined) ??
      (cli.io.isTerminal ? await answerTo(cli, 'The https address at which Crossbill is reached', false) : ''),
  );
  const peers = new Peers(loadConfig(withStandIns(file.env())));
  try {
    const plan = await peers.plan(url, (name) => file.has(name));
    const dryRun = cli.options['dryRun'] === true;
    if (!cli.json) await cli.io.out(shownPlan(plan, { url, file: file.path, isNew: file.isNew, dryRun }));
    const head = { file: file.path, url, dry_run: dryRun, ...plan, key_permissions: KEY_PERMISSIONS };
    if (dryRun) {
      if (cli.json) await cli.print(head, () => '');
      return EXIT.ok;
    }
    if (plan.steps.length > 0 && !(await cli.confirm('Go ahead?'))) return EXIT.failed;
    file.write();
    const done: string[] = [];
    for (const step of plan.steps) {
      const said = await peers.carryOut(step, file);
      done.push(said);
      if (!cli.json) await cli.io.out(`${plain(said)}\n`);
    }
    return await endWithDoctor(cli, { ...head, done });
  } finally {
    await peers.close();
  }
}

async function answerTo(cli: Cli, question: string, hidden: boolean): Promise<string> {
  const answer = (await cli.io.ask(`${question}: `, hidden)).trim();
  if (answer === '') throw new CliError(EXIT.usage, 'no_answer', 'Nothing was entered, and nothing was done.');
  return answer;
}

/** Without its path and without a slash at the end. */
function addressOf(text: string): string {
  const url = text.replace(/\/+$/, '');
  if (isDeliverable(url)) return url;
  throw new CliError(
    EXIT.usage,
    'url',
    '--url must be the https address at which Stripe and the MoR reach Crossbill, for example https://bridge.example.com. For local work a tunnel gives one: `cloudflared tunnel --url http://127.0.0.1:3000` or `ngrok http 3000`.',
  );
}

/** https, or http on this machine, where a rehearsal takes place. No name, password, query or fragment. */
function isDeliverable(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password, search, hash } = new URL(text);
  if ([username, password, search, hash].some((part) => part !== '')) return false;
  const loopback =
    hostname === 'localhost' || hostname === '[::1]' || (isIP(hostname) === 4 && hostname.startsWith('127.'));
  return protocol === 'https:' || (protocol === 'http:' && loopback);
}

function withStandIns(env: Readonly<Record<string, string | undefined>>): Record<string, string | undefined> {
  const standIns = SIGNING_SECRETS.filter((name) => (env[name] ?? '') === '').map(
    (name) => [name, randomBytes(32).toString('hex')] as const,
  );
  return { ...env, ...Object.fromEntries(standIns) };
}

/** The settings file as it will be. Nothing is written before setup was told to go ahead. */
class SettingsFile {
  readonly path: string;
  readonly isNew: boolean;
  private text: string;

  constructor(private readonly cli: Cli) {
    const named = cli.options['envFile'] as string | undefined;
    this.path = resolve(cli.io.cwd, named ?? '.env');
    const standing = readEnvFile(this.path);
    this.isNew = standing === null;
    this.text = standing ?? startingSettings();
  }

  /** The environment wins over the file, as it does for the daemon. */
  env(): Readonly<Record<string, string | undefined>> {
    return { ...valuesOf(this.text), ...this.cli.io.env };
  }

  has(name: string): boolean {
    return (this.env()[name] ?? '') !== '';
  }

  keep(name: string, value: string): void {
    this.text = withSetting(this.text, name, value);
  }

  write(): void {
    writeEnvFile(this.path, this.text);
  }

  /** Beside the secrets that are there: they may still sign what is on its way. Says where the secret is now. */
  addSecret(name: string, secret: Secret): string {
    const before = valuesOf(this.text)[name];
    this.keep(name, before === undefined ? secret.reveal() : `${secret.reveal()},${before}`);
    this.write();
    if ((this.cli.io.env[name] ?? '') === '') return `its secret is in ${name}`;
    return `its secret is in ${name} of ${this.path}, but ${name} is set in the environment, which wins: put it there too`;
  }
}

/** Stripe and the MoR, without a database: nothing of this needs one. */
class Peers {
  private readonly stripe: StripeClient;
  private readonly mor: MorClient;

  constructor(config: Config) {
    const unlimited = { take: () => Promise.resolve(), throttled: () => undefined }; // a handful of requests
    this.stripe = new StripeClient(
      stripeOptions(config, () => undefined),
      unlimited,
    );
    this.mor = morClient(
      morOptions(config, () => undefined),
      new SystemClock(),
    );
  }

  async plan(url: string, has: (name: string) => boolean): Promise<Plan> {
    const stripe = valueOf('Stripe', await new StripeBillingReader(this.stripe).listWebhookEndpoints());
    const mor = valueOf('the MoR', await this.mor.webhookEndpoints.list());
    const [stripeEvents, morEvents] = [[...stripeInvoiceTypes], [...morServiceTypes]];
    return planOf({ url, stripe, mor, stripeEvents, morEvents, apiVersion: Stripe.API_VERSION, has });
  }

  /** Says what was done, with the new id. */
  async carryOut(step: Step, file: SettingsFile): Promise<string> {
    const endpoints = new StripeWebhookEndpoints(this.stripe);
    switch (step.do) {
      case 'create-stripe-endpoint': {
        // Made of what is asked for: the same request within a day gives the same endpoint, should the answer be lost.
        const hash = createHash('sha256')
          .update(`${step.url} ${step.events.join()} ${Stripe.API_VERSION}`)
          .digest('hex');
        const made = valueOf('Stripe', await endpoints.create(step.url, step.events, `crossbill-setup-${hash}`));
        if (made.secret === null)
          return `Made ${made.endpoint.endpointId} at Stripe, but the answer had no secret: see the Dashboard.`;
        return `Made ${made.endpoint.endpointId} at Stripe; ${file.addSecret('STRIPE_WEBHOOK_SECRETS', made.secret)}.`;
      }
      case 'add-stripe-events': {
        const changed = valueOf('Stripe', await endpoints.setEvents(step.id, step.events));
        return `${changed.endpointId} at Stripe gets ${step.missing.length} more events.`;
      }
      case 'create-mor-endpoint': {
        const made = await this.mor.webhookEndpoints.create({ url: step.url, events: step.events });
        const lost =
          'Run setup again: it says whether the endpoint is there. If it is, its secret is lost: delete it first.';
        const { endpoint, secret } = valueOf('the MoR', made, made.ok || made.kind !== 'unknown' ? '' : ` ${lost}`);
        if (secret === null) return `Made ${endpoint.id} at the MoR, but the answer had no secret: ask the MoR for it.`;
        return `Made ${endpoint.id} at the MoR; ${file.addSecret('MOR_EVENT_WEBHOOK_SECRETS', secret)}.`;
      }
    }
  }

  async close(): Promise<void> {
    this.stripe.close();
    await this.mor.close();
  }
}

function valueOf<T>(peer: string, outcome: CallOutcome<T>, more = ''): T {
  if (outcome.ok) return outcome.value;
  const silent = mayPass(outcome);
  const rights =
    peer === 'Stripe' && outcome.status === 403
      ? ' Let the key write webhook endpoints for as long as setup runs, or make the endpoint in the Dashboard (docs/going-live.md).'
      : '';
  const message = `${peer === 'Stripe' ? 'Stripe' : 'The MoR'}: ${plain(outcome.message)}.${rights}${more}`.replace(
    '..',
    '.',
  );
  throw new CliError(silent ? EXIT.unreachable : EXIT.failed, outcome.code ?? outcome.kind, message);
}

async function endWithDoctor(cli: Cli, head: Readonly<Record<string, unknown>>): Promise<number> {
  if (!cli.json) await cli.io.out('\ncrossbill doctor:\n\n');
  const { checks } = await examine(cli);
  const summary = summaryOf(checks);
  await cli.print({ ...head, doctor: { checks, summary } }, () => textOfChecks(checks, summary, cli.io.colours));
  return summary.fail > 0 ? EXIT.failed : EXIT.ok;
}
