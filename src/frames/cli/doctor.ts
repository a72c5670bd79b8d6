// `crossbill doctor`: checks the whole installation, and names a remedy for each fault. Doctor changes nothing.
import { styleText } from 'node:util';
import { type Config, ConfigError, secretValues } from '../../shared/config/index.js';
import { HealthRepository } from '../../core/health/health.repository.js';
import { textCensor } from '../../shared/masks/secrets.js';
import { loadSlot } from '../../feature.js';
import { FEATURES } from '../../features.js';
import { type Cli } from './cli.js';
import { type Commands } from './commands.js';
import { type Check, check, type State } from './doctor/check.js';
import { databaseChecks, trafficChecks } from './doctor/database-checks.js';
import { morChecks } from './doctor/mor-checks.js';
import { clockCheck, proxyChecks } from './doctor/network-checks.js';
import { endpointChecks, invoiceMailCheck, keyChecks, markModeChecks } from './doctor/stripe-checks.js';
import { EXIT } from './exit-codes.js';
import { Peers } from './peers.js';
import { type Examination } from './slots.js';
import { broken } from './fit.js';
import { plain } from './table.js';
import { cliLog, type AppContext } from './app-context.js';

const STRIPE = 'https://api.stripe.com';
const MARK: Record<State, string> = { ok: 'ok  ', warn: 'WARN', fail: 'FAIL' };
const COLOUR = { ok: null, warn: 'yellow', fail: 'red' } as const;
const SAMPLE = 50;

export function addDoctor(on: Commands): void {
  on.addReport('doctor', on.about)
    .option('--all', 'check every subscription for charges by Stripe, not only the newest hundred')
    .action(
      on.run(async (cli, { all = false }) => {
        const { checks, json } = await examine(cli, all ? 'all' : 'newest');
        const summary = summaryOf(checks);
        await cli.print({ checks, summary, ...json }, () => renderChecks(checks, cli.io.colours, cli.width));
        return summary.fail > 0 ? EXIT.failed : EXIT.ok;
      }),
    );
}

export function summaryOf(checks: readonly Check[]): Readonly<Record<State, number>> {
  const count = (state: State): number => checks.filter((c) => c.state === state).length;
  return { ok: count('ok'), warn: count('warn'), fail: count('fail') };
}

/** Draws the checks as a table. On a terminal too narrow for it, each check is a line, broken between words. */
export function renderChecks(checks: readonly Check[], colours: boolean, width: number | null): string {
  const names = Math.max(...checks.map((c) => c.name.length));
  const table = checks.map((c) => [
    `${MARK[c.state]}  ${c.name.padEnd(names)}  ${plain(c.detail)}`,
    ...(c.todo === '' ? [] : [`${' '.repeat(names + 8)}-> ${plain(c.todo)}`]),
  ]);
  const fits = width === null || table.flat().every((line) => line.length <= width);
  const lines = checks.map((c, n) => {
    const said = fits ? (table[n] ?? []) : linesOf(c).map(([line, more]) => broken(line, width, more));
    return said.join('\n').replace(MARK[c.state], coloured(c.state, colours));
  });
  const { ok, warn, fail } = summaryOf(checks);
  return `${lines.join('\n')}\n\n${ok} ok, ${warn} to look at, ${fail} failed\n`;
}

/** The lines below a check begin under its name. */
const INDENT = 6;

/** Each line with the further indent of its broken parts. */
function linesOf({ state, name, detail, todo }: Check): readonly (readonly [line: string, more: number])[] {
  const head = [`${MARK[state]}  ${name}: ${plain(detail)}`, INDENT] as const;
  return todo === '' ? [head] : [head, [`${' '.repeat(INDENT)}-> ${plain(todo)}`, '-> '.length]];
}

function coloured(state: State, colours: boolean): string {
  const colour = COLOUR[state];
  return colours && colour !== null ? styleText(colour, MARK[state], { validateStream: false }) : MARK[state];
}

export type Examined = { readonly checks: readonly Check[]; readonly json: Readonly<Record<string, unknown>> };

/**
 * Runs every check, in the order of the report: the core's, then those of the features. `customers`: whose subscriptions
 * doctor reads. `newest`: about a hundred. `none`: a rehearsal minds only its own customer, made later.
 */
export async function examine(cli: Cli, customers: Examination['customers'] = 'newest'): Promise<Examined> {
  let config: Config;
  try {
    config = cli.config();
  } catch (e) {
    if (!(e instanceof ConfigError)) throw e;
    const todo = 'Set it in the environment, in .env of this folder, or in a file given with --env-file.';
    return { checks: e.problems.map((p) => check('settings').fail(`${p.name} ${p.problem}`, todo)), json: {} };
  }
  const censor = textCensor(secretValues(config));
  const database = await databaseChecks(config.database, config.production, cliLog(cli.io, secretValues(config)));
  const checks: Check[] = [
    check('settings').ok('all valid'),
    ...database.checks,
    ...proxyChecks(config, STRIPE),
    await clockCheck('Stripe', config.stripeApiBase ?? STRIPE, config.webhookToleranceSec, config.proxies),
    await clockCheck('the MoR', config.morAuthUrl, config.webhookToleranceSec, config.proxies),
  ];
  const peers = new Peers(config);
  let json: Examined['json'] = {};
  try {
    const { reader, stripe, mor } = peers;
    checks.push(...(await keyChecks(config, reader)), ...(await endpointChecks(reader)));
    checks.push(
      ...(await markModeChecks(config, stripe)),
      ...(await morChecks(config, mor.webhookEndpoints, mor.partner)),
    );
    if (database.usable) {
      const app = await cli.open();
      checks.push(await mailCheck(app), ...(await trafficChecks(app)));
      for (const examined of await loadSlot(FEATURES, 'checks')) {
        const found = await examined({ cli, app, peers, customers });
        checks.push(...found.checks);
        json = { ...json, ...found.json };
      }
    } else checks.push(check('traffic and customers').fail('not checked', 'Fix the database first.'));
  } finally {
    await peers.close();
  }
  return { checks: checks.map((c) => ({ ...c, detail: censor(c.detail), todo: censor(c.todo) })), json };
}

async function mailCheck(app: AppContext): Promise<Check> {
  return invoiceMailCheck(await app.get(HealthRepository).sentByPlatform(SAMPLE), app.config.stripeApiBase === null);
}
