// The final report: the strikes, the merchant's acts, and whether the ledger, Stripe and the MoR agree.
import { type Outcome } from './books.js';
import { type Kind, KINDS } from './schedule.js';
import { TAKEN } from '@crossbill/sandbox/demo/sides.js';

export type Numbers = {
  /** The title, such as `Chaos, seed 7`. */
  readonly title: string;
  /** How long the strikes went on, in milliseconds. */
  readonly lastedMs: number;
  /** The number of strikes of each kind. Empty: a run without strikes. */
  readonly strikes: ReadonlyMap<Kind, number>;
  /** The count of each of the merchant's acts. */
  readonly done: ReadonlyMap<string, number>;
  readonly daemonDeaths: number;
  readonly serverStarts: number;
  readonly more: readonly string[];
  /** The folder of the logs. Null: the logs are not kept. */
  readonly logs: string | null;
};

const SHOWN = 40;

/** True if no rule is broken. If `crossbill verify` ran, it must be clean too. */
export function isClean(outcome: Outcome): boolean {
  return outcome.findings.length === 0 && (outcome.verify === null || outcome.verify.verdict === 'clean');
}

/** The report, line by line. Pure. */
export function reportLines(outcome: Outcome, numbers: Numbers): readonly string[] {
  const { sides, delivered, stored, findings, verify } = outcome;
  const strikes = [...numbers.strikes].sort(([, a], [, b]) => b - a);
  const total = strikes.reduce((sum, [, times]) => sum + times, 0);
  const taken = sides.mor.payments.filter((p) => TAKEN.has(p.status)).length;
  const refunded = sides.mor.refunds.filter((r) => r.status === 'succeeded').length;
  const acknowledged = delivered.filter((d) => d.acknowledged).length;
  const open = sides.daemon.reviews.filter((r) => r.status === 'open').length;
  return [
    '',
    `${numbers.title}: ${(numbers.lastedMs / 60_000).toFixed(1)} minutes${total === 0 ? '' : `, ${counted(total, 'strike')}`}.`,
    ...strikes.map(([kind, times]) => `  ${String(times).padStart(5)}  ${KINDS[kind]}`),
    `${numbers.daemonDeaths === 0 ? 'No daemon ended' : `A daemon ended ${counted(numbers.daemonDeaths, 'time')} and was started again`}; ` +
      `PostgreSQL was started ${counted(numbers.serverStarts, 'time')}.`,
    'What the merchant did:',
    ...[...numbers.done]
      .sort(([, a], [, b]) => b - a)
      .map(([what, times]) => `  ${String(times).padStart(5)}  ${what}`),
    ...numbers.more,
    `${counted(acknowledged, 'event')} ${acknowledged === 1 ? 'was' : 'were'} answered 200; ${stored.length} are stored, ` +
      `${stored.filter((s) => s.status === 'received').length} of them not decided.`,
    `The MoR took ${counted(taken, 'payment')} and gave ${counted(refunded, 'refund')} back; ` +
      `Stripe shows ${counted(sides.stripe.records.length, 'payment record')}; ` +
      `the ledger has ${counted(sides.daemon.ledger.length, 'entry', 'entries')}; ${counted(open, 'review item waits', 'review items wait')} for a person.`,
    findings.length === 0
      ? 'The ledger, Stripe and the MoR agree: nothing lost, nothing done twice.'
      : `${counted(findings.length, 'difference')}:`,
    ...findings.slice(0, SHOWN).map((f) => `  ${f.about}: ${f.what}`),
    ...(findings.length > SHOWN ? [`  and ${findings.length - SHOWN} more`] : []),
    verify === null ? 'crossbill verify was not run.' : `crossbill verify: ${verify.verdict}.`,
    ...(verify === null || verify.verdict === 'clean' ? [] : verify.said.split('\n').slice(0, SHOWN)),
    isClean(outcome) ? 'Every rule holds.' : 'A rule is broken.',
    ...(numbers.logs === null ? [] : [`The logs are kept in ${numbers.logs}`]),
  ];
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
