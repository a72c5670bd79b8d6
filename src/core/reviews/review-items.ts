// Draws review items below each other, each with its whole text.
import { type ReviewRow } from '../../shared/domain/review-row.js';
import { pickBox } from '../../frames/console/bulk.js';
import { html, type Html, type Piece } from '../../frames/console/html.js';
import { type Typed } from '../../frames/console/typed.js';
import { foreign, status, time, words } from '../../frames/console/show.js';
import { whatHappened } from './review-heading.view.js';
import { sentencesOf } from './rules/words.js';

export type ShownReview = { readonly row: ReviewRow; readonly heading: Html };

/**
 * Draws the items.
 * @param boxes the form for one action on many items: each open item has a box. Null: no item has one
 */
export function reviewItems(rows: readonly ShownReview[], boxes: Typed | null, empty: Piece): Html {
  if (rows.length === 0) return html`<div class="empty">${empty}</div>`;
  return html`<ul class="items">
    ${rows.map(({ row: r, heading }) => {
      const form = r.status === 'open' ? boxes : null;
      return html`<li ${form === null && html`class="only"`}>
        ${form !== null && pickBox(r.id, sentencesOf(r).summary, form)}
        <div>
          <a href="/console/reviews/${encodeURIComponent(r.id)}">${heading}</a>
          <span><bdi>${whatHappened(r)}</bdi></span>
          <span class="meta"
            >${status(r.status)} ${r.dueAt !== null && r.status === 'open' && html`· decide by ${time(r.dueAt)}`}
            ${r.resolvedBy !== null && html`· ${words(r.resolution ?? '')} by ${foreign(r.resolvedBy)}`} · since
            ${time(r.createdAt)}</span
          >
        </div>
      </li>`;
    })}
  </ul>`;
}
