// `crossbill move`: takes subscriptions of linked customers away from Stripe's own collection, or gives them back.
import { type Command, InvalidArgumentError } from 'commander';
import { whatIsWrongWithId } from '../domain/id-text.js';
import { renderMoveFact } from '../moves/move.rules.js';
import { MoveStopped } from '../moves/move-steps.js';
import { type MoveCount, type MoveDone, type MoveOptions, MoveRefused, MovesFlow } from '../moves/moves.flow.js';
import { MoveRunning, MovesStore } from '../moves/moves.store.js';
import { CliError, EXIT } from './exit-codes.js';
import { Progress } from './progress.js';
import { type Cli, type Session } from './session.js';
import { plain, table } from './table.js';
import { actorOf, type World } from './world.js';

/** Rows in the text, and in the answer for scripts. */
const SHOWN = 50;
const KEPT = 10_000;

export function addMove(program: Command, session: Session): void {
  session
    .leaf(
      program,
      'move [customers...]',
      'let the MoR collect: takes away what Stripe would charge for the subscriptions of linked customers, 24 hours or more before they renew',
      move,
    )
    .option('--reference <text>', 'only customers whose link has this reference, for example "batch 1"', oneLine)
    .option('--dry-run', 'read and decide, and change nothing')
    .option('--back', 'the other way: write again what stood on Stripe, so that Stripe charges')
    .option('--mor-stopped', 'with --back and without MOR_RELAY_URL: the MoR has stopped to charge these customers')
    .option('--yes', 'do not ask');
}

function oneLine(text: string): string {
  if (!/^[^\p{Cc}]{1,255}$/u.test(text)) throw new InvalidArgumentError('Use one line of at most 255 characters.');
  return text;
}

type Report = { readonly done: readonly MoveDone[]; readonly count: MoveCount; readonly stopped: MoveStopped | null };

async function move(cli: Cli, args: readonly unknown[]): Promise<number> {
  const options = cli.options as Record<'back' | 'dryRun' | 'morStopped', boolean | undefined> & { reference?: string };
  const { back = false, dryRun = false, morStopped = false, reference } = options;
  const named = customersIn(args[0], reference);
  if (morStopped && !back) throw new CliError(EXIT.usage, 'usage', '--mor-stopped is for --back only.');
  const world = await cli.open();
  const customerIds = reference === undefined ? named : await referenced(world, reference);
  const whose = customerIds === null ? 'all linked customers' : counted(customerIds.length, 'customer');
  const question = back
    ? `Give the moved subscriptions of ${whose} back to Stripe? It will charge them again, and the MoR must not.`
    : `Move the subscriptions of ${whose} to the MoR? \`--dry-run\` shows what will be done.`;
  if (!dryRun && !(await cli.confirm(question))) return EXIT.failed;
  const run = (): Promise<Report> =>
    carryOut(cli, world, {
      direction: back ? 'back' : 'move',
      dryRun,
      customerIds,
      morStopped,
      by: actorOf(cli.io),
      signal: cli.io.signal,
    });
  const report = dryRun
    ? await run()
    : await world.change(back ? 'move.back' : 'move', null, run, ({ count }) => ({ detail: { ...count } }));
  await cli.print(view(report, { back, dryRun }), () => page(report, { back, dryRun }));
  return exitOf(report);
}

function customersIn(given: unknown, reference: string | undefined): readonly string[] | null {
  const ids = Array.isArray(given) ? [...new Set(given.map(String))] : [];
  for (const id of ids) {
    const wrong = whatIsWrongWithId(id);
    if (wrong !== null) throw new CliError(EXIT.usage, 'usage', `A customer's id ${wrong}.`);
  }
  if (ids.length > 0 && reference !== undefined)
    throw new CliError(EXIT.usage, 'usage', 'Name customers, or a --reference, not both.');
  return ids.length === 0 ? null : ids;
}

async function referenced(world: World, reference: string): Promise<readonly string[]> {
  const ids = await world.get(MovesStore).referenced(reference);
  if (ids.length > 0) return ids;
  throw new CliError(EXIT.failed, 'not_linked', `No link has the reference "${reference}". Nothing was changed.`);
}

async function carryOut(cli: Cli, world: World, o: Omit<MoveOptions, 'onDone'>): Promise<Report> {
  const progress = new Progress(cli.io);
  const done: MoveDone[] = [];
  let count: MoveCount = { done: 0, known: 0, would: 0, skipped: 0, failed: 0 };
  const onDone = (one: MoveDone, so: MoveCount): void => {
    count = { ...so };
    if (done.length < KEPT) done.push(one);
    progress.say(summary(count, o.direction === 'back'));
  };
  try {
    await world.get(MovesFlow).run({ ...o, onDone });
    return { done, count, stopped: null };
  } catch (e) {
    if (e instanceof MoveStopped) return { done, count, stopped: e };
    if (e instanceof MoveRefused) throw new CliError(EXIT.failed, e.code, e.message);
    if (e instanceof MoveRunning)
      throw new CliError(
        EXIT.failed,
        'move_running',
        'Another move is running. Wait until it ends; this one stops here.',
      );
    throw e;
  } finally {
    progress.end();
  }
}

function exitOf({ count, stopped }: Report): number {
  if (stopped !== null) return stopped.code === 'stripe_refuses_us' ? EXIT.failed : EXIT.unreachable;
  if (count.failed > 0) return EXIT.failed;
  return count.skipped > 0 ? EXIT.differences : EXIT.ok;
}

type Kind = { readonly back: boolean; readonly dryRun: boolean };

/** For scripts. */
function view({ done, count, stopped }: Report, { back, dryRun }: Kind): Record<string, unknown> {
  return {
    direction: back ? 'back' : 'move',
    dry_run: dryRun,
    complete: stopped === null,
    problem: stopped === null ? null : { code: stopped.code, message: stopped.message },
    [back ? 'returned' : 'moved']: count.done,
    [back ? 'already_returned' : 'already_moved']: count.known,
    [back ? 'would_return' : 'would_move']: count.would,
    skipped: count.skipped,
    failed: count.failed,
    subscriptions: done.map((d) => ({
      subscription_id: d.subscriptionId,
      customer_id: d.customerId,
      result: wordOf(d, back),
      fact: d.fact,
      reason: d.fact === null ? null : renderMoveFact(d.fact),
      renews_at: d.renewsAt,
    })),
  };
}

function wordOf({ result }: MoveDone, back: boolean): string {
  switch (result) {
    case 'done':
      return back ? 'returned' : 'moved';
    case 'known':
      return 'moved before';
    case 'would':
      return back ? 'would return' : 'would move';
    case 'skipped':
    case 'failed':
      return result;
  }
}

const counted = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`;

function summary(count: MoveCount, back: boolean): string {
  const parts = [
    [count.would, back ? 'would return' : 'would move'],
    [count.done, back ? 'returned' : 'moved'],
    [count.known, 'moved before'],
    [count.skipped, 'skipped'],
    [count.failed, 'failed'],
  ] as const;
  const some = parts.filter(([n]) => n > 0).map(([n, what]) => `${n} ${what}`);
  return some.length === 0 ? 'No subscription yet' : some.join(', ');
}

/** For people: what needs a look comes first. */
function page({ done, count, stopped }: Report, { back, dryRun }: Kind): string {
  const order = { failed: 0, skipped: 1, would: 2, done: 3, known: 4 } as const;
  const shown = [...done].sort((a, b) => order[a.result] - order[b.result]).slice(0, SHOWN);
  const all = Object.values(count).reduce((sum, n) => sum + n, 0);
  const rows = shown.map((d) => [
    d.subscriptionId,
    d.customerId,
    wordOf(d, back),
    d.fact === null ? '' : plain(renderMoveFact(d.fact)),
  ]);
  const head = all === 0 ? '' : table(['subscription', 'customer', 'result', 'why'], rows);
  const more = all > rows.length ? `and ${all - rows.length} more: \`GET /v1/moves\` and the console list all\n` : '';
  const none = back ? 'No subscription was moved.' : 'No linked customer has a subscription on Stripe.';
  const total = all === 0 && stopped === null ? none : `${summary(count, back)}.`;
  const dry = dryRun ? ' Nothing was changed.' : '';
  return `${head}${more}${total}${dry}\n${stopped === null ? '' : `${plain(stopped.message)}\n`}`;
}
