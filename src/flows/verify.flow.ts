// Verify: ledger against Stripe against what the MoR lets one read. Lists every difference; repairs through the same flows.
import { parseStripeEvent, stripeInvoiceTypes } from '../domain/events/stripe-event.js';
import { applyRead } from '../domain/lane/apply-answer.js';
import { note, putMessage, putObject } from '../domain/lane/change.js';
import { plan } from '../domain/lane/plan.js';
import { settle } from '../domain/lane/settle.js';
import { type MorObjectRow } from '../domain/mor-object.js';
import { decideShadowedAnew } from '../domain/lane/shadow.js';
import { type InvoiceFacts, type BillingPlatform } from '../domain/ports/billing-platform.js';
import { type BillingEventFacts, type BillingReader } from '../domain/ports/billing-reader.js';
import { type CallOutcome } from '../domain/ports/call.js';
import { type Ids } from '../domain/ports/clock.js';
import { type Inbox } from '../domain/ports/inbox.js';
import { type LaneStore } from '../domain/ports/lane-store.js';
import { type PaymentGateway } from '../domain/ports/payment-gateway.js';
import { type VerifyBooks, type VerifyRun } from '../domain/ports/verify-books.js';
import {
  compareAttached,
  compareCreditNotes,
  compareInvoice,
  compareRecord,
  compareWithin,
  type Difference,
  difference,
  GRACE_MS,
  isRepairable,
  type OurInvoice,
  paidBeyondLedger,
  pictureDiffers,
} from '../domain/verify/compare.js';
import { type FlowContext } from './flow-context.js';
import { type LossReport, type LossWindowFlow } from './loss-window.flow.js';
import { type Wake } from './wake.js';

export type VerifyOptions = {
  /** Invoices and events that Stripe made since then are compared, and refunds made since; what is not at rest is, however old. */
  readonly since: Date;
  /** Called now and then with what was looked at so far. */
  readonly onProgress?: (compared: Readonly<Record<string, number>>) => void;
  /** Ends the run early: it is `incomplete` then. */
  readonly signal?: AbortSignal;
};

export type VerifyReport = VerifyRun & {
  /** Who could not be asked what; null: everything was compared. */
  readonly problem: string | null;
  /** Events that Stripe has and the inbox has not, by id: what a repair takes in. */
  readonly missing: ReadonlyMap<string, BillingEventFacts>;
};

/** What a repair began, and what it could not begin, with the reason. */
export type Repaired = {
  readonly started: readonly Difference[];
  readonly failed: readonly { readonly difference: Difference; readonly why: string }[];
  /** The lanes that now have work. */
  readonly lanes: readonly string[];
};

/** Stripe lists events for 30 days (Stripe docs, "Events"); an hour less, so that none runs out between two pages. */
export const EVENTS_KEPT_MS = 30 * 86_400_000 - 3_600_000;
/** What seems lost is looked at once more after this pause: it may just have been on its way. */
const SECOND_LOOK_MS = 2_000;
const PAGE = 200;

/** A peer could not be asked, so not everything was compared. */
class CouldNotCompare extends Error {
  readonly code = 'verify.incomplete';
}

function answered<T>(outcome: CallOutcome<T>, what: string): T {
  if (outcome.ok) return outcome.value;
  throw new CouldNotCompare(`${what}: ${outcome.message}`);
}

/** What one run has found so far. */
type Run = VerifyOptions & {
  readonly compared: Record<string, number>;
  readonly found: Difference[];
  readonly missing: Map<string, BillingEventFacts>;
  /** What Stripe shows of invoices whose news may not have come. */
  readonly shown: Map<string, InvoiceFacts>;
};

export class VerifyFlow {
  constructor(
    private readonly books: VerifyBooks,
    private readonly reader: BillingReader,
    private readonly platform: BillingPlatform,
    private readonly gateway: PaymentGateway,
    private readonly inbox: Inbox,
    private readonly lanes: LaneStore,
    private readonly context: FlowContext,
    private readonly wake: Wake,
    private readonly ids: Ids,
    /** Null: nobody knows when the doors were open. */
    private readonly loss: LossWindowFlow | null = null,
  ) {}

  /** Never throws for a peer that does not answer: the run is `incomplete` then, with what was found so far. */
  async run(options: VerifyOptions): Promise<VerifyReport> {
    const compared: Record<string, number> = { invoices: 0, events: 0, payments: 0, credit_notes: 0 };
    const run: Run = { ...options, compared, found: [], missing: new Map(), shown: new Map() };
    const startedAt = this.context.clock.now();
    const id = this.ids.next('ver');
    await this.books.save({
      id,
      startedAt,
      finishedAt: null,
      outcome: 'running',
      compared,
      differences: [],
      lossWindows: [],
    });
    let problem: string | null = null;
    let lost: LossReport | null = null;
    try {
      await this.withinBooks(run);
      await this.stripeInvoices(run);
      await this.stripeEvents(run);
      await this.signupCharges(run);
      lost = await this.givenUp(run);
    } catch (e) {
      if (!(e instanceof CouldNotCompare)) throw e;
      problem = e.message;
    }
    if (lost?.failure) problem = `the MoR could not be asked for what it may have given up: ${lost.failure.message}`;
    const differences = joined(await this.secondLook(run), lost?.differences ?? []);
    const untold = differences.some((d) => d.reviewId === null);
    const outcome = problem !== null ? 'incomplete' : untold ? 'differences' : 'clean';
    const finishedAt = this.context.clock.now();
    const lossWindows = lost?.windows ?? [];
    const finished: VerifyRun = { id, startedAt, compared, differences, lossWindows, finishedAt, outcome };
    await this.books.save(finished);
    return { ...finished, problem, missing: run.missing };
  }

  /**
   * Begins what can be mended without a person: events are taken into the inbox, invoices are read afresh and their lanes settled.
   * The workers carry out what follows. `wanted`: all that are repairable when left out.
   */
  async repair(report: VerifyReport, wanted = report.differences.filter(isRepairable)): Promise<Repaired> {
    const started: Difference[] = [];
    const failed: { difference: Difference; why: string }[] = [];
    const lanes = new Set<string>();
    for (const d of wanted) {
      const event = d.eventId === null ? undefined : report.missing.get(d.eventId);
      let why: string | null = 'nothing is known of it that could be repaired';
      if (d.repair === 'take-in-event' && event !== undefined) {
        lanes.add(await this.takeIn(event));
        why = null;
      } else if (d.repair === 'look-again' && d.invoiceId !== null) {
        why = await this.lookAgain(d.invoiceId);
        lanes.add(d.invoiceId);
      }
      if (why === null) started.push(d);
      else failed.push({ difference: d, why });
    }
    this.wake.lanes();
    return { started, failed, lanes: [...lanes] };
  }

  /** As if it had been delivered now. Gives its lane. */
  private async takeIn({ eventId, body }: BillingEventFacts): Promise<string> {
    const parsed = parseStripeEvent(body);
    const { type, lane } = parsed;
    const known = { source: 'stripe', eventId, type, lane, body, receivedAt: this.context.clock.now() } as const;
    const unusable = parsed.verdict === 'unusable' ? 'parked' : 'ignored';
    if (parsed.verdict === 'usable') await this.inbox.store([{ ...known, status: 'received', reason: null }]);
    else await this.inbox.store([{ ...known, status: unusable, reason: parsed.reason }]);
    return lane;
  }

  /** Reads the invoice, settles its lane, and makes the calls that wait there due. Null: done; else why not. */
  private async lookAgain(invoiceId: string): Promise<string | null> {
    const outcome = await this.platform.readInvoice(invoiceId);
    if (!outcome.ok) return `the invoice could not be read: ${outcome.message}`;
    await this.lanes.transact({
      lane: invoiceId,
      fence: null,
      decide: ({ state }) => {
        const ctx = this.context.now();
        let s = note(applyRead(state, outcome, ctx), ctx, 'decision', 'verify found a difference: looked at again');
        s = settle(decideShadowedAnew(s, ctx), ctx); // what must not be sent any more is taken back before the rest is hurried
        for (const m of s.messages) if (m.status === 'pending') s = putMessage(s, { ...m, nextTryAt: ctx.now });
        for (const o of s.objects) if (isReadable(o)) s = putObject(s, { ...o, readDueAt: ctx.now, readAttempts: 0 });
        s = settle(s, ctx);
        return { state: s, verdicts: [], dueAt: plan(s, ctx).dueAt, value: null };
      },
    });
    return null;
  }

  private count(run: Run, what: string, n: number): void {
    run.compared[what] = (run.compared[what] ?? 0) + n;
    run.onProgress?.(run.compared);
    if (run.signal?.aborted === true) throw new CouldNotCompare('the run was ended before it was through');
  }

  private async withinBooks(run: Run): Promise<void> {
    const now = this.context.clock.now();
    for (let after = 0n; ;) {
      const page = await this.books.openEnds(run.since, after, PAGE);
      for (const ours of page) {
        run.found.push(...compareWithin(ours, now));
        await this.refundsOf(ours, run);
      }
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) return;
      after = last.seq;
    }
  }

  private async refundsOf(ours: OurInvoice, run: Run): Promise<void> {
    if (!ours.refunds.some((r) => r.mirror === 'done')) return;
    const listed = await this.reader.listCreditNotes(ours.invoice.invoiceId);
    const notes = answered(listed, 'credit notes could not be listed');
    run.found.push(...compareCreditNotes(ours, notes));
    this.count(run, 'credit_notes', notes.length);
    for (const p of ours.payments) {
      if (p.paymentRecordId === null || p.mark !== 'confirmed') continue;
      if (!ours.refunds.some((r) => r.paymentRowId === p.id && r.mirror === 'done')) continue;
      const read = await this.reader.readPaymentRecord(p.paymentRecordId);
      run.found.push(...compareRecord(ours, p, answered(read, 'a payment record could not be read')));
    }
  }

  private async stripeInvoices(run: Run): Promise<void> {
    const now = this.context.clock.now();
    for (let startingAfter: string | undefined; ;) {
      const query = { createdAfter: run.since, ...(startingAfter === undefined ? {} : { startingAfter }) };
      const page = answered(await this.reader.listInvoices(query), 'invoices could not be listed');
      const known = await this.books.invoices(page.items.map((i) => i.invoiceId));
      const ours = new Map(known.map((o) => [o.invoice.invoiceId, o]));
      for (const facts of page.items) {
        const own = ours.get(facts.invoiceId) ?? null;
        const found = compareInvoice(facts, own, now);
        if (found.some((d) => d.kind === 'event_never_delivered')) run.shown.set(facts.invoiceId, facts);
        run.found.push(...found);
        if (!paidBeyondLedger(facts, own)) continue;
        const attached = await this.platform.listInvoicePayments(facts.invoiceId);
        const payments = answered(attached, 'payments of an invoice could not be listed');
        run.found.push(...compareAttached(facts, own, payments));
      }
      run.found.push(...page.unreadable.map(unreadable));
      this.count(run, 'invoices', page.items.length);
      if (page.next === null) return;
      startingAfter = page.next;
    }
  }

  private async stripeEvents(run: Run): Promise<void> {
    const now = this.context.clock.now().getTime();
    const createdAfter = new Date(Math.max(now - EVENTS_KEPT_MS, run.since.getTime()));
    for (let startingAfter: string | undefined; ;) {
      const more = startingAfter === undefined ? {} : { startingAfter };
      const listed = await this.reader.listEvents({ types: stripeInvoiceTypes, createdAfter, ...more });
      const page = answered(listed, 'events could not be listed');
      const unknown = await this.books.unknownEvents(page.items.map((e) => e.eventId));
      for (const e of page.items) {
        if (!unknown.has(e.eventId) || Math.abs(now - e.createdAt.getTime()) < GRACE_MS) continue;
        run.missing.set(e.eventId, e);
        const parsed = parseStripeEvent(e.body);
        const invoiceId = parsed.verdict === 'usable' ? parsed.lane : null;
        const detail = `${e.type} of ${e.createdAt.toISOString()} never came`;
        run.found.push(difference('event_never_delivered', 'take-in-event', detail, { invoiceId, eventId: e.eventId }));
      }
      run.found.push(...page.unreadable.map(unreadable));
      this.count(run, 'events', page.items.length);
      if (page.next === null) return;
      startingAfter = page.next;
    }
  }

  /** Where no signed event vouches for a signup's payment, the MoR's invoice look-up must, unless that check is off. */
  private async signupCharges(run: Run): Promise<void> {
    if (this.context.settings.signupChargeCheck === 'off') return;
    for (let after = 0n; ;) {
      const page = await this.books.unconfirmedSignups(run.since, after, PAGE);
      for (const s of page) {
        const known = answered(
          await this.gateway.knowsCharge(s.chargeId),
          'a charge could not be looked up at the MoR',
        );
        this.count(run, 'payments', 1);
        if (known) continue;
        const detail = `the MoR does not know charge ${s.chargeId}, which paid this signup's invoice`;
        const about = { invoiceId: s.invoiceId, paymentId: s.paymentRowId };
        run.found.push(difference('marked_not_charged', 'person', detail, about));
      }
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) return;
      after = last.seq;
    }
  }

  /** What the MoR may have given up while the doors were closed, looked up there. */
  private async givenUp(run: Run): Promise<LossReport | null> {
    if (this.loss === null) return null;
    const report = await this.loss.check(run.since);
    for (const [what, n] of Object.entries(report.compared)) this.count(run, what, n);
    return report;
  }

  /** Drops what came in the meantime, and what an event that is missing explains already. */
  private async secondLook(run: Run): Promise<readonly Difference[]> {
    const lost = run.found.filter((d) => d.kind === 'event_never_delivered');
    if (lost.length === 0) return run.found;
    await this.context.clock.sleep(SECOND_LOOK_MS, run.signal);
    const stillLost = new Set<Difference>();
    for (let at = 0; at < lost.length; at += PAGE) {
      const some = lost.slice(at, at + PAGE);
      const unknown = await this.books.unknownEvents(some.flatMap((d) => d.eventId ?? []));
      const known = await this.books.invoices(some.flatMap((d) => (d.eventId === null ? (d.invoiceId ?? []) : [])));
      const ours = new Map(known.map((o) => [o.invoice.invoiceId, o]));
      for (const d of some) {
        const facts = run.shown.get(d.invoiceId ?? '');
        const own = ours.get(d.invoiceId ?? '');
        const upToDate = own !== undefined && facts !== undefined && pictureDiffers(facts, own).length === 0;
        if (d.eventId !== null ? unknown.has(d.eventId) : !upToDate) stillLost.add(d);
      }
    }
    const byEvent = new Set([...stillLost].flatMap((d) => (d.eventId === null ? [] : [d.invoiceId])));
    return run.found.filter(
      (d) =>
        d.kind !== 'event_never_delivered' || (stillLost.has(d) && (d.eventId !== null || !byEvent.has(d.invoiceId))),
    );
  }
}

/** Beside what the doors' closed times explain, an invoice without a verdict need not be named twice. */
function joined(found: readonly Difference[], lost: readonly Difference[]): readonly Difference[] {
  const named = new Set(lost.map((d) => `${d.kind} ${d.invoiceId ?? ''}`));
  return [...found.filter((d) => d.kind !== 'no_verdict' || !named.has(`${d.kind} ${d.invoiceId ?? ''}`)), ...lost];
}

/** The MoR can be asked what has become of it, and it may have become something else. */
function isReadable(o: MorObjectRow): boolean {
  if (o.morId === null) return false;
  if (o.kind === 'payment_link') return o.status === 'PAYABLE' || o.status === 'EXPIRED';
  return o.kind === 'proforma' && (o.status === 'PENDING_TAX_TRANSACTION' || o.status === 'ISSUED');
}

function unreadable(id: string): Difference {
  return difference('unreadable', 'person', `${id} could not be understood and was not compared`, { eventId: id });
}
