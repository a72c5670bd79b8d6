// Who has moved to the MoR, and whose invoices are left alone.
import { type InvoiceRow } from '../model.js';
import { type MoneyFilter, type Page, type PageRequest, type SelectionSums, type Span } from './books.js';
import { type CustomerLink } from './customer-links.js';

/** `renewed`: the MoR has taken a renewal. `not_paid_yet`: a renewal was seen, and it has taken none. `no_renewal_yet`: none was seen. */
export const MOVES = ['renewed', 'not_paid_yet', 'no_renewal_yet'] as const;
export type Move = (typeof MOVES)[number];

/** `since` and `until`: when they were linked. */
export type LinkedFilter = Span & {
  readonly customerId?: string | undefined;
  /** `signup`, an API key's name, or a person at the command line: who imported a file. */
  readonly linkedBy?: string | undefined;
  readonly move?: string | undefined;
};

export type LinkedCustomer = CustomerLink & { readonly move: Move };

export abstract class EnrolmentBooks {
  /** Customers with a customer of the MoR, the newest link first. Throws BadCursor. */
  abstract linked(filter: LinkedFilter, page: PageRequest): Promise<Page<LinkedCustomer>>;
  /** Invoices outside of ENROLMENT, by when they were first seen, the newest first. Throws BadCursor. */
  abstract outside(filter: MoneyFilter, page: PageRequest): Promise<Page<InvoiceRow>>;
  /** What is due on them. */
  abstract outsideSums(filter: MoneyFilter): Promise<SelectionSums>;
}
