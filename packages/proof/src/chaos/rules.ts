// The rules of a chaos run, in addition to the rules of the demo: every acknowledged event is stored and decided, and
// nothing happened twice.
import { type Finding } from '@crossbill/sandbox/demo/check.js';
import { type Sides, TAKEN } from '@crossbill/sandbox/demo/sides.js';

/** One event for one webhook endpoint, over all its attempts. */
export type Delivered = {
  /** `stripe`, `mor_payments` or `mor_events`. */
  readonly source: string;
  readonly eventId: string;
  readonly type: string;
  /** At least one attempt got a 200. */
  readonly acknowledged: boolean;
  /** The state from the sender's view: `acknowledged`, `retry`, `sending`, `held`, `given_up`. */
  readonly state: string;
};

export type Stored = {
  readonly source: string;
  readonly eventId: string;
  /** `received`, `done`, `ignored` or `parked`. */
  readonly status: string;
  readonly reason: string | null;
};

const nameOf = (event: { readonly source: string; readonly eventId: string }): string =>
  `${event.source} ${event.eventId}`;

/** Returns the events answered with 200 and missing in the inbox. Every function in this file is pure. */
export function lost(delivered: readonly Delivered[], stored: readonly Stored[]): readonly Delivered[] {
  const there = new Set(stored.map(nameOf));
  return delivered.filter((d) => d.acknowledged && !there.has(nameOf(d)));
}

export function eventFindings(delivered: readonly Delivered[], stored: readonly Stored[]): Finding[] {
  const found: Finding[] = [];
  for (const d of lost(delivered, stored))
    found.push({ about: d.eventId, what: `${d.type} was answered 200 and is not stored` });
  for (const d of delivered)
    if (d.state === 'given_up') found.push({ about: d.eventId, what: `the sender of ${d.type} has given up` });
  for (const s of stored) {
    if (s.status === 'received') found.push({ about: s.eventId, what: 'stored and not decided' });
    if (s.status === 'parked') found.push({ about: s.eventId, what: `parked: ${s.reason ?? 'no reason'}` });
  }
  return found;
}

/** @param refundsAsked how many different refunds the daemon accepted through its API */
export function twiceFindings(sides: Sides, refundsAsked: number): Finding[] {
  const found: Finding[] = [];
  const taken = new Map<string, number>();
  for (const p of sides.mor.payments)
    if (TAKEN.has(p.status) && p.invoiceId !== null) taken.set(p.invoiceId, (taken.get(p.invoiceId) ?? 0) + 1);
  for (const [invoice, times] of taken)
    if (times > 1) found.push({ about: invoice, what: `its money was taken ${times} times` });
  const made = sides.mor.refunds.filter((r) => r.source === 'api').length;
  if (made !== refundsAsked)
    found.push({
      about: 'refunds',
      what: `the backend asked for ${refundsAsked} through the API, and the MoR has made ${made}`,
    });
  return found;
}
