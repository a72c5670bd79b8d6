// What the merchant's backend can be told: each kind with its facts. Ids, amounts, states and times alone: no secret, and no text that
// a person or a peer wrote, since a receiver may be a chat room. The MoR's failure message is the one exception, and never in Slack words.

import { type InboxSource } from './ports/inbox.js';
import { type Refusal } from './refusal.js';

/** Every kind, in the order of the reference. */
export const NOTIFICATION_TYPES = [
  'invoice.paid',
  'invoice.left_open',
  'invoice.action_required',
  'customer.method_needed',
  'payment_link.created',
  'refund.succeeded',
  'refund.failed',
  'signup.completed',
  'review.opened',
  'review.due_soon',
  'verify.differences',
  'webhooks.refusing',
] as const;
export type NotificationType = (typeof NOTIFICATION_TYPES)[number];

/** Facts as JSON has them: amounts are integers in smallest units, times ISO 8601 in UTC, currencies ISO 4217 in lower case. */
export type InvoiceFacts = {
  readonly invoice_id: string;
  readonly customer_id: string | null;
  readonly subscription_id: string | null;
  /** As in `GET /v1/invoices`. */
  readonly status: string;
  readonly amount_due: number | null;
  readonly currency: string | null;
  /** Path of its page in the console. */
  readonly console: string;
};

export type PaymentFacts = {
  /** The MoR's `pay_…`, or ours until it has one. */
  readonly payment_id: string;
  readonly processor_charge_id: string | null;
  readonly amount: number;
  readonly currency: string;
};

export const LEFT_OPEN_WHY = ['payment_failed', 'no_verdict', 'review'] as const;

export type RefundFacts = {
  readonly refund_id: string;
  readonly mor_refund_id: string | null;
  readonly processor_refund_id: string | null;
  readonly payment_id: string;
  readonly invoice_id: string;
  readonly amount: number;
  readonly currency: string;
  /** False: it was asked for through Crossbill. */
  readonly made_elsewhere: boolean;
  readonly console: string;
};

export type ReviewFacts = {
  readonly review_id: string;
  readonly kind: string;
  readonly invoice_id: string | null;
  readonly refund_id: string | null;
  readonly due_at: string | null;
  readonly console: string;
};

/** One thing that happened. `subject` names it for good: told a second time it is the same notification. */
export type Told = { readonly subject: string } & (
  | { readonly type: 'invoice.paid'; readonly data: InvoiceFacts & { readonly payments: readonly PaymentFacts[] } }
  | {
      readonly type: 'invoice.left_open';
      readonly data: InvoiceFacts & {
        readonly why: (typeof LEFT_OPEN_WHY)[number];
        readonly payment_id: string | null;
        readonly decline_code: string | null;
        readonly review_id: string | null;
        /** When Crossbill tries again by itself; null: it does not. */
        readonly next_try_at: string | null;
      };
    }
  | {
      readonly type: 'invoice.action_required';
      readonly data: InvoiceFacts & {
        readonly payment_id: string;
        readonly processor_payment_intent_id: string | null;
      };
    }
  | {
      readonly type: 'customer.method_needed';
      readonly data: InvoiceFacts & {
        readonly payment_id: string;
        /** What the MoR tried to charge, in smallest units. */
        readonly amount: number;
        readonly decline_code: string | null;
        /** As the MoR wrote it; null: it wrote none, or an erasure took it out. */
        readonly failure_message: string | null;
      };
    }
  | {
      readonly type: 'payment_link.created';
      readonly data: {
        readonly payment_link_id: string;
        readonly invoice_id: string;
        readonly customer_id: string | null;
        readonly url: string;
        readonly amount: number | null;
        readonly currency: string | null;
        readonly expires_at: string | null;
        /** True: made by itself after a failed renewal. */
        readonly automatic: boolean;
        readonly console: string;
      };
    }
  | { readonly type: 'refund.succeeded'; readonly data: RefundFacts }
  | { readonly type: 'refund.failed'; readonly data: RefundFacts & { readonly failure_code: string | null } }
  | {
      readonly type: 'signup.completed';
      readonly data: PaymentFacts & {
        readonly signup_id: string;
        readonly invoice_id: string;
        readonly customer_id: string;
        readonly console: string;
      };
    }
  | { readonly type: 'review.opened'; readonly data: ReviewFacts }
  | { readonly type: 'review.due_soon'; readonly data: ReviewFacts }
  | {
      readonly type: 'verify.differences';
      readonly data: {
        readonly run_id: string;
        /** Differences that no open review item tells of. */
        readonly differences: number;
        readonly by_kind: Readonly<Record<string, number>>;
        readonly console: string;
      };
    }
  | {
      readonly type: 'webhooks.refusing';
      readonly data: {
        readonly endpoint: InboxSource;
        /** Of the newest one. */
        readonly reason: Refusal;
        readonly check: string;
        readonly refused: number;
        readonly since: string;
        readonly console: string;
      };
    }
);

export type NotifyFormat = 'standard' | 'slack';

/** As it is stored. The body never changes from here on, however often it is sent. */
export type NewNotification = {
  /** `webhook-id`. */
  readonly id: string;
  readonly type: NotificationType;
  readonly subject: string;
  /** Null: it is about none. */
  readonly invoiceId: string | null;
  readonly format: NotifyFormat;
  readonly body: string;
  /** When it happened, or was found out. */
  readonly at: Date;
};
