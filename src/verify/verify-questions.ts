// How a verify run asks: again where a peer failed for the moment, and through lists page by page, each from where another had come.
import { type CallOutcome, mayPass } from '../domain/ports/call.js';
import { type BillingPage, type ListQuery } from '../domain/ports/billing-reader.js';
import { type Difference, type Listing, type VerifyProgress } from '../domain/difference.js';
import { difference } from './rules/compare.js';
import { afterPage, type ListName, LISTS, takenUp } from './rules/progress.js';
import { type FlowContext } from '../engine/flow-context.js';
import { type VerifyFindings } from './verify-findings.js';

/** A read that failed for the moment is made again after these pauses, in milliseconds: a long run meets some. */
const PAUSES_MS = [500, 2_000];
const LONGEST_PAUSE_MS = 30_000;

/** A peer could not be asked, so not everything was compared. */
export class CouldNotCompare extends Error {
  readonly code = 'verify.incomplete';
}

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
    const begun = (of: Listing): Listing => (resumed === null ? of : takenUp(of, since));
    const listings = LISTS.map((name) => [name, begun(from[name])] as const);
    this.listings = Object.fromEntries(listings) as Record<ListName, Listing>;
  }

  /** An answer; a read changes nothing, so one that failed for the moment is made again. */
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

  /** The next page is asked for while one is compared: what bounds the pace is then the budget, not the sum of both. */
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
