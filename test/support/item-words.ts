// Rows of review items with their sentences, for tests of the sentences themselves.
import { type Sentences } from '../../src/domain/fact.js';
import { type ReviewRow } from '../../src/domain/model.js';
import { sentencesOf } from '../../src/reviews/rules/words.js';

/** The sentences of an item; undefined if there is none. */
export function wordsOf(r: Pick<ReviewRow, 'fact'>): Sentences;
export function wordsOf(r: Pick<ReviewRow, 'fact'> | null | undefined): Partial<Sentences>;
export function wordsOf(r: Pick<ReviewRow, 'fact'> | null | undefined): Partial<Sentences> {
  return r === null || r === undefined ? {} : sentencesOf(r);
}

/** A value with each item's sentences added. */
export function withWords(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withWords);
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value;
  if ('fact' in value && 'kind' in value) return { ...value, ...sentencesOf(value as ReviewRow) };
  return Object.fromEntries(Object.entries(value).map(([name, x]) => [name, withWords(x)]));
}
