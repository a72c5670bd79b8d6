// Review items one below the other, each with its full story and everything to sort it by.
import { type ReviewRow } from '../domain/model.js';
import { pickBox } from '../console/bulk.js';
import { html, type Html, type Piece } from '../console/html.js';
import { capital, foreign, status, time, words } from '../console/show.js';
import { disputeOf } from './rules/headline.js';
import { headlineOf } from './rules/words.js';

/** @param choose open items have a box, for doing something with many of them */
export function reviewItems(rows: readonly ReviewRow[], choose: boolean, empty: Piece): Html {
  if (rows.length === 0) return html`<div class="empty">${empty}</div>`;
  return html`<ul class="items">
    ${rows.map((r) => {
      const box = choose && r.status === 'open';
      return html`<li ${!box && html`class="only"`}>
        ${box && pickBox(r.id, headlineOf(r))}
        <div>
          <a href="/console/reviews/${encodeURIComponent(r.id)}"><bdi>${capital(headlineOf(r))}</bdi></a>
          <span class="meta"
            >${status(r.status)} · ${named(r)}
            ${r.dueAt !== null && r.status === 'open' && html`· decide by ${time(r.dueAt)}`}
            ${r.resolvedBy !== null && html`· ${words(r.resolution ?? '')} by ${foreign(r.resolvedBy)}`} · since
            ${time(r.createdAt)}</span
          >
        </div>
      </li>`;
    })}
  </ul>`;
}

/** Its kind, and the id if the headline leaves it out. */
function named(r: ReviewRow): Piece {
  if (r.kind !== 'dispute') return words(r.kind);
  const { what, name } = disputeOf(r.subject);
  return html`${what} <code class="id">${name}</code>`;
}
