// The questions of a verify run: a second try after a passing failure, and lists page by page, from the point of the run before.
import { type CallOutcome, mayPass } from '../domain/ports/call.js';
import { type BillingPage, type ListQuery } from '../domain/ports/billing-reader.js';
import { type Difference, type Listing, type ListName, LISTS, type VerifyProgress } from '../domain/difference.js';
import { difference } from './rules/compare.js';
import { afterPage, takenUp } from './rules/progress.js';
import { type FlowContext } from '../engine/flow-context.js';
import { type VerifyFindings } from './verify-findings.js';

/** Pauses before a failed read is tried again, in milliseconds: a long run meets some. */
const PAUSES_MS = [500, 2_000];
const LONGEST_PAUSE_MS = 30_000;

/** A peer did not answer: the run is incomplete. */
export class CouldNotCompare extends Error {
  readonly code = 'verify.incomplete';
}

/** This run, and the progress of the run before. */
export type Sitting = {
  readonly since: Date;
  readonly from: VerifyProgress;
  /** The start of the run before; null: this is a new one. */
  readonly resumed: Date | null;
  readonly signal: AbortSignal | undefined;
  /** True: look twice at very young objects. False: leave them to the next run. */
  readonly young: boolean;
  /** After each question: `n` more of `what` were compared. Findings and progress may be saved now. */
  readonly step: (what: string, n: number) => Promise<void>;
};

const CALLED: Readonly<Record<ListName, string>> = {
  invoices: 'invoices',
  records: 'payment_records',
  notes: 'credit_notes',
  events: 'events',
};

export class VerifyQuestions {
  readonly listings: Record<ListName, Listing>;

  constructor(
    private readonly context: FlowContext,
    readonly sitting: Sitting,
    private readonly findings: VerifyFindings,
  ) {
    const { from, resumed, since } = sitting;
    this.listings = { ...from.lists };
    if (resumed !== null) for (const name of LISTS) this.listings[name] = takenUp(from.lists[name], since);
  }

  /** Tries again after a passing failure: a read changes nothing. */
  async ask<T>(question: () => Promise<CallOutcome<T>>, failed: string, first = question()): Promise<T> {
    const { signal } = this.sitting;
    let outcome = await first;
    for (const pauseMs of PAUSES_MS) {
      if (outcome.ok || !mayPass(outcome) || signal?.aborted === true) break;
      const asked = Math.min(outcome.retryAfterMs ?? 0, LONGEST_PAUSE_MS);
      await this.context.clock.sleep(Math.max(pauseMs, asked), signal);
      outcome = await question();
    }
    if (outcome.ok) return outcome.value;
    throw new CouldNotCompare(`${failed}: ${outcome.message}`);
  }

  /** Asks for the next page during the comparison of this one: the budget alone bounds the pace. */
  async listed<T extends { readonly createdAt: Date | null }>(
    name: ListName,
    question: (query: ListQuery) => Promise<CallOutcome<BillingPage<T>>>,
    compare: (items: readonly T[]) => Promise<void>,
  ): Promise<void> {
    const { listings, sitting } = this;
    const what = CALLED[name];
    for (let [stretch] = listings[name].todo; stretch !== undefined; [stretch] = listings[name].todo) {
      const { from: createdAfter, to } = stretch;
      const query = { createdAfter, ...(to === null ? {} : { createdBefore: to }) };
      const pageFrom = (at: string | null): Promise<CallOutcome<BillingPage<T>>> =>
        question(at === null ? query : { ...query, startingAfter: at });
      let at: string | null = null;
      let ahead = pageFrom(at);
      do {
        const from: string | null = at;
        const failed = `${what.replaceAll('_', ' ')} could not be listed`;
        const page: BillingPage<T> = await this.ask(() => pageFrom(from), failed, ahead);
        at = page.next;
        if (at !== null) ahead = pageFrom(at);
        await compare(page.items);
        this.findings.addShown(page.unreadable.map(unreadable));
        const times = page.items.flatMap((i) => i.createdAt ?? []);
        listings[name] = afterPage(listings[name], times, at === null);
        await sitting.step(what, page.items.length);
      } while (at !== null);
    }
  }
}

function unreadable(id: string): Difference {
  return difference('unreadable', 'person', `${id} could not be understood and was not compared`, { eventId: id });
}
