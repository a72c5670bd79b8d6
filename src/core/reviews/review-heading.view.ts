// The heading of work for a person: what it is, and the customer and the amount instead of ids.
import { type Names } from '../../frames/console/fields.js';
import { html, type Html, type Piece } from '../../frames/console/html.js';
import { amount } from '../../frames/console/show.js';
import { type ReviewRow } from '../../shared/domain/review-row.js';
import { type ReviewAbout } from './reviews.repository.js';
import { sentencesOf } from './rules/words.js';

/** The item's summary as a sentence. It begins with a capital letter, unless its first word is an id or an event type. */
export function whatHappened(item: Pick<ReviewRow, 'fact'>): string {
  const text = sentencesOf(item).summary;
  const whole = /^[a-z]+[ ,]/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
  return /[.!?]$/.test(whole) ? whole : `${whole}.`;
}

/** For example "Double payment: Ada Example, 29.90 EUR". A customer without a known name has the id. */
export function headingOf(what: Piece, about: ReviewAbout | undefined, names: Names): Html {
  const { customerId = null, minor = null, currency = null } = about ?? {};
  const customer = customerId === null ? null : html`<bdi>${names.get(customerId) ?? customerId}</bdi>`;
  const sum = minor === null || currency === null ? null : amount(minor, currency);
  if (customer === null && sum === null) return html`${what}`;
  return html`${what}: ${customer}${customer !== null && sum !== null && ', '}${sum}`;
}
