// The common parts of sentences: their tone, unknown codes, and the trouble with money taken back by a bank or a
// customer.
import { asksAfterOutcome, type MorObjectRow } from './mor-object.js';
import { moment } from './when.js';

/**
 * A sentence about the state of money, with its tone. `good`: all is well. `wait`: Crossbill continues automatically.
 * `warn`: money is missing or in question. `bad`: a person must act. `calm`: nothing is due.
 */
export type Sentence = { readonly tone: 'good' | 'wait' | 'warn' | 'bad' | 'calm'; readonly text: string };

/**
 * Looks up a code that a newer release may have written. Undefined: this release does not know the code. Lists then
 * show the code as it is.
 */
export function known<T>(table: Readonly<Record<string, T>>, code: string): T | undefined {
  return Object.hasOwn(table, code) ? table[code] : undefined;
}

/** The sentence about a code that this release does not know. `what`: the kind of code, such as "status". */
export function newerCode(what: string, code: string): string {
  return `This release does not know the ${what} ${code}. Start the newer release.`;
}

type Trouble = { readonly text: string; readonly lost: boolean };

/** Describes the trouble with taken money: disputes, alerts, returned debits. */
export function troubleOf({ objects }: { readonly objects: readonly MorObjectRow[] }, now: Date): readonly Trouble[] {
  return objects.flatMap((o): readonly Trouble[] => {
    if (o.kind === 'debit_return' && o.status === 'returned')
      return [{ text: 'the bank took the debit back', lost: true }];
    if (o.kind !== 'dispute') return [];
    if (o.status === 'lost') return [{ text: 'the bank took the money back: a dispute was lost', lost: true }];
    if (o.status === 'won' && !asksAfterOutcome(o)) return [{ text: 'a dispute was won', lost: false }];
    if (o.status === 'decided') return [{ text: 'Crossbill cannot read the outcome of a dispute', lost: true }];
    const until = o.deadline === null ? '' : `: evidence is due by ${moment(o.deadline, now)}`;
    return [{ text: `the customer disputes the payment${until}`, lost: true }];
  });
}
