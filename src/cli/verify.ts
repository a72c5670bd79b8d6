// `crossbill verify` and `crossbill backfill`: ledger against Stripe against the MoR, and what is done about it.
import { type Command } from 'commander';
import { differenceId } from '../verify/rules/acknowledge.js';
import { type Difference, isRepairable, isUntold } from '../domain/difference.js';
import { type LossWindow, showLossWindow } from '../verify/rules/loss-window.js';
import { showCounts, showMarksLeft } from '../verify/rules/counts.js';
import { acknowledgedOf, type More } from '../verify/rules/run.js';
import { VerifyStore } from '../verify/verify.store.js';
import { BackfillFlow } from '../verify/backfill.flow.js';
import { STRIPE_EVENTS_KEPT_MS } from '../policy.js';
import { type Repaired } from '../verify/verify-repair.js';
import { VerifyFlow, type VerifyReport } from '../verify/verify.flow.js';
import { CliError, EXIT } from './exit-codes.js';
import { Progress } from './progress.js';
import { type Cli, parseCount, parseSince, type Session } from './session.js';
import { table } from './table.js';
import { actorOf, type World } from './world.js';

export function addVerify(program: Command, session: Session): void {
  session
    .leaf(
      program,
      'verify',
      'compare ledger, Stripe and the MoR; exit code 0 clean, 3 differences, 4 could not compare',
      verify,
    )
    .option('--since <when>', 'what Stripe made since: 2026-01-01, 30d, 12h', parseSince, parseSince('30d'))
    .option('--resume', 'resume a run of the last day that was interrupted, instead of comparing everything again')
    .option('--repair', 'show the plan, ask (on a terminal), carry it out through the flows, and compare again')
    .option('--wait <seconds>', 'the longest a repair may take', parseCount(3600), 120)
    .option('--yes', 'do not ask for confirmation')
    .option('--acknowledge <id>', 'acknowledge this difference of the last run (dif_…) instead of comparing')
    .option('--note <text>', 'why, with --acknowledge');
  session
    .leaf(program, 'backfill', 'fetch events and invoices from Stripe that never arrived here', backfill)
    .requiredOption('--since <when>', 'what Stripe made since: 2026-01-01, 30d, 12h', parseSince)
    .option('--wait <seconds>', 'the longest to wait until everything is decided', parseCount(3600), 120)
    .option('--yes', 'do not ask for confirmation');
}

type Options = {
  readonly since: Date;
  readonly young: true;
  readonly onProgress: (c: Counts) => void;
  readonly signal: AbortSignal;
};
type Counts = Readonly<Record<string, number>>;

/** Runs `work` with the options of the command, and tells how far it is. */
export async function told<T>(cli: Cli, work: (options: Options) => Promise<T>): Promise<T> {
  const since = cli.options['since'] as Date;
  if (Date.now() - since.getTime() > STRIPE_EVENTS_KEPT_MS + 2 * 3_600_000) {
    cli.io.err('Stripe lists events for 30 days only; of what is older, the invoices themselves are compared.\n');
  }
  const progress = new Progress(cli.io);
  const onProgress = (compared: Counts): void => progress.say(`compared ${showCounts(compared)}`);
  try {
    return await work({ since, young: true, onProgress, signal: cli.io.signal });
  } finally {
    progress.end();
  }
}

async function verify(cli: Cli): Promise<number> {
  const { acknowledge: id, note } = cli.options;
  if (typeof id === 'string') return acknowledge(cli, id, note);
  if (note !== undefined) throw new CliError(EXIT.usage, 'usage', '--note belongs to --acknowledge <id>');
  const world = await cli.open();
  const flow = world.get(VerifyFlow);
  const resume = cli.options['resume'] === true;
  let report = await told(cli, (options) => flow.run({ ...options, resume }));
  if (resume && report.resumedFrom === null)
    cli.io.err('There was no interrupted run to resume: everything was compared.\n');
  let repaired: Repaired | null = null;
  const wanted = report.differences.filter(isRepairable);
  if (cli.options['repair'] === true && wanted.length > 0) {
    if (!cli.json || cli.options['yes'] !== true) cli.io.err(`The plan\n${planOf(wanted)}${moreText(report.more)}\n`);
    // Where nobody can be asked, `--repair` was the answer.
    const alone = !cli.io.isTerminal;
    if (alone || (await cli.confirm(`Carry out ${wanted.length} repair${wanted.length === 1 ? '' : 's'}?`))) {
      const before = report;
      repaired = await world.change('verify.repair', before.id, () => flow.repair(before, wanted), counts);
      await settle(cli, world, repaired);
      report = await told(cli, (options) => flow.run(options));
    }
  }
  const older = await beforeInstallation(cli, world, report);
  await cli.print(
    view(report, repaired),
    () => (repaired === null ? '' : repairedText(repaired)) + reportText(report) + older,
  );
  return exitOf(report);
}

/** As the API takes it. */
const MOST_NOTE = 1_000;

/** A person has looked: the difference is counted apart from now on, until its facts change. */
async function acknowledge(cli: Cli, id: string, text: unknown): Promise<number> {
  const note = typeof text === 'string' ? text.replace(/\s+/g, ' ').trim() : '';
  if (note === '' || note.length > MOST_NOTE)
    throw new CliError(EXIT.usage, 'note_required', `--note <why> is needed, of at most ${MOST_NOTE} characters`);
  const world = await cli.open();
  const by = actorOf(cli.io);
  const done = await world.change('verify.acknowledge', id, async () => {
    const d = await world.get(VerifyStore).acknowledge(id, { note, by, at: new Date() });
    if (d !== null) return d;
    const message = `the last verify run names no difference ${id}: run \`crossbill verify\` and copy its id`;
    throw new CliError(EXIT.failed, 'not_found', message);
  });
  await cli.print(shown(done), () => `Acknowledged: ${done.kind} ${about(done)}, ${done.detail}.\n`);
  return EXIT.ok;
}

/** What to do about events from before this installation, which the daily run leaves out; empty when there are none. */
async function beforeInstallation(cli: Cli, world: World, report: VerifyReport): Promise<string> {
  const since = cli.options['since'] as Date;
  const installedAt = await world.get(VerifyStore).installedAt();
  if (since >= installedAt) return '';
  const old = [...report.missing.values()].filter((e) => e.createdAt < installedAt).length;
  if (old === 0) return '';
  const began = installedAt.toISOString().replace(/\.\d{3}Z$/, 'Z');
  return [
    `${old} of the events that never came are older than this installation (${began}).`,
    'Take them in with `crossbill backfill --since 30d`, or leave them out with `crossbill verify --since ' +
      `${began}\`.`,
    '',
  ].join('\n');
}

async function backfill(cli: Cli): Promise<number> {
  const world = await cli.open();
  const flow = world.get(VerifyFlow);
  const backfilling = new BackfillFlow(flow);
  const found = await told(cli, (options) => backfilling.find(options));
  let repaired: Repaired | null = null;
  if (found.missing.length > 0) {
    cli.io.err(`The plan\n${planOf(found.missing)}${moreText(found.report.more)}\n`);
    if (!(await cli.confirm(`Fetch ${found.missing.length}?`))) return EXIT.failed;
    repaired = await world.change('backfill', null, () => backfilling.takeIn(found), counts);
    await settle(cli, world, repaired);
  }
  const { compared, problem } = found.report;
  const taken = repaired?.started ?? [];
  const failed = repaired?.failed ?? [];
  await cli.print(
    {
      compared,
      taken_in: taken.map(shown),
      failed: failed.map((f) => ({ ...shown(f.difference), why: f.why })),
      problem,
    },
    () => {
      const head =
        found.missing.length === 0 ? 'Nothing was missing.\n' : repaired === null ? '' : repairedText(repaired);
      return head + (problem === null ? '' : `Not everything could be listed: ${problem}\n`);
    },
  );
  if (problem !== null) return EXIT.unreachable;
  return failed.length > 0 ? EXIT.failed : EXIT.ok;
}

/** What a repair came to, for the audit trail. */
function counts({ started, failed, beyond }: Repaired): { readonly detail: Readonly<Record<string, number>> } {
  return { detail: { started: started.length + beyond, failed: failed.length } };
}

/** Works what a repair made due, beside any daemon, until it is at rest. */
async function settle(cli: Cli, world: World, repaired: Repaired): Promise<void> {
  const books = world.get(VerifyStore);
  const atRest = await world.workUntil(() => books.atRest(repaired.lanes), cli.options['wait'] as number);
  if (!atRest) cli.io.err('Not everything finished in time; the daemon continues.\n');
}

export function exitOf(report: VerifyReport): number {
  if (report.outcome === 'incomplete') return EXIT.unreachable;
  return report.outcome === 'clean' ? EXIT.ok : EXIT.differences;
}

/** A difference as JSON shows it. */
export function shown(d: Difference): Record<string, unknown> {
  const { kind, detail, repair } = d;
  return {
    id: differenceId(d),
    kind,
    invoice_id: d.invoiceId,
    payment_id: d.paymentId,
    refund_id: d.refundId,
    event_id: d.eventId,
    object_id: d.objectId,
    detail,
    repair,
    review_id: d.reviewId,
    ...(d.acknowledged ? { acknowledged: d.acknowledged } : {}),
  };
}

function view(report: VerifyReport, repaired: Repaired | null): Record<string, unknown> {
  const { id, outcome, startedAt, beganAt, resumedFrom, finishedAt, compared, problem, differences, more } = report;
  const repairs =
    repaired === null
      ? {}
      : {
          repaired: repaired.started.map(shown),
          not_repaired: repaired.failed.map((f) => ({ ...shown(f.difference), why: f.why })),
        };
  return {
    id,
    outcome,
    started_at: startedAt,
    began_at: beganAt,
    resumed_from: resumedFrom,
    finished_at: finishedAt,
    compared,
    differences: differences.filter(isUntold).map(shown),
    acknowledged: acknowledgedOf(report).map(shown),
    explained: differences.filter((d) => d.reviewId !== null).map(shown),
    more,
    marks_left: report.marksLeft,
    loss_windows: report.lossWindows.map(shownWindow),
    problem,
    ...repairs,
  };
}

/** A loss window in the JSON of `verify` and `status`. */
export function shownWindow({ events, closed }: LossWindow): Record<string, Date> {
  return { events_from: events.from, events_to: events.to, closed_from: closed.from, closed_to: closed.to };
}

const about = (d: Difference): string => d.invoiceId ?? d.eventId ?? d.objectId ?? '-';

const DOES: Record<Difference['repair'], string> = {
  'look-again': 'read the invoice afresh and settle it',
  'take-in-event': 'take the event in as if it had been delivered',
  person: 'a person',
};

function planOf(wanted: readonly Difference[]): string {
  return table(
    ['about', 'what is done', 'because'],
    wanted.map((d) => [about(d), DOES[d.repair], d.detail]),
  );
}

function repairedText(r: Repaired): string {
  const failed =
    r.failed.length === 0
      ? ''
      : `Not possible\n${table(
          ['about', 'why'],
          r.failed.map((f) => [about(f.difference), f.why]),
        )}`;
  return `Repairs done: ${r.started.length + r.beyond}.\n${failed}\n`;
}

function lossText(windows: readonly LossWindow[]): string {
  const lines = windows.map((w) => `  ${showLossWindow(w)}\n`);
  return `\nLoss windows\n${lines.join('')}  What waited for the MoR then was looked up there; refunds made in its portal, disputes and alerts cannot be: compare them by hand.\n`;
}

function resumedText({ resumedFrom, beganAt }: VerifyReport): string {
  const began = `${beganAt.toISOString().slice(0, 19)}Z`;
  return `It resumed run ${resumedFrom ?? ''}: part of this was compared from ${began} on, and what differed then was compared again.\n`;
}

/** What is counted and not named. */
function moreText(more: More): string {
  const parts = Object.entries(more).map(([kind, n]) => `${n} ${kind}`);
  return parts.length === 0 ? '' : `And more, which are only counted: ${parts.join(', ')}.\n`;
}

function reportText(report: VerifyReport): string {
  const untold = report.differences.filter(isUntold);
  const acknowledged = acknowledgedOf(report);
  const explained = report.differences.filter((d) => d.reviewId !== null);
  const out = [`Compared ${showCounts(report.compared)}.\n`];
  if (report.resumedFrom !== null) out.push(resumedText(report));
  if (report.lossWindows.length > 0) out.push(lossText(report.lossWindows));
  if (untold.length > 0) {
    out.push(
      '\nDifferences\n',
      table(
        ['id', 'kind', 'about', 'what', 'fixed by'],
        untold.map((d) => [differenceId(d), d.kind, about(d), d.detail, DOES[d.repair]]),
      ),
      'If a difference is as it should be: `crossbill verify --acknowledge <id> --note <why>`.\n',
    );
    if (untold.some(isRepairable)) out.push('`crossbill verify --repair` fixes what needs no person.\n');
  }
  out.push(moreText(report.more));
  if (explained.length > 0) {
    out.push(
      '\nExplained by open review items\n',
      table(
        ['kind', 'about', 'what', 'item'],
        explained.map((d) => [d.kind, about(d), d.detail, d.reviewId ?? '']),
      ),
    );
  }
  if (acknowledged.length > 0) {
    out.push(
      `\n${acknowledged.length} acknowledged\n`,
      table(
        ['id', 'kind', 'about', 'what', 'by', 'note'],
        acknowledged.map((d) => [
          differenceId(d),
          d.kind,
          about(d),
          d.detail,
          d.acknowledged?.by ?? '',
          d.acknowledged?.note ?? '',
        ]),
      ),
    );
  }
  if (report.problem !== null)
    out.push(`\nNot everything could be compared: ${report.problem}. \`crossbill verify --resume\` goes on.\n`);
  else if (report.outcome === 'clean') out.push(`\n${cleanText(report)}\n`);
  return out.join('');
}

/** What a run without differences may say: no more than what was looked at. */
function cleanText(report: VerifyReport): string {
  const { marksLeft } = report;
  const n = acknowledgedOf(report).length;
  const but = n === 0 ? '' : `, but for ${n} acknowledged`;
  if (marksLeft === 0) return `Clean: ledger, Stripe and the MoR agree${but}.`;
  const mor =
    marksLeft === null
      ? 'Marks were not looked up at the MoR (SIGNUP_CHARGE_CHECK=off).'
      : `The MoR knows the marks that were looked up there; ${showMarksLeft(marksLeft)} are still to be, by this and the next runs.`;
  return `Clean: ledger and Stripe agree${but}. ${mor}`;
}
