// What is needed to know what was lost: when the doors were open, what waited for a word of the MoR, and what the MoR lets one ask.
import { type CallOutcome } from './call.js';

export abstract class DoorsLog {
  /**
   * The doors of a process are open now, by the database's time, and have been since its last such word under this id. False: that word is too long ago for
   * anyone to know what was in between, nothing was written, and the process goes on under a new id.
   */
  abstract seen(id: string): Promise<boolean>;
  /** The doors of a process opened. Forgets what is too old to matter. */
  abstract opened(id: string): Promise<void>;
  /** All stretches that are kept, of all processes. */
  abstract open(): Promise<readonly Span[]>;
}

/** An invoice that waits for money, and the references under which the MoR may know of some. */
export type WaitingInvoice = {
  readonly seq: bigint;
  readonly invoiceId: string;
  /** True: a verdict was never heard. */
  readonly expected: boolean;
  /** True: the last verdict is a refusal, of before `made` ended. Later ones would show that the MoR was not paid until then. */
  readonly refused: boolean;
  /** The payment intents of attempts that failed. */
  readonly references: readonly string[];
  /** The open item that tells a person already; null: none. */
  readonly reviewId: string | null;
};

export type PendingRefund = {
  readonly refundId: string;
  readonly invoiceId: string;
  readonly morRefundId: string | null;
  readonly processorRefundId: string | null;
};

export type LiveObject = {
  readonly kind: 'proforma' | 'payment_link';
  readonly invoiceId: string;
  readonly morId: string;
  readonly status: string;
};

/** What was made before a window's end and is not settled, the newest first, at most `limit` of each. */
export abstract class LossBooks {
  /** Invoices made in `made` that wait for money, in their own order after `after` (0n: from the start). */
  abstract waitingInvoices(made: Span, after: bigint, limit: number): Promise<readonly WaitingInvoice[]>;
  abstract pendingRefunds(before: Date, limit: number): Promise<readonly PendingRefund[]>;
  abstract liveObjects(events: Span, limit: number): Promise<readonly LiveObject[]>;
}

export abstract class MorLookups {
  /** Whether the MoR took money under this reference of the processor. */
  abstract hasCharged(pspReference: string): Promise<CallOutcome<boolean>>;
  /** True: it has the finished document of a refund, so it was made. False: none yet, or no such refund. */
  abstract hasRefundDocument(
    refund: Pick<PendingRefund, 'morRefundId' | 'processorRefundId'>,
  ): Promise<CallOutcome<boolean>>;
}

/** From (included) to (not included). */
export type Span = { readonly from: Date; readonly to: Date };

/** Events that the MoR made in `events` may be lost: the doors were closed in `closed` whenever it tried. */
export type LossWindow = { readonly events: Span; readonly closed: Span };
