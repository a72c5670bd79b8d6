// The requests of one verify run: lists page by page, and repeats a request after a temporary failure.
import { type EnrolmentPort } from '../../shared/domain/ports/enrolment.js';
import { type CallOutcome, codesOf, mayPass } from '../../shared/domain/ports/call.js';
import { type BillingPlatform } from '../../shared/domain/ports/billing-platform.js';
import { type BillingPage, type BillingReader, type ListQuery } from '../../shared/domain/ports/billing-reader.js';
import { type PaymentGateway } from '../../shared/domain/ports/payment-gateway.js';
import { type DecisionContext } from '../../engine/decision-context.js';
import { finding } from './rules/findings.js';
import { afterPage, type ListName, type Listing, LISTS, takenUp, type VerifyProgress } from './rules/progress.js';
import { type VerifyFindings } from './verify-findings.js';
import { type VerifyRepository } from './verify.repository.js';

export type VerifyParts = {
  readonly books: VerifyRepository;
  readonly reader: BillingReader;
  readonly platform: BillingPlatform;
  readonly gateway: PaymentGateway;
  readonly context: DecisionContext;
  /** Finds the customers outside the enrolment. Null: all customers are enrolled. */
  readonly enrolment: EnrolmentPort | null;
};

export const VERIFY_PAGE = 200;

/** Pauses before another try of a failed read, in milliseconds. A long run always meets some failures. */
const PAUSES_MS = [500, 2_000];
const LONGEST_PAUSE_MS = 30_000;

/** The error of an incomplete run: Stripe or the MoR does not reply, or somebody stops or resumes the run. */
export class CouldNotCompare extends Error {
  readonly code = 'verify.incomplete';
}

/** The options of this run. `from`: the progress at its start, taken from the interrupted run if there is one. */
export type VerifySessionOptions = {
  readonly since: Date;
  readonly from: VerifyProgress;
  /** The first start of the resumed run. Null: this is a new run. */
  readonly resumed: Date | null;
  readonly signal: AbortSignal | undefined;
  /** True: compare very young objects twice. False: leave them to the next run. */
  readonly recent: boolean;
  /**
   * Runs after each request, with the number `n` of newly compared objects of the kind `what`. May save the progress.
   */
  readonly step: (what: string, count: number) => Promise<void>;
};

const CALLED: Readonly<Record<ListName, string>> = {
  invoices: 'invoices',
  records: 'payment_records',
  notes: 'credit_notes',
  events: 'events',
};

export class VerifySession {
  readonly lists: Record<ListName, Listing>;
  readonly step: VerifySessionOptions['step'];

  constructor(
    readonly parts: VerifyParts,
    readonly options: VerifySessionOptions,
    readonly findings: VerifyFindings,
  ) {
    const { from, resumed, since, step } = options;
    this.step = step;
    this.lists = { ...from.lists };
    if (resumed !== null) for (const name of LISTS) this.lists[name] = takenUp(from.lists[name], since);
  }

  now(): Date {
    return this.parts.context.clock.now();
  }

  /** Waits `ms` milliseconds, or until somebody ends the run. */
  sleep(ms: number): Promise<void> {
    return this.parts.context.clock.sleep(ms, this.options.signal);
  }

  /**
   * Sends a read, and sends it again after a temporary failure. Throws CouldNotCompare if Stripe or the MoR still does
   * not reply.
   */
  async ask<T>(question: () => Promise<CallOutcome<T>>, failed: string, first = question()): Promise<T> {
    let outcome = await first;
    for (const pauseMs of PAUSES_MS) {
      if (outcome.ok || !mayPass(outcome) || this.options.signal?.aborted === true) break;
      await this.sleep(Math.max(pauseMs, Math.min(outcome.retryAfterMs ?? 0, LONGEST_PAUSE_MS)));
      outcome = await question();
    }
    if (outcome.ok) return outcome.value;
    throw new CouldNotCompare(`${failed}: ${codesOf(outcome)}`);
  }

  /**
   * Lists page by page: requests the next page during the comparison of this page. Only the request budget limits the
   * pace.
   */
  async listed<T extends { readonly createdAt: Date | null }>(
    name: ListName,
    question: (query: ListQuery) => Promise<CallOutcome<BillingPage<T>>>,
    compare: (items: readonly T[]) => Promise<void>,
  ): Promise<void> {
    const { lists, findings } = this;
    const what = CALLED[name];
    const failed = `${what.replaceAll('_', ' ')} could not be listed`;
    for (let [stretch] = lists[name].todo; stretch !== undefined; [stretch] = lists[name].todo) {
      const { from, to } = stretch;
      const query = { createdAfter: new Date(from), ...(to === null ? {} : { createdBefore: new Date(to) }) };
      const pageFrom = (at: string | null): Promise<CallOutcome<BillingPage<T>>> =>
        question(at === null ? query : { ...query, startingAfter: at });
      let at: string | null = null;
      let ahead = pageFrom(at);
      do {
        const here: string | null = at;
        const page: BillingPage<T> = await this.ask(() => pageFrom(here), failed, ahead);
        at = page.next;
        if (at !== null) ahead = pageFrom(at);
        await compare(page.items);
        findings.addShown(page.unreadable.map((id) => finding.unreadable({ eventId: id }, { id })));
        const times = page.items.flatMap((i) => i.createdAt ?? []);
        lists[name] = afterPage(lists[name], times, at === null);
        await this.step(what, page.items.length);
      } while (at !== null);
    }
  }
}
