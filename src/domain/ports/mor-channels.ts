// Proforma invoices and payment links at the MoR as the bridge sees them (Document 2).
import { type Money } from '../money.js';
import { type CallOutcome, type WireRequest } from './call.js';

export type ProformaFacts = {
  readonly morId: string;
  readonly number: string | null;
  /** The MoR's word, for example `ISSUED`. */
  readonly status: string;
  readonly merchantReference: string | null;
  /** Only with `ISSUANCE_FAILED`. */
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
  /** Its price; null if the answer left it out. */
  readonly priced: Money | null;
  /** Still outstanding; null when the answer left it out. */
  readonly due: Money | null;
  readonly expiresAt: Date | null;
};

/** `reference_taken`: a live proforma invoice holds the reference; we go on with it (Document 2). */
export type ProformaMade =
  | {
      readonly kind: 'made';
      readonly proforma: ProformaFacts;
      /** The MoR's earliest time for the next question; null: it did not say. */
      readonly retryAfterMs: number | null;
    }
  | { readonly kind: 'reference_taken'; readonly morId: string };

export type ObjectFacts =
  | { readonly kind: 'proforma'; readonly proforma: ProformaFacts }
  | { readonly kind: 'payment_link'; readonly link: LinkFacts };

export abstract class MorChannels {
  /** Sends stored bytes of either way to create a proforma invoice; the path tells them apart. */
  abstract createProforma(wire: WireRequest, key: string): Promise<CallOutcome<ProformaMade>>;
  /** The key of a link is in its bytes. */
  abstract createLink(wire: WireRequest): Promise<CallOutcome<LinkFacts>>;
  /** A fresh read. Null: the MoR does not know it (404), or does not any more. */
  abstract read(kind: 'proforma' | 'payment_link', morId: string): Promise<CallOutcome<ObjectFacts | null>>;
}
