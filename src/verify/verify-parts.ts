// The tools of every part of a verify run.
import { type BillingPlatform } from '../domain/ports/billing-platform.js';
import { type BillingReader } from '../domain/ports/billing-reader.js';
import { type PaymentGateway } from '../domain/ports/payment-gateway.js';
import { type VerifyStore } from './verify.store.js';
import { type OurInvoice } from '../domain/difference.js';
import { type EnrolmentFlow } from '../enrolment/enrolment.flow.js';
import { type FlowContext } from '../engine/flow-context.js';

export type VerifyParts = {
  readonly books: VerifyStore;
  readonly reader: BillingReader;
  readonly platform: BillingPlatform;
  readonly gateway: PaymentGateway;
  readonly context: FlowContext;
  /** Null: all customers are enrolled. */
  readonly enrolment: EnrolmentFlow | null;
};

export const VERIFY_PAGE = 200;

export function byInvoice(known: readonly OurInvoice[]): ReadonlyMap<string, OurInvoice> {
  return new Map(known.map((o) => [o.invoice.invoiceId, o]));
}
