// Verify: ledger against Stripe against what the MoR lets one read. Lists every difference; repairs through the same flows.
import { Inject, Injectable, Optional } from '@nestjs/common';
import { BillingPlatform } from '../domain/ports/billing-platform.js';
import { type BillingEventFacts, BillingReader } from '../domain/ports/billing-reader.js';
import { Ids } from '../domain/ports/clock.js';
import { Inbox } from '../domain/ports/inbox.js';
import { LaneStore } from '../engine/lane-store.js';
import { PaymentGateway } from '../domain/ports/payment-gateway.js';
import { untoldOf, type VerifyRun } from './rules/run.js';
import { VerifyStore } from './verify.store.js';
import { type Difference, type DifferenceKind, isRepairable, type VerifyProgress } from '../domain/difference.js';
import { pictureDiffers } from './rules/compare.js';
import { begun } from './rules/progress.js';
import { EnrolmentFlow } from '../enrolment/enrolment.flow.js';
import { FlowContext } from '../engine/flow-context.js';
import { type LossReport, LossWindowFlow } from './loss-window.flow.js';
import { VerifyComparison } from './verify-comparison.js';
import { VerifyFindings } from './verify-findings.js';
import { byInvoice, VERIFY_PAGE, type VerifyParts } from './verify-parts.js';
import { CouldNotCompare } from './verify-questions.js';
import { type Repaired, VerifyRepair } from './verify-repair.js';
import { Wake } from '../engine/wake.js';
import { VERIFY_AGAIN_MOST, VERIFY_SAVE_WITHIN_MS, VERIFY_SECOND_LOOK_MS } from '../policy.js';

export type VerifyOptions = {
  /** Invoices and events that Stripe made since then are compared, and refunds made since; what is not at rest is, however old. */
  readonly since: Date;
  /** True: goes on with the newest run that was cut off and reaches as far back, if there is one that is young enough. */
  readonly resume?: boolean;
  /**
   * True: what is so young that it may be under way is looked at twice, for a person who asks now. Left out, it is left to the next
   * run.
   */
  readonly young?: boolean;
  /** Called now and then with what was looked at so far. */
  readonly onProgress?: (compared: Readonly<Record<string, number>>) => void;
  /** Called each time when it was written down how far the run is. */
  readonly onSaved?: () => Promise<void>;
  /** Ends the run early: it is `incomplete` then, and can be resumed. */
  readonly signal?: AbortSignal;
};

export type VerifyLimits = {
  /** After how many questions it is written down how far a run is: about once a second at the usual budget. */
  readonly saveEvery: number;
  /** Differences that are kept of a kind, and of all that review items explain: more than a person reads, 3 MB a kind. */
  readonly kept: number;
  /** Bodies of events that never came, some 5 KB each; those beyond are listed again when they are taken in. */
  readonly bodies: number;
};

export const VERIFY_LIMITS: VerifyLimits = { saveEvery: 20, kept: 10_000, bodies: 2_000 };

export type VerifyReport = VerifyRun & {
  /** Who could not be asked what; null: everything was compared. */
  readonly problem: string | null;
  /** Events that Stripe has and the inbox has not, by id, as many as are kept. */
  readonly missing: ReadonlyMap<string, BillingEventFacts>;
};

/** One question more for each 50 differences: they are what costs most to write down. */
const DIFFERENCES_A_QUESTION = 50;

@Injectable()
export class VerifyFlow {
  private readonly parts: VerifyParts;
  private readonly repairs: VerifyRepair;

  constructor(
    private readonly books: VerifyStore,
    reader: BillingReader,
    platform: BillingPlatform,
    gateway: PaymentGateway,
    inbox: Inbox,
    lanes: LaneStore,
    private readonly context: FlowContext,
    private readonly wake: Wake,
    private readonly ids: Ids,
    /** Null: nobody knows when the doors were open. */
    @Inject(LossWindowFlow) private readonly loss: LossWindowFlow | null = null,
    @Optional() private readonly limits = VERIFY_LIMITS,
    @Optional() @Inject(EnrolmentFlow) enrolment: EnrolmentFlow | null = null,
  ) {
    this.parts = { books, reader, platform, gateway, context, enrolment };
    this.repairs = new VerifyRepair(this.parts, inbox, lanes);
  }

  /** Never throws for a peer that does not answer: the run is `incomplete` then, with what was found so far. */
  async run(options: VerifyOptions): Promise<VerifyReport> {
    const { run: begins, progress: from } = await this.begin(options);
    const resumed = begins.resumedFrom === null ? null : begins.beganAt;
    // What our own books said is compared whole again, and so is what the MoR may have given up.
    const again = new Set(from.again);
    const carried = begins.differences.filter(
      (d) => d.invoiceId === null || d.eventId !== null || again.has(d.invoiceId),
    );
    const findings = new VerifyFindings(this.limits, carried, from.more, from.again);
    const compared: Record<string, number> = { ...begins.compared };
    const { since } = begins;
    const { signal } = options;
    let steps = 0;
    let savedAt = this.context.clock.now().getTime();
    const step = async (what: string, n: number): Promise<void> => {
      compared[what] = (compared[what] ?? 0) + n;
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
    const comparison = new VerifyComparison(
      this.parts,
      { since, from, resumed, signal, young: options.young === true, step },
      findings,
    );
    let problem: string | null = null;
    let lost: LossReport | null = null;
    try {
      await comparison.all();
      lost = await this.givenUp(since, step);
    } catch (e) {
      if (!(e instanceof CouldNotCompare)) throw e;
      problem = e.message;
    }
    if (lost?.failure)
      problem = `the MoR could not be asked for events it may have given up on: ${lost.failure.message}`;
    const found = joined(await this.secondLook(findings, signal), lost?.differences ?? []);
    const differences = await this.books.withAcknowledgements(found);
    const { more } = findings;
    const isUntold = untoldOf({ differences, more }) > 0;
    const outcome = problem !== null ? 'incomplete' : isUntold ? 'differences' : 'clean';
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
   * Begins what can be mended without a person: events are taken into the inbox, invoices are read afresh and their lanes settled.
   * The workers carry out what follows. `wanted`: all that are repairable when left out. Of events that never came also those that
   * the report only counts are taken in.
   */
  async repair(report: VerifyReport, wanted = report.differences.filter(isRepairable)): Promise<Repaired> {
    const others = wanted.some((d) => d.repair === 'take-in-event') && (report.more.event_never_delivered ?? 0) > 0;
    const repaired = await this.repairs.repair(wanted, report.missing, { since: report.since, others });
    this.wake.lanes();
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
    // What Stripe showed otherwise last time is looked at again, also when it has grown older than what is listed.
    const last = (await this.books.last())?.differences ?? [];
    const again = last.flatMap((d) => (d.invoiceId !== null && OF_STRIPE.has(d.kind) ? d.invoiceId : []));
    const progress = begun(since, settings, [...new Set(again)].slice(0, VERIFY_AGAIN_MOST));
    await this.books.begin(run, progress);
    return { run, progress };
  }

  /** What the MoR may have given up while the doors were closed, looked up there. */
  private async givenUp(since: Date, step: (what: string, n: number) => Promise<void>): Promise<LossReport | null> {
    if (this.loss === null) return null;
    const report = await this.loss.check(since, () => step('events', 0));
    for (const [what, n] of Object.entries(report.compared)) await step(what, n);
    return report;
  }

  /** Drops what came in the meantime, and what an event that is missing explains already. */
  private async secondLook(findings: VerifyFindings, signal: AbortSignal | undefined): Promise<readonly Difference[]> {
    const found = findings.all;
    const lost = found.filter((d) => d.kind === 'event_never_delivered');
    if (lost.length === 0) return found;
    await this.context.clock.sleep(VERIFY_SECOND_LOOK_MS, signal);
    const stillLost = new Set<Difference>();
    for (let at = 0; at < lost.length; at += VERIFY_PAGE) {
      const some = lost.slice(at, at + VERIFY_PAGE);
      const unknown = await this.books.unknownEvents(some.flatMap((d) => d.eventId ?? []));
      const invoiceIds = some.flatMap((d) => (d.eventId === null ? (d.invoiceId ?? []) : []));
      const ours = byInvoice(await this.books.invoices(invoiceIds));
      for (const d of some) {
        const facts = findings.shown.get(d.invoiceId ?? '');
        const own = ours.get(d.invoiceId ?? '');
        const upToDate = own !== undefined && facts !== undefined && pictureDiffers(facts, own).length === 0;
        if (d.eventId !== null ? unknown.has(d.eventId) : !upToDate) stillLost.add(d);
      }
    }
    const byEvent = new Set([...stillLost].flatMap((d) => (d.eventId === null ? [] : [d.invoiceId])));
    return found.filter(
      (d) =>
        d.kind !== 'event_never_delivered' || (stillLost.has(d) && (d.eventId !== null || !byEvent.has(d.invoiceId))),
    );
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

/** Beside what the doors' closed times explain, an invoice without a verdict need not be named twice. */
function joined(found: readonly Difference[], lost: readonly Difference[]): readonly Difference[] {
  const named = new Set(lost.map((d) => `${d.kind} ${d.invoiceId ?? ''}`));
  return [...found.filter((d) => d.kind !== 'no_verdict' || !named.has(`${d.kind} ${d.invoiceId ?? ''}`)), ...lost];
}
