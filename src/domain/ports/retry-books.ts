// Renewals that the MoR could not charge, and how far their retries are.
import { type InvoiceRow } from '../model.js';
import { type MoneyFilter, type Page, type PageRequest, type SelectionSums } from './books.js';

/**
 * `planned`: tried again by itself, at a known time. `awaiting_answer`: the MoR was asked to charge again, and has not answered. `payment_link`: the
 * customer has a payment link. `ended`: the schedule is over. `collected`: it is paid after all. `not_retried`: nothing is tried by itself.
 */
export const RETRY_STATES = [
  'planned',
  'awaiting_answer',
  'payment_link',
  'ended',
  'collected',
  'not_retried',
] as const;
export type RetryState = (typeof RETRY_STATES)[number];

export type RetryFilter = MoneyFilter & { readonly state?: string | undefined; readonly kind?: string | undefined };
export type RetriedInvoice = { readonly invoice: InvoiceRow; readonly state: RetryState };

export abstract class RetryBooks {
  /** By when Stripe made the invoice, the newest first; those that are planned by their next try, the soonest first. Throws BadCursor. */
  abstract list(filter: RetryFilter, page: PageRequest): Promise<Page<RetriedInvoice>>;
  /** What remains to be paid of them. */
  abstract sums(filter: RetryFilter): Promise<SelectionSums>;
}
