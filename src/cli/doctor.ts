// `crossbill doctor`: looks at everything that must be right, and says what to do about what is not. Changes nothing.
import { PartnerApi, WebhookEndpoints } from '@crossbill/mor';
import { styleText } from 'node:util';
import { type Command } from 'commander';
import { type Config, ConfigError, secretValues } from '../config/index.js';
import { BillingReader } from '../domain/ports/billing-reader.js';
import { ChargeLooksStore } from '../enrolment/charge-looks.store.js';
import { EnrolmentFlow } from '../enrolment/enrolment.flow.js';
import { VerifyStore } from '../verify/verify.store.js';
import { Notifications } from '../domain/ports/notifications.js';
import { RequestBudget } from '../domain/ports/request-budget.js';
import { textCensor } from '../observe/index.js';
import { HealthStore } from '../health/health.store.js';
import { StripeClient } from '../stripe/stripe-client.js';
import { type ChargedSubscription, chargingChecks } from './doctor/charging-checks.js';
import { type Check, fail, ok, type State } from './doctor/check.js';
import { clockCheck } from './doctor/clock-checks.js';
import { databaseChecks, trafficChecks } from './doctor/database-checks.js';
import { morChecks } from './doctor/mor-checks.js';
import {
  arrivalChecks,
  endpointChecks,
  invoiceMailCheck,
  keyChecks,
  markModeChecks,
  ownCardChecks,
} from './doctor/stripe-checks.js';
import { proxyChecks } from './doctor/proxy-checks.js';
import { notifyChecks } from './doctor/notify-checks.js';
import { EXIT } from './exit-codes.js';
import { Progress } from './progress.js';
import { type Cli, type Session } from './session.js';
import { plain } from './table.js';
import { cliLog, type World } from './world.js';

const STRIPE = 'https://api.stripe.com';
const MARK: Record<State, string> = { ok: 'ok  ', warn: 'WARN', fail: 'FAIL' };
const COLOUR = { ok: null, warn: 'yellow', fail: 'red' } as const;
const SAMPLE = 50;

export function addDoctor(program: Command, session: Session): void {
  session
    .leaf(
      program,
      'doctor',
      'check settings, database, clock, Stripe, the MoR and traffic; exit code 1 when something fails',
      doctor,
    )
    .option(
      '--all',
      'look at every subscription for what Stripe would charge by itself, not only at the newest hundred',
    );
}

async function doctor(cli: Cli): Promise<number> {
  const { checks, charged } = await examine(cli);
  const summary = summaryOf(checks);
  await cli.print({ checks, summary, ...(cli.options['all'] === true ? { charged } : {}) }, () =>
    textOfChecks(checks, summary, cli.io.colours),
  );
  return summary.fail > 0 ? EXIT.failed : EXIT.ok;
}

type Summary = Readonly<Record<State, number>>;

export function summaryOf(checks: readonly Check[]): Summary {
  const count = (state: State): number => checks.filter((c) => c.state === state).length;
  return { ok: count('ok'), warn: count('warn'), fail: count('fail') };
}

export function textOfChecks(checks: readonly Check[], summary: Summary, colours: boolean): string {
  const width = Math.max(...checks.map((c) => c.name.length));
  const lines = checks.flatMap((c) => [
    `${marked(c.state, colours)}  ${c.name.padEnd(width)}  ${plain(c.detail)}`,
    ...(c.todo === '' ? [] : [`${' '.repeat(width + 8)}-> ${plain(c.todo)}`]),
  ]);
  return `${lines.join('\n')}\n\n${summary.ok} ok, ${summary.warn} to look at, ${summary.fail} failed\n`;
}

function marked(state: State, colours: boolean): string {
  const colour = COLOUR[state];
  return colours && colour !== null ? styleText(colour, MARK[state], { validateStream: false }) : MARK[state];
}

export type Examined = { readonly checks: readonly Check[]; readonly charged: readonly ChargedSubscription[] };

/** Every check, in the order of the table. */
export async function examine(cli: Cli): Promise<Examined> {
  let config: Config;
  try {
    config = cli.config();
  } catch (e) {
    if (!(e instanceof ConfigError)) throw e;
    const todo = 'Set it in the environment, in .env of this folder, or in a file given with --env-file.';
    return { checks: e.problems.map((p) => fail('settings', `${p.name} ${p.problem}`, todo)), charged: [] };
  }
  const censor = textCensor(secretValues(config));
  const log = cliLog(cli.io, secretValues(config));
  const database = await databaseChecks(config.database, config.production, log);
  const checks: Check[] = [
    ok('settings', 'all valid'),
    ...database.checks,
    ...proxyChecks(config, STRIPE),
    await clockCheck('Stripe', config.stripeApiBase ?? STRIPE, config.webhookToleranceSec, config.proxies),
    await clockCheck('the MoR', config.morAuthUrl, config.webhookToleranceSec, config.proxies),
  ];
  let charged: Examined['charged'] = [];
  if (database.usable) {
    const world = await cli.open();
    checks.push(...(await withPeers(world)));
    const walked = await subscriptions(cli, world);
    checks.push(walked.check);
    charged = walked.charged;
  } else checks.push(fail('Stripe, the MoR and traffic', 'not checked', 'Fix the database first.'));
  return { checks: checks.map((c) => ({ ...c, detail: censor(c.detail), todo: censor(c.todo) })), charged };
}

async function withPeers(world: World): Promise<Check[]> {
  const { config } = world;
  const reader = world.get(BillingReader);
  const { stripeApiBase: apiBase, stripeCustomPaymentMethodType: customPaymentMethodType } = config;
  const options = { apiKey: config.stripeApiKey.reveal(), apiBase, customPaymentMethodType, proxies: config.proxies };
  const client = new StripeClient(options, world.get(RequestBudget));
  try {
    const health = world.get(HealthStore);
    const customers = await health.recentCustomers(SAMPLE);
    return [
      ...(await keyChecks(config, reader)),
      ...(await endpointChecks(reader)),
      ...(await arrivalChecks(reader, world.get(VerifyStore))),
      ...(await markModeChecks(config, client)),
      ...(await ownCardChecks(customers, world.get(EnrolmentFlow), reader, client)),
      invoiceMailCheck(await health.sentByPlatform(SAMPLE), apiBase === null),
      ...(await morChecks(config, world.get(WebhookEndpoints), world.get(PartnerApi))),
      ...(await notifyChecks(config, world.get(Notifications))),
      ...(await trafficChecks(world)),
    ];
  } finally {
    client.close();
  }
}

async function subscriptions(cli: Cli, world: World): ReturnType<typeof chargingChecks> {
  const all = cli.options['all'] === true;
  const known = all ? await world.get(HealthStore).subscriptions() : 0;
  const progress = new Progress(cli.io);
  try {
    return await chargingChecks({
      reader: world.get(BillingReader),
      enrolment: world.get(EnrolmentFlow),
      looks: world.get(ChargeLooksStore),
      all,
      signal: cli.io.signal,
      // Stripe does not say how many there are; those that had an invoice here are known.
      onProgress: (looked) => all && progress.bar('looked at subscriptions', looked, Math.max(known, looked)),
    });
  } finally {
    progress.end();
  }
}
