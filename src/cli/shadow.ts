// `crossbill shadow`: what shadow mode decided, against what the integration in charge did.
import { type Command } from 'commander';
import { HealthStore, type ShadowStanding } from '../health/health.store.js';
import { type Difference, type DifferenceKind } from '../domain/difference.js';
import { VerifyFlow, type VerifyReport } from '../verify/verify.flow.js';
import { parseSince, type Session } from './session.js';
import { table } from './table.js';
import { exitOf, shown, told } from './verify.js';

/** Verify's differences, as they read beside another integration. */
const MEANS: Partial<Record<DifferenceKind, string>> = {
  charged_not_marked: 'would have marked, was left open',
  marked_not_charged: 'was marked, would have left open',
};

export function addShadow(program: Command, session: Session): void {
  session
    .leaf(
      program,
      'shadow',
      'compare what shadow mode decided with what was done; exit code 0 the same, 3 differences, 4 could not compare',
      async (cli) => {
        const world = await cli.open();
        const report = await told(cli, (options) => world.get(VerifyFlow).run(options));
        const standing = await world.get(HealthStore).shadow();
        const view = {
          shadow: world.config.shadow,
          calls_not_sent: Object.fromEntries(standing.calls),
          marks_agreed: standing.agreed,
          marks_not_made_yet: standing.unmarked,
          differences: report.differences.map((d) => ({ ...shown(d), means: meaning(d) })),
          problem: report.problem,
        };
        await cli.print(view, () => text(world.config.shadow, standing, report));
        return exitOf(report);
      },
    )
    .option('--since <when>', 'what Stripe made since: 2026-01-01, 30d, 12h', parseSince, parseSince('30d'));
}

function meaning({ kind, reviewId }: Difference): string {
  const means = MEANS[kind] ?? kind;
  return reviewId === null ? means : `${means}; a person would have been asked (${reviewId})`;
}

function text(
  on: boolean,
  { calls, agreed, unmarked }: ShadowStanding,
  { differences, problem }: VerifyReport,
): string {
  return [
    on ? 'Shadow mode is on: nothing is changed at Stripe or the MoR.\n' : 'Shadow mode is off.\n',
    `\nMarks decided here: ${agreed} made by others as well, ${unmarked} not made so far.\n`,
    '\nCalls decided and not sent\n',
    table(
      ['call', 'count'],
      [...calls].map(([kind, n]) => [kind, String(n)]),
    ),
    '\nDifferences\n',
    table(
      ['what', 'about', 'detail'],
      differences.map((d) => [meaning(d), d.invoiceId ?? d.eventId ?? '-', d.detail]),
    ),
    problem === null ? '' : `\nNot everything could be compared: ${problem}. Try again.\n`,
  ].join('');
}
