// The comparisons of a verify run. A resumed run continues Stripe's lists where the interrupted run ended.
import { parseStripeEvent, stripeInvoiceTypes } from '../../shared/domain/events/stripe-event.js';
import {
  type BillingEventFacts,
  type BillingPage,
  type ShownInvoice,
} from '../../shared/domain/ports/billing-reader.js';
import { type CallOutcome } from '../../shared/domain/ports/call.js';
import { compareAttached, compareCharges, compareInvoice, compareWithin, paidBeyondLedger } from './rules/compare.js';
import { STRIPE_EVENTS_KEPT_MS } from '../../shared/policy.js';
import { VERIFY_GRACE_MS, VERIFY_RECENT_PAUSE_MS } from './rules/limits.js';
import { type Difference, type OurInvoice } from '../../shared/domain/difference.js';
import { compareDetached, compareOverpaid, creditedBeyondLedger } from './rules/compare-manual.js';
import { finding } from './rules/findings.js';
import { type VerifyProgress } from './rules/progress.js';
import { VerifyManual } from './verify-manual.js';
import { VerifyMarks } from './verify-marks.js';
import { VerifyOutside } from './verify-outside.js';
import { VERIFY_PAGE, type VerifySession } from './verify-session.js';

/** Returns `from`, or the start of Stripe's event list if the list does not reach back to `from`. */
export function keptSince(from: Date, now: Date): Date {
  return new Date(Math.max(now.getTime() - STRIPE_EVENTS_KEPT_MS, from.getTime()));
}

/** True for a young event: Stripe may still be delivering it. Stripe's clock may be ahead of ours. */
export function isOnItsWay(event: BillingEventFacts, now: Date): boolean {
  return Math.abs(now.getTime() - event.createdAt.getTime()) < VERIFY_GRACE_MS;
}

/** At its end a run compares at most this many young invoices again, and looks for as many young events. */
const MOST_RECENT = 200;

export class VerifyComparison {
  private refundsAfter: number;
  private readonly manual: VerifyManual;
  private readonly marks: VerifyMarks;
  private readonly outside: VerifyOutside;
  /** The number of marks still to look up at the MoR. Null: the run did not ask the MoR. */
  marksLeft: number | null = null;
  private readonly olderSeen = new Set<string>();
  private readonly recentInvoices = new Set<string>();
  private readonly recentEvents: BillingEventFacts[] = [];

  constructor(private readonly session: VerifySession) {
    this.manual = new VerifyManual(session);
    this.marks = new VerifyMarks(session);
    this.outside = new VerifyOutside(session);
    this.refundsAfter = session.options.from.refundsAfter;
  }

  get progress(): VerifyProgress {
    const { options, lists, findings } = this.session;
    const { refundsAfter } = this;
    return { ...options.from, lists: { ...lists }, refundsAfter, again: [...findings.again], more: findings.moreShown };
  }

  /**
   * Compares everything. Throws CouldNotCompare if Stripe or the MoR does not reply, or if the run must end early.
   */
  async all(): Promise<void> {
    await this.whatDiffered();
    await this.withinBooks();
    await this.stripeInvoices();
    await this.manual.records();
    await this.manual.notes();
    await this.stripeEvents();
    this.marksLeft = await this.marks.all();
    await this.recheckRecent();
  }

  /** Compares again the invoices with a difference in the last run. Some are too old for Stripe's lists. */
  private async whatDiffered(): Promise<void> {
    const { session: verifySession } = this;
    const { findings, parts } = verifySession;
    const lost = findings.all.filter((d) => d.kind === 'event_never_delivered' && d.eventId === null);
    const unheard = new Set(lost.map((d) => d.invoiceId));
    const ids = [...findings.again];
    for (let at = 0; at < ids.length; at += VERIFY_PAGE) {
      const some = ids.slice(at, at + VERIFY_PAGE);
      const ours = await parts.books.records.invoices(some);
      for (const id of some) {
        const own = ours.get(id) ?? null;
        if (own === null && unheard.has(id)) continue; // our database still does not know the invoice
        const facts = await this.read(id);
        const found = facts === null ? [] : await this.ofInvoice(facts, own);
        if (own !== null) found.push(...(await this.manual.ofRefunds(own, true)));
        findings.forget(id);
        findings.addShown(found, facts);
        await verifySession.step('invoices', 0);
      }
    }
  }

  /** Compares our own records with each other, and our refunds with Stripe. A resumed run skips compared refunds. */
  private async withinBooks(): Promise<void> {
    const { parts, options, findings } = this.session;
    const { since, resumed } = options;
    const now = this.session.now();
    for (let after = 0; ;) {
      const page = await parts.books.records.openEnds(since, after, VERIFY_PAGE);
      for (const ours of page) {
        const settled = compareWithin(ours, now);
        findings.addOfBooks([...settled, ...compareCharges(ours)]);
        this.noteRecent(ours.invoice.invoiceId, settled, () => compareWithin(ours, now, 0));
        const isNew = ours.refunds.some((r) => resumed !== null && (r.succeededAt ?? r.createdAt) >= resumed);
        if (ours.seq > this.refundsAfter || isNew) findings.addShown(await this.manual.ofRefunds(ours));
        if (ours.seq > this.refundsAfter) this.refundsAfter = ours.seq;
      }
      const last = page.at(-1);
      if (last === undefined || page.length < VERIFY_PAGE) return;
      after = last.seq;
    }
  }

  private read(invoiceId: string): Promise<ShownInvoice | null> {
    const { reader } = this.session.parts;
    return this.session.ask(() => reader.readInvoice(invoiceId), 'an invoice could not be read');
  }

  private async stripeInvoices(): Promise<void> {
    const { parts, findings } = this.session;
    const { reader, books } = parts;
    await this.session.listed(
      'invoices',
      (query) => reader.listInvoices(query),
      async (page) => {
        const ids = page.map((i) => i.invoiceId);
        // Read the lanes under way before our records: then the records of a lane not under way are complete.
        const underWay = await books.records.underWay(ids);
        const ours = await books.records.invoices(ids);
        let left = 0;
        for (const facts of page) {
          const found = await this.ofInvoice(facts, ours.get(facts.invoiceId) ?? null);
          const settled = underWay.has(facts.invoiceId) ? found.filter(isNoNews) : found;
          if (settled.length < found.length) left++;
          findings.addShown(settled, facts);
        }
        if (left > 0) await this.session.step('under_way', left);
      },
    );
  }

  private async ofInvoice(
    facts: ShownInvoice,
    own: OurInvoice | null,
    graceMs: number = VERIFY_GRACE_MS,
  ): Promise<Difference[]> {
    if (await this.outside.has(facts, own)) return [];
    const now = this.session.now();
    const found = compareInvoice(facts, own, now, graceMs);
    this.noteRecent(facts.invoiceId, found, () => compareInvoice(facts, own, now, 0));
    const named = own?.payments.some((p) => p.paymentRecordId !== null && p.mark === 'confirmed') === true;
    const beyond = paidBeyondLedger(facts, own);
    const payments = beyond || named ? await this.paymentsOf(facts) : [];
    if (beyond) found.push(...compareAttached(facts, own, payments));
    if (own === null) return found;
    found.push(...compareCharges(own));
    const detached = compareDetached({ ...facts, payments }, own);
    if (creditedBeyondLedger(facts, own)) found.push(...(await this.manual.ofNotes(own)));
    found.push(...compareOverpaid(facts, own));
    // A detached payment makes the sums wrong too. Verify then reports the detached payment, and no difference of sums.
    return detached.length === 0 ? found : [...found.filter((d) => !SUMS.has(d.kind)), ...detached];
  }

  private async paymentsOf({ invoiceId, payments }: ShownInvoice): Promise<NonNullable<ShownInvoice['payments']>> {
    if (payments !== null) return payments;
    const listing = () => this.session.parts.platform.listInvoicePayments(invoiceId);
    const listed = await this.session.ask(listing, 'payments of an invoice could not be listed');
    await this.session.step('invoices', 0);
    return listed;
  }

  private async stripeEvents(): Promise<void> {
    const { parts, options, findings } = this.session;
    const { reader, books } = parts;
    await this.session.listed(
      'events',
      (query) => {
        const createdAfter = keptSince(query.createdAfter, this.session.now());
        const isOver = query.createdBefore !== undefined && query.createdBefore <= createdAfter;
        if (isOver) return Promise.resolve(NOTHING_LISTED);
        return reader.listEvents({ ...query, createdAfter, types: [...stripeInvoiceTypes, BALANCE_TYPE] });
      },
      async (page: readonly BillingEventFacts[]) => {
        const now = this.session.now();
        const news = page.filter((e) => e.type !== BALANCE_TYPE);
        await this.manual.balances(page);
        await this.olderInvoices(news);
        const unknown = await books.records.unknownEvents(news.map((e) => e.eventId));
        const lost = news.filter(({ eventId }) => unknown.has(eventId));
        for (const e of await this.outside.without(lost)) {
          if (!isOnItsWay(e, now)) findings.addMissing(e, missingEvent(e));
          else if (options.recent && this.recentEvents.length < MOST_RECENT) this.recentEvents.push(e);
        }
      },
    );
  }

  /**
   * Stripe's list by creation time leaves out the invoices from before the run's `since`. If the newest event of such
   * an invoice shows other money than the ledger, verify reads and compares the invoice.
   */
  private async olderInvoices(events: readonly BillingEventFacts[]): Promise<void> {
    const { parts, options, findings } = this.session;
    for (const e of events) {
      const { id, createdAt } = e.about;
      if (id === null || createdAt === null || createdAt >= options.since || this.olderSeen.has(id)) continue;
      this.olderSeen.add(id); // Stripe lists the newest event first
      const parsed = parseStripeEvent(e.body);
      const own = await parts.books.records.invoice(id);
      if (parsed.usability !== 'usable' || own === null) continue;
      if (!compareInvoice(parsed.event.invoice, own, this.session.now()).some(isOfMoney)) continue;
      const facts = await this.read(id);
      if (facts !== null) findings.addShown(await this.ofInvoice(facts, own), facts);
      await this.session.step('invoices', 0);
    }
  }

  /**
   * Notes a young invoice for a second comparison at the end of the run, if `all` (without a grace period) has more
   * differences than `settled` (with the grace period). The daily run notes no invoice: the next daily run compares it.
   */
  private noteRecent(invoiceId: string, settled: readonly Difference[], all: () => readonly Difference[]): void {
    if (!this.session.options.recent || this.recentInvoices.size >= MOST_RECENT) return;
    if (all().length > settled.length) this.recentInvoices.add(invoiceId);
  }

  /** Compares young objects again after a pause, long enough for a delivery and its decision. */
  private async recheckRecent(): Promise<void> {
    const { parts, findings } = this.session;
    const { books } = parts;
    const [ids, events] = [[...this.recentInvoices], this.recentEvents];
    if (ids.length === 0 && events.length === 0) return;
    await this.session.sleep(VERIFY_RECENT_PAUSE_MS);
    const unknown = await books.records.unknownEvents(events.map((e) => e.eventId));
    for (const e of events) if (unknown.has(e.eventId)) findings.addMissing(e, missingEvent(e));
    for (const id of ids) {
      const facts = await this.read(id);
      const underWay = (await books.records.underWay([id])).has(id);
      const own = await books.records.invoice(id);
      const now = this.session.now();
      if (own !== null) findings.addOfBooks(compareWithin(own, now, 0));
      const found = facts === null ? [] : await this.ofInvoice(facts, own, 0);
      findings.addShown(underWay ? found.filter(isNoNews) : found, facts);
      await this.session.step('invoices', 0);
    }
  }
}

/** The event type with changes of a customer's balance. */
const BALANCE_TYPE = 'customer.updated';
/** Differences of these kinds may vanish as soon as Crossbill decides an event in its inbox. */
const OF_NEWS: ReadonlySet<string> = new Set(['event_never_delivered', 'marked_not_charged']);
/** False if a waiting event may explain the difference: the run then leaves the difference to the next run. */
const isNoNews = (difference: Difference): boolean => !OF_NEWS.has(difference.kind);
/** The kinds of differences between sums. A detached payment causes them too. */
const SUMS: ReadonlySet<string> = new Set(['charged_not_marked', 'amount_differs']);
const isOfMoney = (difference: Difference): boolean => SUMS.has(difference.kind);

const NOTHING_LISTED: CallOutcome<BillingPage<never>> = {
  ok: true,
  value: { items: [], unreadable: [], next: null },
  status: 200,
  requestId: null,
};

function missingEvent(event: BillingEventFacts): Difference {
  const parsed = parseStripeEvent(event.body);
  const invoiceId = parsed.usability === 'usable' ? parsed.lane : null;
  const facts = { type: event.type, createdAt: event.createdAt.toISOString() };
  return finding.eventMissing({ invoiceId, eventId: event.eventId }, facts);
}
