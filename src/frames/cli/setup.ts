// `crossbill setup`: creates the webhook endpoints at Stripe and the MoR, writes their secrets into the settings file,
// and runs doctor.
import { createHash, randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { Stripe } from 'stripe';
import { envText, isLoopbackHost, loadConfig, type Secret } from '../../shared/config/index.js';
import { StripeWebhookEndpoints } from '../stripe/webhook-endpoints.js';
import { type Cli } from './cli.js';
import { type Commands } from './commands.js';
import { examine, renderChecks, summaryOf } from './doctor.js';
import { valueOrError } from './errors.js';
import { CliError, EXIT } from './exit-codes.js';
import { startingSettings } from './init.js';
import { Peers } from './peers.js';
import { intoFile } from './into-file.js';
import { valuesOf, withSetting } from './setup/env-file.js';
import { type Plan, planOf, type Step } from './setup/plan.js';
import { plain } from './table.js';

/** Setup asks for these settings at a terminal if neither the file nor the environment has them. */
const ASKED: readonly (readonly [name: string, question: string, hidden: boolean])[] = [
  ['STRIPE_API_KEY', "Stripe's secret or restricted key (sk_… or rk_…)", true],
  ['MOR_BASE_URL', "The address of the MoR's API", false],
  ['MOR_AUTH_URL', "The address of the MoR's token service", false],
  ['MOR_CLIENT_ID', 'Your client id at the MoR', false],
  ['MOR_CLIENT_SECRET', 'Your client secret at the MoR', true],
];

/** Setup gets these secrets from Stripe and the MoR later, so it checks the other settings without them. */
const SIGNING_SECRETS = ['STRIPE_WEBHOOK_SECRETS', 'MOR_EVENT_WEBHOOK_SECRETS', 'MOR_PAYMENT_WEBHOOK_SECRETS'];

/** The names of the rights are those on Stripe's page "Create restricted key". */
const KEY_NEEDS = `A restricted key of Stripe needs:
  Read   Events, Subscriptions, Customers, Payment Methods
  Write  Invoices, Payment Records, Credit Notes
  Write  Webhook Endpoints, for this run only
`;

export function addSetup(on: Commands): void {
  on.add('setup', on.about)
    .option('--url <url>', 'the https address of Crossbill, for example https://bridge.example.com')
    .option('--dry-run', 'show the plan, and do nothing')
    .option('--yes', 'do not ask for confirmation')
    .action(
      on.run(async (cli, { url: given, dryRun = false, envFile }) => {
        const file = new SettingsFile(cli.io.env, resolve(cli.io.cwd, envFile ?? '.env'));
        await askSettings(cli, file);
        const url = addressOf(
          given ?? (cli.io.isTerminal ? await ask(cli, 'The https address of Crossbill', false) : ''),
        );
        const peers = new Peers(loadConfig(withStandIns(file.env())));
        try {
          const plan = await inspect(peers, url, (name) => file.has(name));
          const head = { file: file.path, url, dry_run: dryRun, ...plan };
          if (dryRun) return await cli.print(head, () => renderPlan(plan, url, file, dryRun));
          if (!cli.json) await cli.io.out(renderPlan(plan, url, file, dryRun));
          if (plan.steps.length > 0) await cli.confirm('Go ahead?');
          await file.write();
          const done: string[] = [];
          for (const step of plan.steps) {
            done.push(await carryOut(peers, step, file));
            if (!cli.json) await cli.io.out(`${plain(done.at(-1) ?? '')}\n`);
          }
          const { checks } = await examine(cli);
          const summary = summaryOf(checks);
          const text = () => `\ncrossbill doctor:\n\n${renderChecks(checks, cli.io.colours, cli.width)}`;
          await cli.print({ ...head, done, doctor: { checks, summary } }, text);
          return summary.fail > 0 ? EXIT.failed : EXIT.ok;
        } finally {
          await peers.close();
        }
      }),
    );
}

async function askSettings(cli: Cli, file: SettingsFile): Promise<void> {
  const missing = ASKED.filter(([name]) => !file.has(name));
  if (missing.length > 0 && !cli.io.isTerminal) {
    const names = missing.map(([name]) => name).join(', ');
    const message = `Not set: ${names}. Crossbill cannot ask without a terminal. Set them in the environment or in ${file.path}.`;
    throw new CliError(EXIT.usage, 'settings', message);
  }
  for (const [name, question, hidden] of missing) file.keep(name, await ask(cli, question, hidden));
}

async function ask(cli: Cli, question: string, hidden: boolean): Promise<string> {
  const reply = (await cli.io.ask(`${question}: `, hidden)).trim();
  if (reply === '') throw new CliError(EXIT.usage, 'no_answer', 'You entered nothing, so Crossbill did nothing.');
  return reply;
}

/**
 * Reads Crossbill's address: https, or http on this machine for a rehearsal. No name, password, query, fragment or
 * final slash.
 */
function addressOf(text: string): string {
  const address = text.replace(/\/+$/, '');
  if (URL.canParse(address)) {
    const { protocol, hostname, username, password, search, hash } = new URL(address);
    const isSafe = protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname));
    if (isSafe && username + password + search + hash === '') return address;
  }
  const message =
    '--url must be the https address of Crossbill for Stripe and the MoR, for example https://bridge.example.com. For local work a tunnel gives one: `cloudflared tunnel --url http://127.0.0.1:3000` or `ngrok http 3000`.';
  throw new CliError(EXIT.usage, 'url', message);
}

function withStandIns(env: Readonly<Record<string, string | undefined>>): Record<string, string | undefined> {
  const missing = SIGNING_SECRETS.filter((name) => !env[name]);
  return { ...env, ...Object.fromEntries(missing.map((name) => [name, randomBytes(32).toString('hex')] as const)) };
}

/** The new text of the settings file. The text stays in memory until `write`, after the operator's consent. */
class SettingsFile {
  readonly isNew: boolean;
  private text: string;

  constructor(
    private readonly environment: Cli['io']['env'],
    readonly path: string,
  ) {
    const existing = envText(path);
    this.isNew = existing === null;
    this.text = existing ?? startingSettings();
  }

  /** The settings of the file and the environment. The environment takes precedence, as for the daemon. */
  env(): Readonly<Record<string, string | undefined>> {
    return { ...valuesOf(this.text), ...this.environment };
  }

  has(name: string): boolean {
    return Boolean(this.env()[name]);
  }

  keep(name: string, value: string): void {
    this.text = withSetting(this.text, name, value);
  }

  write(): Promise<void> {
    return intoFile(this.path, (to) => to(this.text));
  }

  /**
   * Adds a secret in front of the older secrets. The older secrets stay valid, because a delivery under way may still
   * carry a signature of an older secret. Returns a sentence about the place of the new secret.
   */
  async addSecret(name: string, secret: Secret): Promise<string> {
    const before = valuesOf(this.text)[name];
    this.keep(name, before === undefined ? secret.reveal() : `${secret.reveal()},${before}`);
    await this.write();
    if (!this.environment[name]) return `its secret is in ${name}`;
    return `its secret is in ${name} of ${this.path}, but the environment also sets ${name} and wins: put the secret there too`;
  }
}

async function inspect(peers: Peers, url: string, has: (name: string) => boolean): Promise<Plan> {
  const stripe = await peers.reader.listWebhookEndpoints();
  const mor = await peers.mor.webhookEndpoints.list();
  return planOf({
    url,
    stripe: valueOrError('Stripe', stripe, rightsOf(stripe)),
    mor: valueOrError('The MoR', mor),
    has,
  });
}

/** The remedy if Stripe refuses webhook endpoints to the key (403). Empty for every other status. */
function rightsOf(outcome: { readonly status: number | null }): string {
  return outcome.status === 403
    ? 'Let the Stripe key write webhook endpoints while setup runs, or make the endpoint in the Dashboard (docs/going-live.md).'
    : '';
}

/** Carries out a step. Returns a sentence with the new id. */
async function carryOut({ stripe, mor }: Peers, step: Step, file: SettingsFile): Promise<string> {
  const endpoints = new StripeWebhookEndpoints(stripe);
  switch (step.do) {
    case 'create-stripe-endpoint': {
      // The idempotency key is a hash of the request. If Stripe's reply is lost, the same request within a day returns
      // the same endpoint.
      const request = `${step.url} ${step.events.join()} ${Stripe.API_VERSION}`;
      const key = `crossbill-setup-${createHash('sha256').update(request).digest('hex')}`;
      const made = await endpoints.create(step.url, step.events, key);
      const { endpoint, secret } = valueOrError('Stripe', made, rightsOf(made));
      if (secret === null)
        return `Made ${endpoint.endpointId} at Stripe, but the answer had no secret: copy it from the Dashboard.`;
      return `Made ${endpoint.endpointId} at Stripe; ${await file.addSecret('STRIPE_WEBHOOK_SECRETS', secret)}.`;
    }
    case 'add-stripe-events': {
      const changed = await endpoints.setEvents(step.id, step.events);
      return `${valueOrError('Stripe', changed, rightsOf(changed)).endpointId} at Stripe gets ${step.missing.length} more events.`;
    }
    case 'create-mor-endpoint': {
      const made = await mor.webhookEndpoints.create({ url: step.url, events: step.events });
      const lost =
        'Run setup again. If its plan makes no endpoint at the MoR, delete the existing one and run setup once more.';
      const { endpoint, secret } = valueOrError('The MoR', made, !made.ok && made.kind === 'unknown' ? lost : '');
      if (secret === null) return `Made ${endpoint.id} at the MoR, but the answer had no secret: ask the MoR for it.`;
      return `Made ${endpoint.id} at the MoR; ${await file.addSecret('MOR_EVENT_WEBHOOK_SECRETS', secret)}.`;
    }
  }
}

function renderPlan({ steps, by_hand: byHand }: Plan, url: string, file: SettingsFile, dryRun: boolean): string {
  const list = (head: string, lines: readonly string[]): string =>
    lines.length === 0 ? '' : `${head}\n${lines.map((l) => `  - ${plain(l)}\n`).join('')}\n`;
  return [
    `Crossbill at ${plain(url)}, settings in ${plain(file.path)}${file.isNew ? ' (new)' : ''}.\n\n`,
    list(dryRun ? 'Setup would do:' : 'Setup will do:', steps.map(renderStep)),
    steps.length === 0 ? 'Stripe and the MoR need no change.\n\n' : '',
    list('By hand:', byHand),
    KEY_NEEDS,
  ].join('');
}

function renderStep(step: Step): string {
  switch (step.do) {
    case 'create-stripe-endpoint':
      return `Stripe: make a webhook endpoint for ${step.url} with ${step.events.length} events, API version ${Stripe.API_VERSION}, and write its secret into STRIPE_WEBHOOK_SECRETS`;
    case 'add-stripe-events':
      return `Stripe: let ${step.id} get ${step.missing.join(', ')} as well`;
    case 'create-mor-endpoint':
      return `The MoR: make a webhook endpoint for ${step.url} with ${step.events.length} events, and write its secret into MOR_EVENT_WEBHOOK_SECRETS`;
  }
}
