// What was last seen of what the platform would charge by itself, by subscription, or by customer for invoices without one.
import { type ChargedFor, type ChargedMethod } from './billing-reader.js';

export type ChargeLook = { readonly key: string; readonly charged: ChargedMethod | null };

/** A method on the invoice itself is nobody else's: it has no key. */
export function chargeKey({ customerId, subscriptionId, ownMethodId }: ChargedFor): string | null {
  return ownMethodId === null ? (subscriptionId ?? customerId) : null;
}

export abstract class ChargeLooks {
  /** A look that is not older than `withinMs` milliseconds; null: there is none. */
  abstract recent(key: string, withinMs: number): Promise<ChargeLook | null>;
  /** They were made now. */
  abstract keep(looks: readonly ChargeLook[]): Promise<void>;
}
