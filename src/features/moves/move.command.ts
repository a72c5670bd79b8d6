// `crossbill move`: stops Stripe from collecting subscriptions of linked customers, or gives the collection back to
// Stripe.
import { whatIsWrongWithId } from '../../shared/domain/id-text.js';
import { renderMoveFact } from './move.rules.js';
import { MoveStopped } from './move-steps.js';
import { type MoveCount, type MoveDone, type MoveOptions, MoveRefused, MovesService } from './moves.service.js';
import { MoveRunning, MovesRepository } from './moves.repository.js';
import { type Cli } from '../../frames/cli/cli.js';
import { type Commands } from '../../frames/cli/commands.js';
import { CliError, EXIT, wrongUsage } from '../../frames/cli/exit-codes.js';
import { parseLine } from '../../frames/cli/options.js';
import { counted, plain, table } from '../../frames/cli/table.js';
import { type AppContext } from '../../frames/cli/app-context.js';

/** The most rows in the text (`SHOWN`), and in the JSON (`KEPT`). */
const SHOWN = 50;
const KEPT = 10_000;

export function addMove(on: Commands): void {
  on.add('move [customers...]', on.about)
    .option('--reference <text>', 'only customers whose link has this reference, for example "batch 1"', parseLine())
    .option('--dry-run', 'read and decide, and change nothing')
    .option('--back', 'the other way: restore the values on Stripe, and let Stripe charge')
    .option('--mor-stopped', 'with --back, without MOR_RELAY_URL: confirms the MoR no longer charges these customers')
    .option('--yes', 'do not ask')
    .action(
      on.run(async (cli, customers, { reference, dryRun = false, back = false, morStopped = false }) => {
        checkUsage(customers, reference);
        if (morStopped && !back) throw wrongUsage('--mor-stopped is for --back only.');
        const app = await cli.open();
        const customerIds = await customersOf(app, customers, reference);
        const whose = customerIds === null ? 'all linked customers' : counted(customerIds.length, 'customer');
        if (!dryRun)
          await cli.confirm(
            back
              ? `Give the moved subscriptions of ${whose} back to Stripe? Stripe will charge them again, and the MoR must not.`
              : `Move the subscriptions of ${whose} to the MoR? \`--dry-run\` shows the plan.`,
          );
        const options = { direction: back ? 'back' : 'move', dryRun, customerIds, morStopped } as const;
        const run = (): Promise<Report> => carryOut(cli, app, options);
        const report = dryRun
          ? await run()
          : await app.change(back ? 'move.back' : 'move', null, run, ({ count }) => ({ detail: { ...count } }));
        await cli.print(view(report, back, dryRun), () => render(report, back, dryRun));
        return exitCode(report);
      }),
    );
}

type Report = { readonly done: readonly MoveDone[]; readonly count: MoveCount; readonly stopped: MoveStopped | null };

function checkUsage(customers: readonly string[], reference: string | undefined): void {
  const wrong = customers.map(whatIsWrongWithId).find((one) => one !== null);
  if (wrong !== undefined) throw wrongUsage(`A customer's id ${wrong}.`);
  if (customers.length > 0 && reference !== undefined) throw wrongUsage('Name customers, or a --reference, not both.');
}

/** Returns the chosen customers. Null means all. */
async function customersOf(
  app: AppContext,
  named: readonly string[],
  reference?: string,
): Promise<readonly string[] | null> {
  if (reference === undefined) return named.length === 0 ? null : [...new Set(named)];
  const ids = await app.get(MovesRepository).referenced(reference);
  if (ids.length > 0) return ids;
  throw new CliError(EXIT.failed, 'not_linked', `No link has the reference "${reference}". Crossbill changed nothing.`);
}

async function carryOut(
  cli: Cli,
  app: AppContext,
  options: Omit<MoveOptions, 'onDone' | 'by' | 'signal'>,
): Promise<Report> {
  const done: MoveDone[] = [];
  let count: MoveCount = { done: 0, known: 0, would: 0, skipped: 0, failed: 0 };
  try {
    await cli.watch((progress) => {
      const onDone = (one: MoveDone, so: MoveCount): void => {
        // The line never has the last count: the result says it.
        if (done.length > 0) progress.say(summary(count, options.direction === 'back'));
        count = { ...so };
        if (done.length < KEPT) done.push(one);
      };
      return app.get(MovesService).run({ ...options, by: cli.by, signal: cli.io.signal, onDone });
    });
    return { done, count, stopped: null };
  } catch (e) {
    if (e instanceof MoveStopped) return { done, count, stopped: e };
    if (e instanceof MoveRefused) throw new CliError(EXIT.failed, e.code, e.message);
    if (!(e instanceof MoveRunning)) throw e;
    const message = 'Another move is running. Wait until it ends, then run this one again.';
    throw new CliError(EXIT.failed, 'move_running', message);
  }
}

function exitCode({ count, stopped }: Report): number {
  if (stopped !== null) return stopped.code === 'stripe_refuses_us' ? EXIT.failed : EXIT.unreachable;
  if (count.failed > 0) return EXIT.failed;
  return count.skipped > 0 ? EXIT.differences : EXIT.ok;
}

/** The word for each result of a move. `failed` and `skipped` come first, because a person must look at them. */
const words = (back: boolean): Readonly<Record<keyof MoveCount, string>> => ({
  failed: 'failed',
  skipped: 'skipped',
  would: back ? 'would return' : 'would move',
  done: back ? 'returned' : 'moved',
  known: back ? 'returned before' : 'moved before',
});

function view({ done, count, stopped }: Report, back: boolean, dryRun: boolean): Record<string, unknown> {
  return {
    direction: back ? 'back' : 'move',
    dry_run: dryRun,
    complete: stopped === null,
    problem: stopped === null ? null : { code: stopped.code, message: stopped.message },
    ...Object.fromEntries(
      Object.entries(words(back)).map(([result, word]) => [word.replace(' ', '_'), count[result as keyof MoveCount]]),
    ),
    subscriptions: done.map((d) => ({
      subscription_id: d.subscriptionId,
      customer_id: d.customerId,
      result: words(back)[d.result],
      fact: d.fact,
      reason: d.fact && renderMoveFact(d.fact),
      renews_at: d.renewsAt,
    })),
  };
}

function summary(count: MoveCount, back: boolean): string {
  const { failed, skipped, ...rest } = words(back);
  const some = Object.entries({ ...rest, skipped, failed }).flatMap(([result, word]) => {
    const n = count[result as keyof MoveCount];
    return n > 0 ? [`${n} ${word}`] : [];
  });
  return some.length === 0 ? 'No subscription yet' : some.join(', ');
}

/** Shows the result. Rows with work for a person come first. */
function render({ done, count, stopped }: Report, back: boolean, dryRun: boolean): string {
  const word = words(back);
  const order = Object.keys(word);
  const shown = [...done].sort((a, b) => order.indexOf(a.result) - order.indexOf(b.result)).slice(0, SHOWN);
  const all = Object.values(count).reduce((sum, n) => sum + n, 0);
  const rows = shown.map((d) => [
    d.subscriptionId,
    d.customerId,
    word[d.result],
    d.fact === null ? '' : renderMoveFact(d.fact),
  ]);
  const head = all === 0 ? '' : table(['subscription', 'customer', 'result', 'why'], rows);
  const more = all > rows.length ? `and ${all - rows.length} more: \`GET /v1/moves\` and the console list all\n` : '';
  const none = back ? 'There is no moved subscription.' : 'No linked customer has a subscription on Stripe.';
  const total = all === 0 && stopped === null ? none : `${summary(count, back)}.`;
  const stop = stopped === null ? '' : `${plain(stopped.message)}\n`;
  return `${head}${more}${total}${dryRun ? ' Nothing was changed.' : ''}\n${stop}`;
}
