// The ledger in sums, for a trial balance.
import { type Account } from '../model.js';

/** What moved between two accounts for one reason in one currency, before a stretch of time and in it. Smallest units. */
export type LedgerSum = {
  readonly currency: string;
  readonly reason: string;
  readonly debit: Account;
  readonly credit: Account;
  readonly before: bigint;
  readonly during: bigint;
  /** Entries in the stretch. */
  readonly entries: number;
};

export abstract class LedgerSums {
  /** By when the money moved; whole days in UTC. As of one moment, with all that is recorded by then. */
  abstract between(span: { readonly since: Date; readonly until: Date }): Promise<readonly LedgerSum[]>;
  /** Sums up some more entries, so that reading stays quick. Gives how many; 0: all that may be. Safe in many replicas at once. */
  abstract fold(): Promise<number>;
}
