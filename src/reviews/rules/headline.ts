// What happened, said above an item: in words alone. The dispute it names and its deadline stand beside it.
import { type ReviewRow } from '../../domain/model.js';

/** The summary of a dispute's item (disputes/rules/settle-disputes.ts) without the dispute's id and the deadline that the row has itself. */
export function headlineOf({
  kind,
  subject,
  summary,
  dueAt,
}: Pick<ReviewRow, 'kind' | 'subject' | 'summary' | 'dueAt'>): string {
  if (kind !== 'dispute') return summary;
  const { what, name } = disputeOf(subject);
  const unnamed = summary
    .replace(`: ${what} ${name}, evidence`, ': evidence')
    .replace(`: ${what} ${name} on `, ': on ')
    .replace(`${what} ${name}`, `the ${what}`)
    .replace(/ on (?:a payment|payment [^\s,]+),?/, '')
    .replace(/ of payment [^\s,]+/, ' of the payment');
  if (dueAt === null) return unnamed;
  return unnamed.replace(/ by \d{4}-\d\d-\d\d \d\d:\d\d UTC/, '').replace(/: to be handled$/, '');
}

/** The dispute or alert that an item is named after: `dp_1:lost` is the dispute `dp_1`. */
export function disputeOf(subject: string): { readonly what: 'dispute' | 'alert'; readonly name: string } {
  const [, alert, name = subject] = /^(alert:)?(.*?)(?::(?:revision|lost|decided|won|outcome))?$/s.exec(subject) ?? [];
  return { what: alert === undefined ? 'dispute' : 'alert', name };
}
