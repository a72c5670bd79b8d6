// `crossbill reviews`: shows review items, and carries out an operator's decision.
import { REVIEW_KINDS } from '../../core/reviews/rules/impact.js';
import { given } from '../api/http/page.js';
import { RESOLUTIONS } from '../../shared/domain/review-row.js';
import { REVIEW_STATUSES, type ReviewView } from '../../core/reviews/review.view.js';
import { reviewFields } from '../../core/reviews/review.fields.js';
import { ReviewsController } from '../../core/reviews/reviews.controller.js';
import { REVIEW_ORDERS } from '../../core/reviews/reviews.repository.js';
import { type Commands } from './commands.js';
import { wrongUsage } from './exit-codes.js';
import { localTime } from './fit.js';
import { oneOf, parseLine } from './options.js';
import { plain } from './table.js';

export function addReviews(on: Commands): void {
  const reviews = on.group('reviews', on.about);
  reviews
    .addList('list', 'items, the soonest deadline first, then the newest', true)
    .option('--status <status>', 'open, resolved or all', oneOf([...REVIEW_STATUSES, 'all']), 'open')
    .option('--kind <kind>', 'for example amount_mismatch', oneOf(REVIEW_KINDS))
    .option('--order <order>', 'due or newest', oneOf(REVIEW_ORDERS), 'due')
    .action(
      on.run(async (cli, { status, kind, order, limit, cursor }) => {
        const query = given({ status: status === 'all' ? undefined : status, kind, order, limit, cursor });
        await cli.printPage(await (await cli.open()).get(ReviewsController).list(query), reviewFields);
      }),
    );
  reviews.add('show <review>', 'one item: what happened, what to do, and the commands for it').action(
    on.run(async (cli, id) => {
      const review = await (await cli.open()).get(ReviewsController).one(id);
      await cli.print(review, () => render(review, cli.io.columns === null));
    }),
  );
  reviews
    .add('resolve <review> <resolution>', `resolve an item: ${RESOLUTIONS.join(', ')}`)
    .option('--note <text>', 'why', parseLine(1000))
    .option('--yes', 'do not ask for confirmation')
    .action(
      on.run(async (cli, id, word, { note }) => {
        const resolution = RESOLUTIONS.find((r) => r === word);
        if (resolution === undefined) throw wrongUsage(`The resolution is one of ${RESOLUTIONS.join(', ')}.`);
        const app = await cli.open();
        const reviews = app.get(ReviewsController);
        const review = await reviews.one(id);
        await cli.confirm(`${review.summary}${warning(review, resolution)}\nResolve it with "${resolution}"?`);
        const work = () => reviews.resolve(id, { resolution, ...given({ note }) }, cli.caller);
        const resolved = await app.change('review.resolve', id, work, () => ({ detail: { resolution } }));
        await cli.print(
          resolved,
          () => `${id}: ${plain(resolved.resolution ?? '')} by ${plain(resolved.resolved_by ?? '')}.\n`,
        );
      }),
    );
}

/** An item as text. `isPlain`: times are in UTC, because no terminal shows the text. */
function render(review: ReviewView, isPlain: boolean): string {
  const { id, kind, status, invoice_id: invoice } = review;
  const at = (text: string | null): string | null => (text === null || isPlain ? text : localTime(new Date(text)));
  const facts: readonly (readonly [string, string | null | undefined])[] = [
    ['What happened', review.summary],
    ['What to do', review.proposal],
    ['Due', at(review.due_at)],
    ['Since', at(review.created_at)],
    ['Invoice', invoice],
    ['Payment', review.payment_id],
    ['Refund', review.refund_id],
    ['Resolved', at(review.resolved_at)],
    ['Resolution', review.resolution],
    ['By', review.resolved_by],
    ['Note', review.note],
  ];
  const lines = facts.flatMap(([name, value]) => (value ? [`${name.padEnd(14)}${plain(value)}\n`] : []));
  const proposed = (action: string): string => (action === review.proposed ? '   (proposed)' : '');
  const commands = [
    ...review.actions.map((action) => `crossbill reviews resolve ${id} ${action}${proposed(action)}\n`),
    ...(invoice === undefined ? [] : [`crossbill explain ${invoice}\n`]),
  ];
  return `${id}: ${kind}, ${status}\n${lines.join('')}\n${commands.join('')}`;
}

function warning({ kind }: ReviewView, resolution: string): string {
  if (kind === 'refund_stuck' && resolution === 'apply')
    return '\nIf this refund did not fail, your next refund pays the customer twice.';
  return resolution === 'credit' ? '\nYou cannot undo a credit note of a paid invoice.' : '';
}
