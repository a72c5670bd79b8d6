// `crossbill verify` and `crossbill backfill`: compare the ledger, Stripe and the MoR, and repair differences.
import { type Difference, isOpen, isRepairable, showCounts } from '../../shared/domain/difference.js';
import { differenceView } from '../../core/invoices/difference.view.js';
import { acknowledgedOf, type More, showMarksLeft } from './rules/run.js';
import { showLossWindow } from './rules/loss-window.js';
import { VerifyController } from './verify.controller.js';
import { VerifyService, type VerifyReport } from './verify.service.js';
import { type Repaired } from './verify-repair.js';
import { VerifyRepository } from './verify.repository.js';
import { type Cli } from '../../frames/cli/cli.js';
import { compare, exitCode } from '../../frames/cli/compare.js';
import { type Commands } from '../../frames/cli/commands.js';
import { EXIT, wrongUsage } from '../../frames/cli/exit-codes.js';
import { parseCount, parseLine, parseSince } from '../../frames/cli/options.js';
import { counted, named, table, time } from '../../frames/cli/table.js';
import { type AppContext } from '../../frames/cli/app-context.js';

export function addVerify(on: Commands): void {
  on.add('verify', on.about)
    .option('--since <when>', 'what Stripe made since: 2026-01-01, 30d, 12h', parseSince, parseSince('30d'))
    .option('--resume', 'resume an interrupted run of the last day, instead of comparing everything again')
    .option('--repair', 'show the plan, ask (on a terminal), carry out the plan, and compare again')
    .option('--wait <seconds>', 'the longest a repair may take', parseCount(3600), 120)
    .option('--yes', 'do not ask for confirmation')
    .option('--acknowledge <id>', 'acknowledge this difference of the last run (dif_…) instead of comparing')
    .option('--note <text>', 'why, with --acknowledge', parseLine(1000))
    .action(
      on.run(async (cli, { since, resume = false, repair, wait, acknowledge: id, note }) => {
        if (id !== undefined) return acknowledge(cli, id, note);
        if (note !== undefined) throw wrongUsage('--note belongs to --acknowledge <id>');
        const app = await cli.open();
        const service = app.get(VerifyService);
        let report = await compare(cli, since, (options) => service.run({ ...options, resume }));
        if (resume && report.resumedFrom === null)
          cli.io.err('There was no interrupted run: Crossbill compared everything.\n');
        const wanted = report.differences.filter(isRepairable);
        let repaired: Repaired | null = null;
        if (repair === true && wanted.length > 0 && (await mayRepair(cli, wanted, report.more))) {
          const before = report;
          const work = () => service.repair(before, wanted);
          repaired = await settled(cli, app, wait, await app.change('verify.repair', before.id, work, counts));
          report = await compare(cli, since, (options) => service.run(options));
        }
        const older = await beforeInstallation(app, since, report);
        await cli.print(
          { ...view(report), ...(repaired === null ? {} : viewRepaired(repaired)) },
          () => (repaired === null ? '' : renderRepaired(repaired)) + render(report) + older,
        );
        return exitCode(report);
      }),
    );
}

export function addBackfill(on: Commands): void {
  on.add('backfill', on.about)
    .requiredOption('--since <when>', 'what Stripe made since: 2026-01-01, 30d, 12h', parseSince)
    .option('--wait <seconds>', 'the longest wait for the decisions on all fetched events', parseCount(3600), 120)
    .option('--yes', 'do not ask for confirmation')
    .action(
      on.run(async (cli, { since, wait }) => {
        const app = await cli.open();
        const service = app.get(VerifyService);
        const report = await compare(cli, since, (options) => service.run(options));
        const missing = report.differences.filter((d) => d.kind === 'event_never_delivered' && isRepairable(d));
        let repaired: Repaired = { started: [], failed: [], beyond: 0, lanes: [] };
        if (missing.length > 0) {
          cli.io.err(renderPlan(missing, report.more));
          await cli.confirm(`Fetch the missing events (${missing.length})?`);
          const work = () => service.repair(report, missing);
          repaired = await settled(cli, app, wait, await app.change('backfill', null, work, counts));
        }
        const { compared, problem } = report;
        await cli.print({ compared, ...viewRepaired(repaired), problem }, () => {
          const head = missing.length === 0 ? 'Nothing was missing.\n' : renderRepaired(repaired);
          return head + (problem === null ? '' : `Crossbill could not compare everything: ${problem}. Try again.\n`);
        });
        if (problem !== null) return EXIT.unreachable;
        return repaired.failed.length > 0 ? EXIT.failed : EXIT.ok;
      }),
    );
}

/** Acknowledges a difference. Later runs list the difference as acknowledged, until its facts change. */
async function acknowledge(cli: Cli, id: string, note: string | undefined): Promise<void> {
  if (note === undefined) throw wrongUsage('--acknowledge needs --note <why>');
  const app = await cli.open();
  const work = () => app.get(VerifyController).acknowledge(id, { note }, cli.caller);
  const d = await app.change('verify.acknowledge', id, work);
  const about = d.invoice_id ?? d.event_id ?? d.object_id ?? '-';
  await cli.print(d, () => `Acknowledged: ${d.kind} ${about}. ${d.detail}\n`);
}

/** Shows the repairs and asks for a yes. Without a terminal the option `--repair` counts as the yes. */
async function mayRepair(cli: Cli, wanted: readonly Difference[], more: More): Promise<boolean> {
  cli.io.err(renderPlan(wanted, more));
  if (!cli.io.isTerminal || (await cli.agrees(`Carry out ${counted(wanted.length, 'repair')}?`))) return true;
  cli.io.err('Nothing was repaired.\n');
  return false;
}

/** The counts of the repairs, for the audit trail. */
function counts({ started, failed, beyond }: Repaired): { readonly detail: Readonly<Record<string, number>> } {
  return { detail: { started: started.length + beyond, failed: failed.length } };
}

/** Works on the repaired lanes until no work is due there, for at most `seconds`. A daemon may run at the same time. */
async function settled(cli: Cli, app: AppContext, seconds: number, repaired: Repaired): Promise<Repaired> {
  const isIdle = await app.workUntil(() => app.get(VerifyRepository).isIdle(repaired.lanes), seconds);
  if (!isIdle) cli.io.err('Not everything finished in time; the daemon continues.\n');
  return repaired;
}

/**
 * Returns a sentence about missing events from before this installation, or an empty text if there are none. The daily
 * run of verify leaves these events out.
 */
async function beforeInstallation(app: AppContext, since: Date, report: VerifyReport): Promise<string> {
  const installedAt = await app.get(VerifyRepository).installedAt();
  const old = [...report.missing.values()].filter((e) => e.createdAt < installedAt).length;
  if (since >= installedAt || old === 0) return '';
  return `${old} of the missing events are older than this installation (${time(installedAt)}).
Take them in with \`crossbill backfill --since 30d\`, or leave them out with \`crossbill verify --since ${time(installedAt)}\`.
`;
}

function view({ missing: _, since: __, differences, lossWindows, ...run }: VerifyReport): object {
  return {
    ...(named(run) as object),
    differences: differences.filter(isOpen).map(differenceView),
    acknowledged: acknowledgedOf({ differences }).map(differenceView),
    loss_windows: lossWindows,
  };
}

function viewRepaired({ started, failed }: Repaired): object {
  const notRepaired = failed.map(({ difference, why }) => ({ ...differenceView(difference), why }));
  return { repaired: started.map(differenceView), not_repaired: notRepaired };
}

const about = (difference: Difference): string =>
  difference.invoiceId ?? difference.eventId ?? difference.objectId ?? '-';

const DOES: Record<Difference['repair'], string> = {
  'look-again': 'read the invoice again and settle it',
  'take-in-event': 'take the event in as if Stripe had delivered it',
  person: 'a person',
};

function renderPlan(wanted: readonly Difference[], more: More): string {
  const rows = wanted.map((d) => [about(d), DOES[d.repair], d.detail]);
  return `The plan\n${table(['about', 'what is done', 'because'], rows)}${renderMore(more)}\n`;
}

function renderRepaired({ started, beyond, failed }: Repaired): string {
  const rows = failed.map((f) => [about(f.difference), f.why]);
  const left = rows.length === 0 ? '' : `Not possible\n${table(['about', 'why'], rows)}`;
  return `Repairs done: ${started.length + beyond}.\n${left}\n`;
}

function renderMore(more: More): string {
  const parts = Object.entries(more).map(([kind, n]) => `${n} ${kind}`);
  return parts.length === 0 ? '' : `Further differences, only counted: ${parts.join(', ')}.\n`;
}

function render(report: VerifyReport): string {
  const { differences, resumedFrom, lossWindows, problem, outcome } = report;
  const open = differences.filter(isOpen);
  const acknowledged = acknowledgedOf(report);
  const row = (difference: Difference): string[] => [difference.kind, about(difference), difference.detail];
  const out = [`Compared ${showCounts(report.compared)}.\n`];
  if (resumedFrom !== null)
    out.push(`Crossbill resumed run ${resumedFrom} of ${time(report.beganAt)}, and compared its differences again.\n`);
  if (lossWindows.length > 0)
    out.push(
      `\nLoss windows\n${lossWindows.map((w) => `  ${showLossWindow(w)}\n`).join('')}  Crossbill looked up the open work of that time. It cannot look up refunds made in the MoR's portal, disputes and alerts: compare them by hand.\n`,
    );
  if (open.length > 0) {
    const rows = open.map((d) => [d.id, ...row(d), d.reviewId === null ? DOES[d.repair] : `item ${d.reviewId}`]);
    out.push('\nDifferences\n', table(['id', 'kind', 'about', 'what', 'fixed by'], rows));
    out.push('To accept a difference: `crossbill verify --acknowledge <id> --note <why>`.\n');
    if (open.some(isRepairable)) out.push('Crossbill can repair some of them: `crossbill verify --repair`.\n');
  }
  out.push(renderMore(report.more));
  if (acknowledged.length > 0) {
    const rows = acknowledged.map((d) => [d.id, ...row(d), d.acknowledged?.by ?? '', d.acknowledged?.note ?? '']);
    out.push(`\n${rows.length} acknowledged\n`, table(['id', 'kind', 'about', 'what', 'by', 'note'], rows));
  }
  if (problem !== null)
    out.push(`\nCrossbill could not compare everything: ${problem}. Run \`crossbill verify --resume\` to continue.\n`);
  else if (outcome === 'clean') out.push(`\n${renderClean(report)}\n`);
  return out.join('');
}

/** Returns the sentence for a run without differences. The sentence names only the parts the run has compared. */
function renderClean(report: VerifyReport): string {
  const { marksLeft } = report;
  const acknowledged = acknowledgedOf(report).length;
  const but = acknowledged === 0 ? '' : `, except for ${counted(acknowledged, 'acknowledged difference')}`;
  if (marksLeft === 0) return `Clean: ledger, Stripe and the MoR agree${but}.`;
  const mor =
    marksLeft === null
      ? 'Crossbill did not look up marks at the MoR (SIGNUP_CHARGE_CHECK=off).'
      : `The MoR knows the marked charges of this run; the next runs look up the other ${showMarksLeft(marksLeft)}.`;
  return `Clean: ledger and Stripe agree${but}. ${mor}`;
}
