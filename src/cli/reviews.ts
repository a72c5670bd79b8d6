// `crossbill reviews`: what waits for a person, and a person's decision.
import { type Command } from 'commander';
import { RESOLUTIONS, REVIEW_KINDS, REVIEW_STATUSES, reviewView } from '../reviews/review.view.js';
import { type ReviewRow } from '../domain/model.js';
import { sentencesOf } from '../reviews/rules/words.js';
import { ReviewsStore } from '../reviews/reviews.store.js';
import { ReadModel } from '../engine/read-model.js';
import { ReviewsFlow } from '../reviews/reviews.flow.js';
import { CliError, doneOrFailed, EXIT } from './exit-codes.js';
import { type Cli, need, oneOf, parseCount, type Session } from './session.js';
import { plain, table, time } from './table.js';
import { actorOf } from './world.js';

export function addReviews(program: Command, session: Session): void {
  const reviews = program.command('reviews').description('review items: work for a person');
  session
    .leaf(reviews, 'list', 'items, the soonest deadline first, then the newest', list, true)
    .option('--status <status>', 'open, resolved or all', oneOf([...REVIEW_STATUSES, 'all']), 'open')
    .option('--kind <kind>', 'for example amount_mismatch', oneOf(REVIEW_KINDS))
    .option('--order <order>', 'due or newest', oneOf(['due', 'newest']), 'due')
    .option('--limit <n>', 'how many to list', parseCount(100), 20)
    .option('--cursor <cursor>', 'continue after this cursor');
  session
    .leaf(reviews, 'resolve <review> <resolution>', `resolve an item: ${RESOLUTIONS.join(', ')}`, resolve)
    .option('--note <text>', 'why')
    .option('--yes', 'do not ask for confirmation');
}

type Names = ReadonlyMap<string, string>;

function namesOf(books: ReadModel, reviews: readonly ReviewRow[]): Promise<Names> {
  return books.paymentNames(reviews.flatMap((r) => r.paymentRowId ?? []));
}

async function list(cli: Cli): Promise<number> {
  const world = await cli.open();
  const { status, kind, limit, cursor, order }: Record<string, unknown> = cli.options;
  const filter = {
    ...(status === 'all' ? {} : { status: String(status) }),
    ...(typeof kind === 'string' ? { kind } : {}),
  };
  const from = { limit: limit as number, cursor: typeof cursor === 'string' ? cursor : null };
  const books = world.get(ReadModel);
  const page = await world.get(ReviewsStore).list(filter, from, order === 'newest' ? 'newest' : 'due');
  const names = await namesOf(books, page.data);
  const next = page.nextCursor === null ? {} : { next_cursor: page.nextCursor };
  await cli.print({ data: page.data.map((r) => reviewView(r, names)), ...next }, () => {
    const rows = page.data.map((r) => [
      r.id,
      r.dueAt === null ? '-' : time(r.dueAt),
      time(r.createdAt),
      r.kind,
      r.status,
      r.invoiceId ?? '-',
      sentencesOf(r).summary,
    ]);
    const more = page.nextCursor === null ? '' : `more: --cursor ${page.nextCursor}\n`;
    return table(['id', 'due', 'since', 'kind', 'status', 'invoice', 'what happened'], rows) + more;
  });
  return EXIT.ok;
}

async function resolve(cli: Cli, args: readonly (string | undefined)[]): Promise<number> {
  const id = need(args);
  const resolution = RESOLUTIONS.find((r) => r === args[1]);
  if (resolution === undefined) {
    throw new CliError(EXIT.usage, 'argument', `The resolution is one of ${RESOLUTIONS.join(', ')}.`);
  }
  const world = await cli.open();
  const review = await world.get(ReviewsStore).find(id);
  if (review === null) throw new CliError(EXIT.failed, 'not_found', `There is no review item ${id}.`);
  const frees = review.kind === 'refund_stuck' && resolution === 'apply';
  const danger = frees
    ? '\nIf this refund did not fail, the next one gives the money back a second time.'
    : resolution === 'credit'
      ? '\nStripe does not take back a credit note of a paid invoice.'
      : '';
  if (!(await cli.confirm(`${sentencesOf(review).summary}${danger}\nResolve it with "${resolution}"?`)))
    return EXIT.failed;
  const note = typeof cli.options['note'] === 'string' ? cli.options['note'] : null;
  const resolved = await world.change(
    'review.resolve',
    id,
    async () => doneOrFailed(await world.get(ReviewsFlow).resolve(id, { resolution, note, by: actorOf(cli.io) })),
    () => ({ detail: { resolution } }),
  );
  await cli.print(
    reviewView(resolved, await namesOf(world.get(ReadModel), [resolved])),
    () => `${id}: ${plain(resolved.resolution ?? '')} by ${plain(resolved.resolvedBy ?? '')}.\n`,
  );
  return EXIT.ok;
}
