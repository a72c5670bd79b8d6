// A review item: a fact, and what a person may choose about it.
import { rowOf, key, word, text, json, words, time, type RowOf } from './row.js';
import { type ReviewKind, type FactCode, type Fact, FACT_WAY } from './fact.js';
import { withoutWords } from './foreign-words.js';

export const RESOLUTIONS = ['apply', 'refund', 'retry', 'credit', 'dismiss'] as const;
export type Resolution = (typeof RESOLUTIONS)[number];

export const REVIEW = rowOf('review', {
  id: key(),
  kind: word<ReviewKind>(),
  status: word<'open' | 'resolved'>(),
  /** The code of the fact. */
  topic: word<FactCode>(),
  /** The id of the item's object. For each kind, topic and subject only one item is open. */
  subject: text(),
  invoiceId: text().orNull,
  /** Our id of the payment. */
  paymentRowId: text().orNull,
  refundId: text().orNull,
  /** Why the item is open. Pages make their sentences from the fact. */
  fact: json<Fact>(FACT_WAY).said(withoutWords),
  /** What a person may choose. The choice `refund` also needs the MoR's id of the payment. */
  actions: words<Resolution>(),
  /** One of the actions. Null: a person must find something out first. */
  proposed: word<Resolution>().orNull,
  /** The deadline for a person. Null: there is none. */
  dueAt: time().orNull,
  createdAt: time(),
  resolvedAt: time().orNull,
  /** The name of an API key, or `crossbill` if the item closed automatically. */
  resolvedBy: text().orNull,
  resolution: word<Resolution | 'cleared'>().orNull,
  note: text().orNull.said(),
});
export type ReviewRow = RowOf<typeof REVIEW>;
