// Proforma invoices and payment links at the MoR (Document 2), as Crossbill uses them.
import { type Money } from '../money.js';
import { type CallOutcome, type WireRequest } from './call.js';

export type ProformaFacts = {
  readonly morId: string;
  readonly number: string | null;
  /** The MoR's status, for example `ISSUED`. */
  readonly status: string;
  readonly merchantReference: string | null;
  /** Why the MoR could not issue the proforma invoice. Only with the status `ISSUANCE_FAILED`. */
  readonly failure: {
    readonly code: string | null;
    readonly message: string | null;
    readonly failedAt: Date | null;
  } | null;
};

export type LinkFacts = {
  readonly morId: string;
  readonly url: string;
  /** `PAYABLE`, `PAID`, `EXPIRED` or another word of the MoR. */
  readonly status: string;
  /** The price of the link. Null: the reply left it out. */
  readonly priced: Money | null;
  /** The amount still unpaid. Null: the reply left it out. */
  readonly due: Money | null;
  readonly expiresAt: Date | null;
};

/**
 * The reply to our request. `reference_taken`: a live proforma invoice already has this reference, and Crossbill uses
 * it (Document 2).
 */
export type ProformaMade =
  | {
      readonly kind: 'made';
      readonly proforma: ProformaFacts;
      /** The wait the MoR asked for before the next read, in milliseconds. Null: none. */
      readonly retryAfterMs: number | null;
    }
  | { readonly kind: 'reference_taken'; readonly morId: string };

export type ObjectFacts =
  | { readonly kind: 'proforma'; readonly proforma: ProformaFacts }
  | { readonly kind: 'payment_link'; readonly link: LinkFacts };

export abstract class MorChannels {
  /**
   * Sends stored bytes to create a proforma invoice. The MoR has two routes to create one, and the stored path names
   * the route.
   */
  abstract createProforma(wire: WireRequest, key: string): Promise<CallOutcome<ProformaMade>>;
  /** Creates a payment link. The stored bytes already contain the request's key. */
  abstract createLink(wire: WireRequest): Promise<CallOutcome<LinkFacts>>;
  /** Reads the object at the MoR. Null: the MoR does not know it, or no longer knows it (404). */
  abstract read(kind: 'proforma' | 'payment_link', morId: string): Promise<CallOutcome<ObjectFacts | null>>;
}
