// Refused renewals on the first page: nobody tries these again, so only a person can get them paid.
import { html } from '../../frames/console/html.js';
import { type Needed } from '../../frames/console/needs.js';
import { capital } from '../../frames/console/show.js';
import { refusalWords } from '../../shared/domain/decline-words.js';
import { day } from '../../shared/domain/when.js';
import { type UnplannedInvoice } from './retries.repository.js';

/** The most refused renewals on the first page. */
export const REFUSED_SHOWN = 8;

/** `unplanned`: refused renewals with nothing planned, the newest first. */
export function refusedNeeds(unplanned: readonly UnplannedInvoice[], now: Date): Needed {
  const needs = unplanned.slice(0, REFUSED_SHOWN).map(({ invoiceId, refusal, ...about }) => ({
    what: 'Refused renewal',
    about,
    detail: `${capital(refusalWords({ ...refusal, declineCode: refusal.code, failureMessage: null }))}, ${day(new Date(refusal.at), now)}.`,
    next: 'Nothing is planned. Open it to retry, to send a payment link, or to end it.',
    path: `/console/invoices/${encodeURIComponent(invoiceId)}`,
  }));
  const isMore = unplanned.length > REFUSED_SHOWN;
  return { needs, ...(isMore ? { more: html`<p><a href="/console/retries">More refused renewals</a></p>` } : {}) };
}
