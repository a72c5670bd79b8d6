// The story of a thing, line by line, oldest first: every event, decision, call and person.
import { type JournalLine } from '../domain/model.js';
import { type Html, html } from './html.js';
import { foreign, reference, time, words } from './show.js';

export function timeline(journal: readonly JournalLine[]): Html {
  if (journal.length === 0) return html`<p class="empty">Nothing has happened yet.</p>`;
  return html`<ol class="timeline">
    ${journal.map(
      (line) =>
        html`<li class="${line.kind}">
          <span class="meta">${time(line.at)} · ${line.kind}</span>
          <span class="said"
            >${foreign(line.text)}
            <span class="meta"
              >${line.ref !== null && line.kind !== 'call' && reference(line.ref)}
              ${line.detail !== null && details(line.detail)}</span
            ></span
          >
        </li>`,
    )}
  </ol>`;
}

/** Of a call: its name stands in the text, and its key is for the API's readers. */
const LEFT_OUT: ReadonlySet<string> = new Set(['call', 'key']);

function details(detail: NonNullable<JournalLine['detail']>): Html {
  const shown = Object.entries(detail).filter(([name, value]) => value !== null && !LEFT_OUT.has(name));
  return html`${shown.map(([name, value], i) => html`${i > 0 && ' · '}${words(name)} <bdi>${String(value)}</bdi>`)}`;
}
