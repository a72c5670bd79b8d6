// A loss window is a time of closed webhook endpoints, long enough for the MoR to give up on events. Crossbill then
// looks up at the MoR everything that waited for an event.
import { Injectable } from '@nestjs/common';
import { Clock } from '../../shared/domain/ports/clock.js';
import { type CallFailure, type CallOutcome } from '../../shared/domain/ports/call.js';
import { EndpointsLogRepository } from './endpoints-log.repository.js';
import { LossRepository } from './loss.repository.js';
import { type LossWindow, type Span, lossWindows } from './rules/loss-window.js';
import { MorLookups } from '../../frames/mor/mor-lookups.js';
import { MorChannels } from '../../shared/domain/ports/mor-channels.js';
import { type Difference } from '../../shared/domain/difference.js';
import { finding } from './rules/findings.js';
import { VERDICT_LONGEST_MS } from './rules/limits.js';

export type LossReport = {
  readonly windows: readonly LossWindow[];
  readonly differences: readonly Difference[];
  /** The number of looked-up objects, by kind. Empty without a loss window. */
  readonly compared: Readonly<Record<string, number>>;
  /** The MoR's missing reply. Null: the MoR replied each time. */
  readonly failure: CallFailure | null;
};

const PAGE = 200;

@Injectable()
export class LossWindowService {
  constructor(
    private readonly endpoints: EndpointsLogRepository,
    private readonly books: LossRepository,
    private readonly lookups: MorLookups,
    private readonly channels: MorChannels,
    private readonly clock: Clock,
  ) {}

  /** The loss windows with an end after `since`, oldest first. Empty: the MoR gave up on no event. */
  async windows(since: Date): Promise<readonly LossWindow[]> {
    return lossWindows(await this.endpoints.open()).filter((w) => w.events.to > since);
  }

  /**
   * Looks up everything that waited for the MoR in the loss windows after `since`. Changes nothing. If the MoR does not
   * reply, the report has the failure. Calls `asked` after each request; an error of `asked` ends the check.
   */
  async check(since: Date, asked: () => Promise<void>): Promise<LossReport> {
    const windows = await this.windows(since);
    const [first, last] = [windows[0], windows.at(-1)];
    if (first === undefined || last === undefined) return { windows, differences: [], compared: {}, failure: null };
    const events: Span = { from: first.events.from, to: last.events.to };
    const found: Difference[] = [];
    try {
      const compared = {
        awaited_invoices: await this.invoices(events, found, asked),
        awaited_refunds: await this.refunds(events, found, asked),
        proformas_and_links: await this.objects(events, found, asked),
      };
      return { windows, differences: found, compared, failure: null };
    } catch (e) {
      if (!(e instanceof NoReply)) throw e;
      return { windows, differences: found, compared: {}, failure: e.failure };
    }
  }

  /**
   * Looks up the renewals that still wait for money. The MoR finds a renewal only by an id of the payment. Without a
   * verdict Crossbill knows no such id. After a refusal Crossbill knows only the refused attempt's payment intent. In
   * both cases the loss window may hide a success, so Crossbill reports a difference.
   */
  private async invoices(events: Span, found: Difference[], asked: () => Promise<void>): Promise<number> {
    const made = { from: new Date(events.from.getTime() - VERDICT_LONGEST_MS), to: events.to };
    let seen = 0;
    for (let after = 0n; ;) {
      const page = await this.books.waitingInvoices(made, after, PAGE);
      for (const i of page) {
        const about = { invoiceId: i.invoiceId, reviewId: i.reviewId };
        let isCharged = false;
        // The MoR's documents require a charge id here. After a refusal Crossbill knows only the payment intent, so it
        // tries the intent. The MoR's 404 to an intent proves nothing.
        for (const reference of i.references) {
          const known = answered(await this.lookups.hasCharged(reference));
          await asked();
          if (!known) continue;
          isCharged = true;
          found.push(finding.successLost(about, { reference }));
        }
        if (i.expected) found.push(finding.verdictLost(about, {}));
        else if (i.refused && !isCharged) found.push(finding.refusalOld(about, {}));
      }
      seen += page.length;
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) return seen;
      after = last.seq;
    }
  }

  private async refunds(events: Span, found: Difference[], asked: () => Promise<void>): Promise<number> {
    const pending = await this.books.pendingRefunds(events.to);
    for (const r of pending) {
      if (r.morRefundId === null && r.processorRefundId === null) continue;
      const known = answered(await this.lookups.hasRefundDocument(r));
      await asked();
      if (!known) continue;
      const about = { invoiceId: r.invoiceId, refundId: r.refundId };
      found.push(finding.refundLost(about, { refund: r.morRefundId ?? r.refundId }));
    }
    return pending.length;
  }

  private async objects(events: Span, found: Difference[], asked: () => Promise<void>): Promise<number> {
    const live = await this.books.liveObjects(events);
    for (const o of live) {
      const read = answered(await this.channels.read(o.kind, o.morId));
      await asked();
      const status = read === null ? 'unknown' : read.kind === 'proforma' ? read.proforma.status : read.link.status;
      if (status === o.status) continue;
      const object = `${o.kind === 'proforma' ? 'Proforma invoice' : 'Payment link'} ${o.morId}`;
      found.push(finding.objectMoved({ invoiceId: o.invoiceId }, { object, shown: status, known: o.status }));
    }
    return live.length;
  }

  /** True if a loss window ended after the last complete verify run. `lastComplete` null: no run was complete. */
  async isNews(lastComplete: Date | null): Promise<boolean> {
    const now = this.clock.now();
    const windows = await this.windows(new Date(now.getTime() - VERDICT_LONGEST_MS));
    return windows.some((w) => lastComplete === null || w.closed.to > lastComplete);
  }
}

class NoReply extends Error {
  readonly code = 'verify.incomplete';
  constructor(readonly failure: CallFailure) {
    super(failure.message);
  }
}

function answered<T>(outcome: CallOutcome<T>): T {
  if (outcome.ok) return outcome.value;
  throw new NoReply(outcome);
}
