// `crossbill doctor`: looks at everything that must be right, and says what to do about what is not. Changes nothing.
import { type Command } from 'commander';
import { type Config, ConfigError, secretValues } from '../config/index.js';
import { BillingReader } from '../domain/ports/billing-reader.js';
import { Books } from '../domain/ports/books.js';
import { VerifyBooks } from '../domain/ports/verify-books.js';
import { Notifications } from '../domain/ports/notifications.js';
import { RequestBudget } from '../domain/ports/request-budget.js';
import { LossWindowFlow } from '../verify/loss-window.flow.js';
import { PartnerApi } from '../mor/partner.js';
import { WebhookEndpoints } from '../mor/webhook-endpoints.js';
import { textCensor } from '../observe/index.js';
import { PgOverview } from '../store/pg-overview.js';
import { StripeClient } from '../stripe/stripe-client.js';
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
import { notifyChecks } from './doctor/notify-checks.js';
import { EXIT } from './exit-codes.js';
import { type Cli, type Session } from './session.js';
import { plain } from './table.js';
import { cliLog, type World } from './world.js';

const STRIPE = 'https://api.stripe.com';
const MARK: Record<State, string> = { ok: 'ok  ', warn: 'WARN', fail: 'FAIL' };
const SAMPLE = 50;

export function addDoctor(program: Command, session: Session): void {
  session.leaf(
    program,
    'doctor',
    'check settings, database, clock, Stripe, the MoR and traffic; exit code 1 when something fails',
    doctor,
  );
}

async function doctor(cli: Cli): Promise<number> {
  const checks = await examine(cli);
  const count = (state: State): number => checks.filter((c) => c.state === state).length;
  const summary = { ok: count('ok'), warn: count('warn'), fail: count('fail') };
  await cli.print({ checks, summary }, () => {
    const width = Math.max(...checks.map((c) => c.name.length));
    const lines = checks.flatMap((c) => [
      `${MARK[c.state]}  ${c.name.padEnd(width)}  ${plain(c.detail)}`,
      ...(c.todo === '' ? [] : [`${' '.repeat(width + 8)}-> ${plain(c.todo)}`]),
    ]);
    return `${lines.join('\n')}\n\n${summary.ok} ok, ${summary.warn} to look at, ${summary.fail} failed\n`;
  });
  return summary.fail > 0 ? EXIT.failed : EXIT.ok;
}

async function examine(cli: Cli): Promise<Check[]> {
  let config: Config;
  try {
    config = cli.config();
  } catch (e) {
    if (!(e instanceof ConfigError)) throw e;
    const todo = 'Set it in the environment, in .env of this folder, or in a file given with --env-file.';
    return e.problems.map((p) => fail('settings', `${p.name} ${p.problem}`, todo));
  }
  const censor = textCensor(secretValues(config));
  const log = cliLog(cli.io, secretValues(config));
  const database = await databaseChecks(config.database, config.production, log);
  const checks: Check[] = [
    ok('settings', 'all valid'),
    ...database.checks,
    await clockCheck('Stripe', config.stripeApiBase ?? STRIPE, config.webhookToleranceSec),
    await clockCheck('the MoR', config.morAuthUrl, config.webhookToleranceSec),
  ];
  if (database.usable) checks.push(...(await withPeers(await cli.open())));
  else checks.push(fail('Stripe, the MoR and traffic', 'not checked', 'Fix the database first.'));
  return checks.map((c) => ({ ...c, detail: censor(c.detail), todo: censor(c.todo) }));
}

async function withPeers(world: World): Promise<Check[]> {
  const { config, db } = world;
  const reader = world.get(BillingReader);
  const { stripeApiBase: apiBase, stripeCustomPaymentMethodType: customPaymentMethodType } = config;
  const options = { apiKey: config.stripeApiKey.reveal(), apiBase, customPaymentMethodType };
  const client = new StripeClient(options, world.get(RequestBudget));
  try {
    const overview = new PgOverview(db);
    const customers = await overview.recentCustomers(SAMPLE);
    return [
      ...(await keyChecks(config, reader)),
      ...(await endpointChecks(reader)),
      ...(await arrivalChecks(reader, world.get(VerifyBooks))),
      ...(await markModeChecks(config, client)),
      ...(await ownCardChecks(customers, reader, client)),
      invoiceMailCheck(await overview.sentByPlatform(SAMPLE), apiBase === null),
      ...(await morChecks(config, world.get(WebhookEndpoints), world.get(PartnerApi))),
      ...(await notifyChecks(config, world.get(Notifications))),
      ...(await trafficChecks(world.get(Books), db, world.get(LossWindowFlow))),
    ];
  } finally {
    client.close();
  }
}
