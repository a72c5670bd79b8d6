// Which customer of the merchant is which customer of the MoR, as signups, people and files said.
import { type Page, type PageRequest, type Span } from './books.js';

export type CustomerLink = {
  readonly customerId: string;
  readonly morCustomerId: string;
  /** Null: the link was made elsewhere. */
  readonly signupId: string | null;
  /** The merchant's own word for it; null: none was given. */
  readonly reference: string | null;
  /** `signup`, an API key's name, or a person at the command line. */
  readonly linkedBy: string;
  readonly linkedAt: Date;
};

/** `since` and `until`: when they were linked. */
export type LinkFilter = Span & {
  readonly customerId?: string | undefined;
  readonly morCustomerId?: string | undefined;
};

export type NewLink = Pick<CustomerLink, 'customerId' | 'morCustomerId' | 'reference' | 'linkedBy'>;

export type Linked =
  | { readonly outcome: 'made' | 'known'; readonly link: CustomerLink }
  /** The customer, or the MoR's customer, is linked otherwise; nothing was written. */
  | { readonly outcome: 'otherwise'; readonly link: CustomerLink };

/** A line of a file, to be linked. */
export type ImportRow = Pick<CustomerLink, 'customerId' | 'morCustomerId' | 'reference'> & { readonly line: number };

/** Why a line cannot be taken. */
export type LineProblem = { readonly line: number; readonly customerId: string | null; readonly problem: string };

export type ImportCheck = {
  /** By line, as many as are kept. */
  readonly problems: readonly LineProblem[];
  readonly problemsInAll: number;
  /** Lines that say what another line says already. */
  readonly repeated: number;
  /** Links that were known already. */
  readonly known: number;
  /** Customers of whom nothing else is known here, as many as are kept. */
  readonly strangers: readonly { readonly line: number; readonly customerId: string }[];
  readonly strangersInAll: number;
};

/** How far customers have moved to the MoR. */
export type Migration = {
  readonly linked: number;
  /** Of the linked: the MoR has taken a renewal. */
  readonly renewed: number;
  /** Of the linked: a renewal was seen, and the MoR has not taken one yet. */
  readonly notRenewed: number;
  /** Of the linked: no renewal was seen yet. */
  readonly waiting: number;
  /** Customers with invoices outside of ENROLMENT in the last `OUTSIDE_DAYS` days. */
  readonly outside: number;
};

/** A monthly renewal of every customer falls into it. */
export const OUTSIDE_DAYS = 35;

export abstract class CustomerLinks {
  abstract known(customerId: string): Promise<{ readonly linkedAt: Date | null; readonly paid: boolean }>;
  /** The newest first. Throws BadCursor. */
  abstract list(filter: LinkFilter, page: PageRequest): Promise<Page<CustomerLink>>;
  /** Links them, unless either is linked to another. A reference that is given replaces the one before. */
  abstract link(link: NewLink): Promise<Linked>;
  /**
   * Checks rows as a whole, and writes all of them when `write` says so after the check, or none. In one transaction, and in bounded
   * memory here. Throws what `rows` throws; then nothing was written.
   */
  abstract import(
    rows: AsyncIterable<readonly ImportRow[]>,
    linkedBy: string,
    write: (check: ImportCheck) => boolean,
  ): Promise<{ readonly check: ImportCheck; readonly written: number | null }>;
  abstract migration(): Promise<Migration>;
}
