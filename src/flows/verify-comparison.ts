// What a verify run looks at, part by part, each from where the run that it goes on with had come.
import { parseStripeEvent, stripeInvoiceTypes } from '../domain/events/stripe-event.js';
import { type BillingPlatform, type InvoiceFacts } from '../domain/ports/billing-platform.js';
import { type BillingEventFacts, type BillingPage, type BillingReader } from '../domain/ports/billing-reader.js';
import { type CallOutcome } from '../domain/ports/call.js';
import { type PaymentGateway } from '../domain/ports/payment-gateway.js';
import { type UnconfirmedSignup, type VerifyBooks } from '../domain/ports/verify-books.js';
import {
  compareAttached,
  compareCreditNotes,
  compareInvoice,
  compareRecord,
  compareWithin,
  type Difference,
  difference,
  GRACE_MS,
  type OurInvoice,
  paidBeyondLedger,
} from '../domain/verify/compare.js';
import { afterPage, type Listing, type Stretch, takenUp, type VerifyProgress } from '../domain/verify/progress.js';
import { type FlowContext } from './flow-context.js';
import { type VerifyFindings } from './verify-findings.js';

/** Stripe lists events for 30 days (Stripe docs, "Events"); an hour less, so that none runs out between two pages. */
export const EVENTS_KEPT_MS = 30 * 86_400_000 - 3_600_000;
/** What Stripe still lists of the events since `from`. */
export function keptSince(from: Date, now: Date): Date {
  return new Date(Math.max(now.getTime() - EVENTS_KEPT_MS, from.getTime()));
}

/** An event so young, by either clock, may be on its way. */
export function isOnItsWay(e: BillingEventFacts, now: Date): boolean {
  return Math.abs(now.getTime() - e.createdAt.getTime()) < GRACE_MS;
}

export const VERIFY_PAGE = 200;
/** Of what is very young, as much is looked at twice; more of it means that a great deal is under way. */
const YOUNG_ONES = 200;
/** Stripe delivers within a second or two, and a decision follows within another. */
const YOUNG_PAUSE_MS = 3_000;
/** A read that failed for the moment is made again after these pauses, in milliseconds: a long run meets some. */
const PAUSES_MS = [500, 2_000];
const LONGEST_PAUSE_MS = 30_000;

/** A peer could not be asked, so not everything was compared. */
export class CouldNotCompare extends Error {
  readonly code = 'verify.incomplete';
}

export type VerifyParts = {
  readonly books: VerifyBooks;
  readonly reader: BillingReader;
  readonly platform: BillingPlatform;
  readonly gateway: PaymentGateway;
  readonly context: FlowContext;
};

/** The run that is made, and how far another had come with it. */
export type Sitting = {
  readonly since: Date;
  readonly from: VerifyProgress;
  /** When the run began that this one goes on with; null: it begins itself. */
  readonly resumed: Date | null;
  readonly signal: AbortSignal | undefined;
  /** True: what is too young to be told from what is under way is looked at twice, not left to the next run. */
  readonly young: boolean;
  /** Called after each question, when all that was found and how far it is can be written down: `n` more of `what` were looked at. */
  readonly step: (what: string, n: number) => Promise<void>;
};

export class VerifyComparison {
  private invoices: Listing;
  private events: Listing;
  private refundsAfter: bigint;
  private signupsAfter: bigint;
  private readonly youngInvoices = new Set<string>();
  private readonly youngEvents: BillingEventFacts[] = [];

  constructor(
    private readonly parts: VerifyParts,
    private readonly sitting: Sitting,
    readonly findings: VerifyFindings,
  ) {
    const { from, resumed, since } = sitting;
    this.invoices = resumed === null ? from.invoices : takenUp(from.invoices, since);
    this.events = resumed === null ? from.events : takenUp(from.events, since);
    this.refundsAfter = from.refundsAfter;
    this.signupsAfter = from.signupsAfter;
  }

  get progress(): VerifyProgress {
    const { invoices, events, refundsAfter, signupsAfter, findings } = this;
    const again = [...findings.again];
    return { ...this.sitting.from, invoices, events, refundsAfter, signupsAfter, again, more: findings.moreShown };
  }

  /** Throws CouldNotCompare when somebody does not answer, or the run is ended. */
  async all(): Promise<void> {
    await this.whatDiffered();
    await this.withinBooks();
    await this.stripeInvoices();
    await this.stripeEvents();
    await this.signupCharges();
    await this.youngOnes();
  }

  private now(): Date {
    return this.parts.context.clock.now();
  }

  /** An answer; a read changes nothing, so one that failed for the moment is made again. */
  private async ask<T>(question: () => Promise<CallOutcome<T>>, failed: string, first = question()): Promise<T> {
    const { signal } = this.sitting;
    let outcome = await first;
    for (const pauseMs of PAUSES_MS) {
      if (outcome.ok || outcome.kind === 'refused' || outcome.kind === 'stopped' || signal?.aborted === true) break;
      const asked = Math.min(outcome.retryAfterMs ?? 0, LONGEST_PAUSE_MS);
      await this.parts.context.clock.sleep(Math.max(pauseMs, asked), signal);
      outcome = await question();
    }
    if (outcome.ok) return outcome.value;
    throw new CouldNotCompare(`${failed}: ${outcome.message}`);
  }

  /** What differed before the cut may have healed since. */
  private async whatDiffered(): Promise<void> {
    const { findings, parts, sitting } = this;
    const lost = findings.all.filter((d) => d.kind === 'event_never_delivered' && d.eventId === null);
    const unheard = new Set(lost.map((d) => d.invoiceId));
    const ids = [...findings.again];
    for (let at = 0; at < ids.length; at += VERIFY_PAGE) {
      const some = ids.slice(at, at + VERIFY_PAGE);
      const ours = byInvoice(await parts.books.invoices(some));
      for (const id of some) {
        const own = ours.get(id) ?? null;
        if (own === null && unheard.has(id)) continue; // it still is
        const facts = await this.ask(() => parts.platform.readInvoice(id), 'an invoice could not be read');
        const found = facts === null ? [] : await this.ofInvoice(facts, own);
        if (own !== null) found.push(...(await this.ofRefunds(own)), ...(await this.ofSignups(signupsOf(own))));
        findings.forget(id);
        findings.addShown(found, facts);
        await sitting.step('invoices', 0);
      }
    }
  }

  /** Our own books are compared whole each time; what they say of credit notes is asked of Stripe once. */
  private async withinBooks(): Promise<void> {
    const { books } = this.parts;
    const { since, resumed } = this.sitting;
    const now = this.now();
    for (let after = 0n; ;) {
      const page = await books.openEnds(since, after, VERIFY_PAGE);
      for (const ours of page) {
        const settled = compareWithin(ours, now);
        this.findings.addOfBooks(settled);
        this.noteYoung(ours.invoice.invoiceId, settled, () => compareWithin(ours, now, 0));
        const isNew = ours.refunds.some((r) => resumed !== null && (r.succeededAt ?? r.createdAt) >= resumed);
        if (ours.seq > this.refundsAfter || isNew) this.findings.addShown(await this.ofRefunds(ours));
        if (ours.seq > this.refundsAfter) this.refundsAfter = ours.seq;
      }
      const last = page.at(-1);
      if (last === undefined || page.length < VERIFY_PAGE) return;
      after = last.seq;
    }
  }

  private async ofRefunds(ours: OurInvoice): Promise<Difference[]> {
    if (!ours.refunds.some((r) => r.mirror === 'done')) return [];
    const { reader } = this.parts;
    const listing = (): ReturnType<BillingReader['listCreditNotes']> => reader.listCreditNotes(ours.invoice.invoiceId);
    const notes = await this.ask(listing, 'credit notes could not be listed');
    const found = compareCreditNotes(ours, notes);
    for (const p of ours.payments) {
      const { paymentRecordId } = p;
      if (paymentRecordId === null || p.mark !== 'confirmed') continue;
      if (!ours.refunds.some((r) => r.paymentRowId === p.id && r.mirror === 'done')) continue;
      const record = await this.ask(
        () => reader.readPaymentRecord(paymentRecordId),
        'a payment record could not be read',
      );
      found.push(...compareRecord(ours, p, record));
    }
    await this.sitting.step('credit_notes', notes.length);
    return found;
  }

  private async stripeInvoices(): Promise<void> {
    const { reader, books } = this.parts;
    await this.listed(
      'invoices',
      ({ from, to }, startingAfter) => reader.listInvoices({ ...within(from, to), ...after(startingAfter) }),
      async (page) => {
        const ours = byInvoice(await books.invoices(page.map((i) => i.invoiceId)));
        for (const facts of page)
          this.findings.addShown(await this.ofInvoice(facts, ours.get(facts.invoiceId) ?? null), facts);
      },
    );
  }

  private async ofInvoice(facts: InvoiceFacts, own: OurInvoice | null): Promise<Difference[]> {
    const now = this.now();
    const found = compareInvoice(facts, own, now);
    this.noteYoung(facts.invoiceId, found, () => compareInvoice(facts, own, now, 0));
    if (!paidBeyondLedger(facts, own)) return found;
    const payments = await this.ask(
      () => this.parts.platform.listInvoicePayments(facts.invoiceId),
      'payments of an invoice could not be listed',
    );
    await this.sitting.step('invoices', 0);
    return [...found, ...compareAttached(facts, own, payments)];
  }

  private async stripeEvents(): Promise<void> {
    const { reader, books } = this.parts;
    await this.listed(
      'events',
      ({ from, to }, startingAfter) => {
        const kept = keptSince(from, this.now());
        if (to !== null && to <= kept) return Promise.resolve(NOTHING_LISTED);
        return reader.listEvents({ types: stripeInvoiceTypes, ...within(kept, to), ...after(startingAfter) });
      },
      async (page: readonly BillingEventFacts[]) => {
        const now = this.now();
        const unknown = await books.unknownEvents(page.map((e) => e.eventId));
        for (const e of page.filter(({ eventId }) => unknown.has(eventId))) {
          if (!isOnItsWay(e, now)) this.findings.addMissing(e, neverCame(e));
          else if (this.sitting.young && this.youngEvents.length < YOUNG_ONES) this.youngEvents.push(e);
        }
      },
    );
  }

  /** `all`: what differs if nothing counts as under way; the daily run, which leaves that to the next one, does not ask. */
  private noteYoung(invoiceId: string, settled: readonly Difference[], all: () => readonly Difference[]): void {
    if (!this.sitting.young || this.youngInvoices.size >= YOUNG_ONES) return;
    if (all().length > settled.length) this.youngInvoices.add(invoiceId);
  }

  /** What differed a moment after it was made, and still does after a pause in which a delivery and its decision come through. */
  private async youngOnes(): Promise<void> {
    const { books, platform, context } = this.parts;
    const [ids, events] = [[...this.youngInvoices], this.youngEvents];
    if (ids.length === 0 && events.length === 0) return;
    await context.clock.sleep(YOUNG_PAUSE_MS, this.sitting.signal);
    const unknown = await books.unknownEvents(events.map((e) => e.eventId));
    for (const e of events) if (unknown.has(e.eventId)) this.findings.addMissing(e, neverCame(e));
    for (const id of ids) {
      const facts = await this.ask(() => platform.readInvoice(id), 'an invoice could not be read');
      const own = byInvoice(await books.invoices([id])).get(id) ?? null;
      const now = this.now();
      if (own !== null) this.findings.addOfBooks(compareWithin(own, now, 0));
      if (facts !== null) this.findings.addShown(compareInvoice(facts, own, now, 0), facts);
      await this.sitting.step('invoices', 0);
    }
  }

  /** The next page is asked for while one is compared: what bounds the pace is then the budget, not the sum of both. */
  private async listed<T extends { readonly createdAt: Date | null }>(
    what: 'invoices' | 'events',
    question: (stretch: Stretch, startingAfter: string | null) => Promise<CallOutcome<BillingPage<T>>>,
    compare: (items: readonly T[]) => Promise<void>,
  ): Promise<void> {
    for (let [stretch] = this[what].todo; stretch !== undefined; [stretch] = this[what].todo) {
      const asked = stretch;
      let at: string | null = null;
      let ahead = question(asked, at);
      do {
        const from: string | null = at;
        const page: BillingPage<T> = await this.ask(() => question(asked, from), `${what} could not be listed`, ahead);
        at = page.next;
        if (at !== null) ahead = question(asked, at);
        await compare(page.items);
        this.findings.addShown(page.unreadable.map(unreadable));
        const times = page.items.flatMap((i) => i.createdAt ?? []);
        this[what] = afterPage(this[what], times, at === null);
        await this.sitting.step(what, page.items.length);
      } while (at !== null);
    }
  }

  private async signupCharges(): Promise<void> {
    for (;;) {
      const page = await this.parts.books.unconfirmedSignups(this.sitting.since, this.signupsAfter, VERIFY_PAGE);
      for (const s of page) {
        this.findings.addShown(await this.ofSignups([s]));
        this.signupsAfter = s.seq;
      }
      if (page.length < VERIFY_PAGE) return;
    }
  }

  /** Where no signed event vouches for a signup's payment, the MoR's invoice look-up must, unless that check is off. */
  private async ofSignups(signups: readonly Omit<UnconfirmedSignup, 'seq'>[]): Promise<Difference[]> {
    const { context, gateway } = this.parts;
    const found: Difference[] = [];
    if (context.settings.signupChargeCheck === 'off') return found;
    for (const s of signups) {
      const known = await this.ask(
        () => gateway.lookUpCharge(s.chargeId),
        'a charge could not be looked up at the MoR',
      );
      await this.sitting.step('payments', 1);
      if (known === 'charged') continue;
      const said = known === 'pending' ? 'has not settled' : 'does not know';
      const detail = `the MoR ${said} charge ${s.chargeId}, which paid this signup's invoice`;
      const about = { invoiceId: s.invoiceId, paymentId: s.paymentRowId };
      found.push(difference('marked_not_charged', 'person', detail, about));
    }
    return found;
  }
}

const NOTHING_LISTED: CallOutcome<BillingPage<never>> = {
  ok: true,
  value: { items: [], unreadable: [], next: null },
  status: 200,
  requestId: null,
};

function within(from: Date, to: Date | null): { createdAfter: Date; createdBefore?: Date } {
  return { createdAfter: from, ...(to === null ? {} : { createdBefore: to }) };
}

function after(startingAfter: string | null): { startingAfter?: string } {
  return startingAfter === null ? {} : { startingAfter };
}

export function byInvoice(known: readonly OurInvoice[]): ReadonlyMap<string, OurInvoice> {
  return new Map(known.map((o) => [o.invoice.invoiceId, o]));
}

/** As the books list those that no event vouches for. */
function signupsOf({ invoice, payments }: OurInvoice): readonly Omit<UnconfirmedSignup, 'seq'>[] {
  return payments.flatMap((p) => {
    if (p.origin !== 'signup' || p.paymentId !== null || p.mark !== 'confirmed') return [];
    const { processorChargeId: chargeId } = p;
    return chargeId === null ? [] : [{ paymentRowId: p.id, invoiceId: invoice.invoiceId, chargeId }];
  });
}

function neverCame(e: BillingEventFacts): Difference {
  const parsed = parseStripeEvent(e.body);
  const invoiceId = parsed.verdict === 'usable' ? parsed.lane : null;
  const detail = `${e.type} of ${e.createdAt.toISOString()} never came`;
  return difference('event_never_delivered', 'take-in-event', detail, { invoiceId, eventId: e.eventId });
}

function unreadable(id: string): Difference {
  return difference('unreadable', 'person', `${id} could not be understood and was not compared`, { eventId: id });
}
