// Verify compares the ledger with Stripe, and with the MoR as far as the MoR answers look-ups. Verify lists each
// difference and can repair some, through the usual services.
import { EnrolmentPort } from '../../shared/domain/ports/enrolment.js';
import { Inject, Injectable, Optional } from '@nestjs/common';
import { BillingPlatform } from '../../shared/domain/ports/billing-platform.js';
import { type BillingEventFacts, BillingReader } from '../../shared/domain/ports/billing-reader.js';
import { codesOf } from '../../shared/domain/ports/call.js';
import { Ids } from '../../shared/domain/ports/clock.js';
import { Inbox } from '../../shared/domain/ports/inbox.js';
import { LaneRepository } from '../../engine/lane.repository.js';
import { PaymentGateway } from '../../shared/domain/ports/payment-gateway.js';
import { openOf, type VerifyRun } from './rules/run.js';
import { VerifyRepository } from './verify.repository.js';
import { type Difference, type DifferenceKind, isRepairable } from '../../shared/domain/difference.js';
import { pictureDiffers } from './rules/compare.js';
import { begun, type VerifyProgress } from './rules/progress.js';
import { DecisionContext } from '../../engine/decision-context.js';
import { type LossReport, LossWindowService } from './loss-window.service.js';
import { VerifyComparison } from './verify-comparison.js';
import { VerifyFindings } from './verify-findings.js';
import { CouldNotCompare, VERIFY_PAGE, type VerifyParts, VerifySession } from './verify-session.js';
import { type Repaired, VerifyRepair } from './verify-repair.js';
import { LaneSignal } from '../../engine/lane-signal.js';
import { VERIFY_AGAIN_MOST, VERIFY_SAVE_WITHIN_MS, VERIFY_RECHECK_MS } from './rules/limits.js';

export type VerifyOptions = {
  /** Verify compares Stripe's invoices and events and our refunds since this time, and open work of any age. */
  readonly since: Date;
  /** True: resumes the newest interrupted run, if it began within a day and also covers the time from `since`. */
  readonly resume?: boolean;
  /** True, for a person: compares very young objects a second time. Absent: the next run compares them. */
  readonly recent?: boolean;
  /** Receives the counts so far. */
  readonly onProgress?: (compared: Readonly<Record<string, number>>) => void;
  /** Runs after each save of the progress. */
  readonly onSaved?: () => Promise<void>;
  /** Ends the run early as `incomplete`. A later run can resume it. */
  readonly signal?: AbortSignal;
};

export type VerifyLimits = {
  /** Saves the progress after this many requests: about once a second at the usual budget. */
  readonly saveEvery: number;
  /**
   * The most stored differences of one group. All differences with a review item are one group. Each kind of difference
   * without a review item is another group. Nobody reads more, and a group takes 3 MB at most.
   */
  readonly kept: number;
  /**
   * The most bodies of missing events to keep, some 5 KB each. For an event without a kept body, a repair lists
   * Stripe's events again.
   */
  readonly bodies: number;
};

export const VERIFY_LIMITS: VerifyLimits = { saveEvery: 20, kept: 10_000, bodies: 2_000 };

export type VerifyReport = VerifyRun & {
  /** The reason for an incomplete run, such as a request without a reply. Null: the run is complete. */
  readonly problem: string | null;
  /** Stripe's events missing from the inbox, by id, up to the limit. */
  readonly missing: ReadonlyMap<string, BillingEventFacts>;
};

/** For each 50 stored differences the run waits one more request before a save, because a save writes them all. */
const DIFFERENCES_A_QUESTION = 50;

@Injectable()
export class VerifyService {
  private readonly parts: VerifyParts;
  private readonly repairs: VerifyRepair;

  constructor(
    private readonly books: VerifyRepository,
    reader: BillingReader,
    platform: BillingPlatform,
    gateway: PaymentGateway,
    inbox: Inbox,
    lanes: LaneRepository,
    private readonly context: DecisionContext,
    private readonly signal: LaneSignal,
    private readonly ids: Ids,
    /** Finds loss windows. Null: there is no log of the endpoints' open times. */
    @Inject(LossWindowService) private readonly loss: LossWindowService | null = null,
    @Optional() private readonly limits = VERIFY_LIMITS,
    @Optional() @Inject(EnrolmentPort) enrolment: EnrolmentPort | null = null,
  ) {
    this.parts = { books, reader, platform, gateway, context, enrolment };
    this.repairs = new VerifyRepair(this.parts, inbox, lanes);
  }

  /** Runs the comparison. If Stripe or the MoR does not reply, the run ends as `incomplete`, with its findings. */
  async run(options: VerifyOptions): Promise<VerifyReport> {
    const { run: begins, progress: from } = await this.begin(options);
    const resumed = begins.resumedFrom === null ? null : begins.beganAt;
    // A resumed run takes over only differences to Stripe or the MoR. It compares our own records and the loss windows
    // from the start.
    const again = new Set(from.again);
    const isCarried = (difference: Difference): boolean =>
      difference.invoiceId === null || difference.eventId !== null || again.has(difference.invoiceId);
    const carried = begins.differences.filter(isCarried);
    const findings = new VerifyFindings(this.limits, carried, from.more, from.again);
    const compared: Record<string, number> = { ...begins.compared };
    const { since } = begins;
    const { signal } = options;
    let steps = 0;
    let savedAt = this.context.clock.now().getTime();
    const step = async (what: string, count: number): Promise<void> => {
      compared[what] = (compared[what] ?? 0) + count;
      options.onProgress?.(compared);
      if (signal?.aborted === true) throw new CouldNotCompare('the run was interrupted');
      const now = this.context.clock.now();
      const due = ++steps >= this.limits.saveEvery + Math.floor(findings.size / DIFFERENCES_A_QUESTION);
      if (!due && now.getTime() - savedAt < VERIFY_SAVE_WITHIN_MS) return;
      const so: VerifyRun = { ...begins, compared, differences: findings.all, more: findings.more };
      if (!(await this.books.save(so, comparison.progress))) throw new CouldNotCompare(TAKEN_UP);
      [steps, savedAt] = [0, now.getTime()];
      await options.onSaved?.();
    };
    const session = { since, from, resumed, signal, recent: options.recent === true, step };
    const comparison = new VerifyComparison(new VerifySession(this.parts, session, findings));
    let problem: string | null = null;
    let lost: LossReport | null = null;
    try {
      await comparison.all();
      lost = await this.givenUp(since, step);
    } catch (e) {
      if (!(e instanceof CouldNotCompare)) throw e;
      problem = e.message;
    }
    if (lost?.failure) problem = `possibly lost events could not be looked up at the MoR: ${codesOf(lost.failure)}`;
    const found = joined(await this.recheck(findings, signal), lost?.differences ?? []);
    const differences = await this.books.withAcknowledgements(found);
    const { more } = findings;
    const isClean = openOf({ differences, more }) === 0;
    const outcome = problem !== null ? 'incomplete' : isClean ? 'clean' : 'differences';
    const finishedAt = await this.books.time();
    const lossWindows = lost?.windows ?? [];
    const { marksLeft } = comparison;
    const finished: VerifyRun = { ...begins, compared, differences, more, marksLeft, lossWindows, finishedAt, outcome };
    const left = outcome === 'incomplete' ? comparison.progress : null;
    const report = { ...finished, problem, missing: findings.missing };
    if (await this.books.save(finished, left)) return report;
    return { ...report, outcome: 'incomplete', problem: TAKEN_UP };
  }

  /**
   * Begins repairs: puts missing events into the inbox, even events the report only counts. Reads invoices again and
   * decides on their lanes. The lane workers then decide the events and send the calls. Without `wanted` it repairs
   * every difference without work for a person.
   */
  async repair(report: VerifyReport, wanted = report.differences.filter(isRepairable)): Promise<Repaired> {
    const others = wanted.some((d) => d.repair === 'take-in-event') && (report.more.event_never_delivered ?? 0) > 0;
    const repaired = await this.repairs.repair(wanted, report.missing, { since: report.since, others });
    this.signal.lanes();
    return repaired;
  }

  private async begin({ since, resume }: VerifyOptions): Promise<{ run: VerifyRun; progress: VerifyProgress }> {
    const id = this.ids.next('ver');
    const { settings } = this.context;
    const now = await this.books.time();
    const cut = resume === true ? await this.books.takeUp({ id, now, since, settings }) : null;
    if (cut !== null) return cut;
    const run: VerifyRun = {
      id,
      since,
      startedAt: now,
      beganAt: now,
      resumedFrom: null,
      finishedAt: null,
      outcome: 'running',
      compared: { invoices: 0, events: 0, payment_records: 0, credit_notes: 0, marks: 0 },
      differences: [],
      more: {},
      marksLeft: null,
      lossWindows: [],
    };
    // Compare again the invoices with a difference in the last run: some are too old for Stripe's lists.
    const last = (await this.books.last())?.differences ?? [];
    const again = last.flatMap((d) => (d.invoiceId !== null && OF_STRIPE.has(d.kind) ? d.invoiceId : []));
    const progress = begun(since, settings, [...new Set(again)].slice(0, VERIFY_AGAIN_MOST));
    await this.books.begin(run, progress);
    return { run, progress };
  }

  /** Asks the MoR about events lost in an outage. */
  private async givenUp(since: Date, step: (what: string, count: number) => Promise<void>): Promise<LossReport | null> {
    if (this.loss === null) return null;
    const report = await this.loss.check(since, () => step('events', 0));
    for (const [what, n] of Object.entries(report.compared)) await step(what, n);
    return report;
  }

  /**
   * Looks again for missing events after a pause. Drops a difference about an event if the event has arrived. Drops a
   * difference about an invoice's status if our status now equals Stripe's, or if a missing event explains the status.
   */
  private async recheck(findings: VerifyFindings, signal: AbortSignal | undefined): Promise<readonly Difference[]> {
    const found = findings.all;
    const lost = found.filter((d) => d.kind === 'event_never_delivered');
    if (lost.length === 0) return found;
    await this.context.clock.sleep(VERIFY_RECHECK_MS, signal);
    const stillLost = new Set<Difference>();
    for (let at = 0; at < lost.length; at += VERIFY_PAGE) {
      const some = lost.slice(at, at + VERIFY_PAGE);
      const unknown = await this.books.records.unknownEvents(some.flatMap((d) => d.eventId ?? []));
      const invoiceIds = some.flatMap((d) => (d.eventId === null ? (d.invoiceId ?? []) : []));
      const ours = await this.books.records.invoices(invoiceIds);
      for (const d of some) {
        const facts = findings.shown.get(d.invoiceId ?? '');
        const own = ours.get(d.invoiceId ?? '');
        const upToDate = own !== undefined && facts !== undefined && pictureDiffers(facts, own).length === 0;
        if (d.eventId !== null ? unknown.has(d.eventId) : !upToDate) stillLost.add(d);
      }
    }
    const byEvent = new Set([...stillLost].flatMap((d) => (d.eventId === null ? [] : [d.invoiceId])));
    const isExplained = (difference: Difference): boolean =>
      difference.eventId === null && byEvent.has(difference.invoiceId);
    return found.filter((d) => d.kind !== 'event_never_delivered' || (stillLost.has(d) && !isExplained(d)));
  }
}

const OF_STRIPE: ReadonlySet<DifferenceKind> = new Set<DifferenceKind>([
  'charged_not_marked',
  'marked_not_charged',
  'amount_differs',
  'refund_not_mirrored',
  'refunded_by_hand',
  'credited_by_hand',
  'overpaid',
]);

const TAKEN_UP = 'another process resumed this run';

/** Joins both lists. If an invoice has `no_verdict` in both, only the difference of the loss window (`lost`) stays. */
function joined(found: readonly Difference[], lost: readonly Difference[]): readonly Difference[] {
  const named = new Set(lost.flatMap((d) => (d.kind === 'no_verdict' ? [d.invoiceId] : [])));
  return [...found.filter((d) => d.kind !== 'no_verdict' || !named.has(d.invoiceId)), ...lost];
}
