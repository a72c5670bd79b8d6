// Collects the differences of a verify run in bounded memory.
import { type InvoiceFacts } from '../../shared/domain/ports/billing-platform.js';
import { type BillingEventFacts } from '../../shared/domain/ports/billing-reader.js';
import { type More } from './rules/run.js';
import { type Difference } from '../../shared/domain/difference.js';

type Counts = { -readonly [K in keyof More]: number };
type Shown = Pick<InvoiceFacts, 'invoiceId' | 'status'>;

export class VerifyFindings {
  private readonly kept = new Map<string, Difference>();
  private readonly counts: Counts = {};
  /**
   * Counts by kind. Above the limit the run only counts differences. `beyondBooks`: differences within our own records,
   * in this run only. `beyondShown`: differences between us and Stripe or the MoR, also from the resumed run.
   */
  private readonly beyondBooks: Counts = {};
  private readonly beyondShown: Counts;
  /** Stripe's events missing from our inbox. */
  readonly missing = new Map<string, BillingEventFacts>();
  /** Invoices with a possibly lost event, as Stripe shows them. */
  readonly shown = new Map<string, Shown>();
  /** The ids of invoices with a stored difference between us and Stripe or the MoR. */
  readonly again: Set<string>;

  /** The interrupted run gives `carried`, `more` and `again`. A new run has only `again`, from the run before. */
  constructor(
    private readonly limits: { readonly kept: number; readonly bodies: number },
    carried: readonly Difference[],
    more: More,
    again: readonly string[],
  ) {
    this.beyondShown = { ...more };
    this.again = new Set(again);
    for (const d of carried) this.keep(d, this.beyondShown);
  }

  get size(): number {
    return this.kept.size;
  }

  get all(): readonly Difference[] {
    return [...this.kept.values()];
  }

  get more(): More {
    const sum: Counts = { ...this.beyondShown };
    for (const [bucket, n] of entries(this.beyondBooks)) sum[bucket] = (sum[bucket] ?? 0) + n;
    return sum;
  }

  /**
   * The counts of differences to Stripe and the MoR, for a later run that resumes this run. The later run compares our
   * own records from the start, and needs no counts of them.
   */
  get moreShown(): More {
    return { ...this.beyondShown };
  }

  /** Adds differences within our own records. */
  addOfBooks(found: readonly Difference[]): void {
    for (const d of found) this.keep(d, this.beyondBooks);
  }

  /** Adds differences between us and Stripe or the MoR. `facts`: the invoice as Stripe shows it. */
  addShown(found: readonly Difference[], facts: Shown | null = null): void {
    for (const d of found) {
      if (!this.keep(d, this.beyondShown) || d.invoiceId === null) continue;
      this.again.add(d.invoiceId);
      if (facts === null || d.kind !== 'event_never_delivered') continue;
      this.shown.set(facts.invoiceId, { invoiceId: facts.invoiceId, status: facts.status });
    }
  }

  /** Adds an event of Stripe missing from our inbox. */
  addMissing(event: BillingEventFacts, difference: Difference): void {
    if (this.keep(difference, this.beyondShown) && this.missing.size < this.limits.bodies)
      this.missing.set(event.eventId, event);
  }

  /** Removes the invoice's differences before its second comparison. Missing events stay. */
  forget(invoiceId: string): void {
    this.again.delete(invoiceId);
    for (const [key, d] of this.kept) {
      if (d.invoiceId !== invoiceId || d.eventId !== null) continue;
      this.kept.delete(key);
      this.counts[bucketOf(d)] = (this.counts[bucketOf(d)] ?? 1) - 1;
    }
  }

  /** Stores a difference. Beyond the limit of its kind: only counts the difference, and returns false. */
  private keep(difference: Difference, beyond: Counts): boolean {
    if (this.kept.has(difference.id)) return true; // a resumed run may list an object twice
    const bucket = bucketOf(difference);
    const count = this.counts[bucket] ?? 0;
    const counter = count < this.limits.kept ? this.counts : beyond;
    counter[bucket] = (counter[bucket] ?? 0) + 1;
    if (counter === this.counts) this.kept.set(difference.id, difference);
    return counter === this.counts;
  }
}

const bucketOf = (difference: Difference): keyof More => (difference.reviewId === null ? difference.kind : 'with_item');

function entries(counts: Counts): [keyof More, number][] {
  return Object.entries(counts) as [keyof More, number][];
}
