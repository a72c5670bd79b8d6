// `crossbill shadow`: compares the decisions of shadow mode with the work of the merchant's present integration.
import { type Difference, type DifferenceKind } from '../../shared/domain/difference.js';
import { ShadowRepository, type ShadowStatus } from './shadow.repository.js';
import { differenceView } from '../../core/invoices/difference.view.js';
import { type Compared, Comparer, NO_COMPARER } from '../../shared/domain/ports/differences.js';
import { type Commands } from '../../frames/cli/commands.js';
import { parseSince } from '../../frames/cli/options.js';
import { counts, table } from '../../frames/cli/table.js';
import { compare, exitCode } from '../../frames/cli/compare.js';

/**
 * The meaning of a difference in shadow mode. Crossbill only decides, and the merchant's present integration marks the
 * invoices.
 */
const MEANS: Partial<Record<DifferenceKind, string>> = {
  charged_not_marked: 'left open, Crossbill would mark',
  marked_not_charged: 'marked, Crossbill would leave open',
};

export function addShadow(on: Commands): void {
  on.add('shadow', on.about)
    .option('--since <when>', 'what Stripe made since: 2026-01-01, 30d, 12h', parseSince, parseSince('30d'))
    .action(
      on.run(async (cli, { since }) => {
        const app = await cli.open();
        const report = await compare(cli, since, (options) => app.find(Comparer, NO_COMPARER).run(options));
        const status = await app.get(ShadowRepository).status();
        const view = {
          shadow: app.config.sendsNothing,
          calls_not_sent: status.calls,
          marks_agreed: status.agreed,
          marks_not_made_yet: status.unmarked,
          differences: report.differences.map((d) => ({ ...differenceView(d), means: meaning(d) })),
          problem: report.problem,
        };
        await cli.print(view, () => render(app.config.sendsNothing, status, report));
        return exitCode(report);
      }),
    );
}

function meaning({ kind, reviewId }: Difference): string {
  const means = MEANS[kind] ?? kind;
  return reviewId === null ? means : `${means}; Crossbill would have asked a person (${reviewId})`;
}

function render(on: boolean, { calls, agreed, unmarked }: ShadowStatus, report: Compared): string {
  const rows = report.differences.map((d) => [meaning(d), d.invoiceId ?? d.eventId ?? '-', d.detail]);
  return [
    on ? 'Shadow mode is on: Crossbill changes nothing at Stripe or the MoR.\n' : 'Shadow mode is off.\n',
    `\nMarks Crossbill decided: ${agreed} also made by others, ${unmarked} not made so far.\n`,
    `\nCalls decided and not sent\n${counts(['call', 'count'], calls)}`,
    `\nDifferences\n${table(['what', 'about', 'detail'], rows)}`,
    report.problem === null ? '' : `\nCrossbill could not compare everything: ${report.problem}. Try again.\n`,
  ].join('');
}
