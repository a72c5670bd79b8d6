// The events of a lane, and the verdict on an event.
import { type InvoiceFacts } from '../shared/domain/ports/billing-platform.js';
import { type PaymentStatus } from '../shared/domain/payment-row.js';
import { type MorServiceEvent } from '../shared/domain/events/mor-service-event.js';
import { type OwnEvent, type OwnType } from '../shared/domain/events/own-event.js';

/** An `invoice.*` event of Stripe. */
export type InvoiceEvent = {
  readonly family: 'invoice';
  readonly eventId: string;
  readonly type: string;
  readonly at: Date;
  readonly facts: InvoiceFacts;
  /** The event's bytes as text, for the relay. */
  readonly raw: string;
};

/** A `payment.*` event of the MoR (Document 3, "Webhook payload"). Amounts are smallest units. */
export type PaymentEvent = {
  readonly family: 'payment';
  readonly eventId: string;
  readonly type: 'payment.succeeded' | 'payment.failed' | 'payment.requires_action' | 'payment.refunded';
  readonly at: Date;
  readonly paymentId: string;
  readonly invoiceId: string;
  readonly customerId: string;
  readonly processorChargeId: string | null;
  readonly processorPaymentIntentId: string;
  /** The payment's amount. On `payment.refunded`: the amount of this one refund. */
  readonly amount: bigint;
  readonly currency: string;
  readonly status: PaymentStatus;
  readonly failureMessage: string | null;
  readonly declineCode: string | null;
  readonly refundId: string | null;
  readonly processorRefundId: string | null;
  readonly amountRefundedTotal: bigint | null;
  readonly reason: string | null;
};

/** An event of source `crossbill`: code outside the rules reports a fact to the lane. */
export type OwnLaneEvent<K extends OwnType = OwnType> = {
  readonly family: 'own';
  readonly eventId: string;
  readonly type: K;
  readonly at: Date;
  readonly event: Extract<OwnEvent, { readonly type: K }>;
};

export type LaneEvent = InvoiceEvent | PaymentEvent | OwnLaneEvent;

export type EventOutcome = { readonly status: 'done' | 'ignored'; readonly reason: string | null };

export type ChannelEvent = {
  readonly family: 'channel';
  readonly eventId: string;
  readonly type: string;
  readonly event: MorServiceEvent;
};

export const done = (reason: string | null = null): EventOutcome => ({ status: 'done', reason });
export const ignored = (reason: string): EventOutcome => ({ status: 'ignored', reason });
