// The trial balance of a month: each account's opening balance, movements and closing balance. Debits are positive,
// credits negative.
import { type Account } from '../../../shared/domain/ledger-entry.js';
import { ACCOUNTS } from '../../../shared/domain/postings.js';

/** The clearing accounts. At the month's end their balance is zero, unless work is unfinished or waits for a person. */
const CLEARING: ReadonlySet<Account> = new Set<Account>(['unmarked_payments', 'unmirrored_refunds']);

/** One account's line, in smallest units. `closing` is `opening` plus `debit` minus `credit`. */
export type AccountLine = {
  readonly account: Account;
  readonly clearing: boolean;
  readonly opening: bigint;
  readonly debit: bigint;
  readonly credit: bigint;
  readonly closing: bigint;
};

export type TrialBalance = {
  readonly currency: string;
  readonly accounts: readonly AccountLine[];
  /** The sums of all accounts, as a check: opening and closing are zero, and debit equals credit. */
  readonly total: Omit<AccountLine, 'account' | 'clearing'>;
  /** The month's movements by reason. */
  readonly moved: readonly LedgerSum[];
};

/** Makes one balance for each currency in the ledger up to the month's end, ordered by currency code. */
export function trialBalances(sums: readonly LedgerSum[]): readonly TrialBalance[] {
  const currencies = [...new Set(sums.map((s) => s.currency))].sort();
  return currencies.map((currency) => {
    const own = sums.filter((s) => s.currency === currency);
    const accounts = ACCOUNTS.map((account) => lineOf(account, own));
    const sum = (of: (line: AccountLine) => bigint): bigint => accounts.reduce((n, line) => n + of(line), 0n);
    return {
      currency,
      accounts,
      total: {
        opening: sum((l) => l.opening),
        debit: sum((l) => l.debit),
        credit: sum((l) => l.credit),
        closing: sum((l) => l.closing),
      },
      moved: own.filter((s) => s.entries > 0),
    };
  });
}

function lineOf(account: Account, sums: readonly LedgerSum[]): AccountLine {
  let [opening, debit, credit] = [0n, 0n, 0n];
  for (const s of sums) {
    if (s.debit === account) [opening, debit] = [opening + s.before, debit + s.during];
    if (s.credit === account) [opening, credit] = [opening - s.before, credit + s.during];
  }
  return { account, clearing: CLEARING.has(account), opening, debit, credit, closing: opening + debit - credit };
}

/** The unfinished amounts at the month's end, in words. Empty if Stripe shows every payment and refund. */
export function openEnds({ accounts }: TrialBalance): readonly { readonly amount: bigint; readonly what: string }[] {
  const closing = (account: Account): bigint => accounts.find((l) => l.account === account)?.closing ?? 0n;
  return [
    { amount: -closing('unmarked_payments'), what: 'was taken by the MoR, but no invoice on Stripe shows it' },
    { amount: closing('unmirrored_refunds'), what: 'was refunded by the MoR, but Stripe does not show it' },
  ].filter(({ amount }) => amount !== 0n);
}

/**
 * The month's money at the MoR, in smallest units. `lost`: the money banks took after disputes and returned debits,
 * minus the money the banks gave back.
 */
export function moneyOf({ accounts, moved }: TrialBalance): {
  readonly taken: bigint;
  readonly refunded: bigint;
  readonly lost: bigint;
  readonly kept: bigint;
} {
  const by = (reason: string): bigint => moved.filter((m) => m.reason === reason).reduce((n, m) => n + m.during, 0n);
  const on = (account: Account): bigint => {
    const line = accounts.find((l) => l.account === account);
    return line === undefined ? 0n : line.debit - line.credit;
  };
  return {
    taken: by('payment_collected'),
    refunded: by('refund_paid'),
    lost: by('dispute_lost') + by('debit_returned') - by('dispute_reversed') - by('debit_return_reversed'),
    kept: on('mor_receivable'),
  };
}

/**
 * The money moved between two accounts for one reason in one currency, in smallest units: before a span of time, and in
 * the span.
 */
export type LedgerSum = {
  readonly currency: string;
  readonly reason: string;
  readonly debit: Account;
  readonly credit: Account;
  readonly before: bigint;
  readonly during: bigint;
  /** The number of entries in the span. */
  readonly entries: number;
};
