// Events and marks per hour as bars, drawn by the server; the same numbers stand in a table below.
import { type HourCount } from '../domain/ports/books.js';
import { type Html, html } from '../console/html.js';
import { table } from '../console/list.js';
import { clock } from '../console/show.js';

const HEIGHT = 100;
const SLOT = 10;

/** The letters stand outside of the drawing, so that it can be stretched to any width. */
export function hourChart(hours: readonly HourCount[]): Html {
  const most = Math.max(1, ...hours.map((h) => Math.max(h.events, h.marks)));
  const sum = (of: 'events' | 'marks'): number => hours.reduce((n, h) => n + h[of], 0);
  const busiest = hours.reduce<HourCount | undefined>(
    (a, b) => (a === undefined || b.events > a.events ? b : a),
    undefined,
  );
  const said =
    `${sum('events')} events and ${sum('marks')} invoices marked paid in 24 hours` +
    (busiest === undefined || busiest.events === 0 ? '.' : `; the busiest hour began at ${clock(busiest.at)} UTC.`);
  const bar = (x: number, n: number, name: string): Html => {
    const height = n === 0 ? 0 : Math.max(1.5, (n / most) * HEIGHT);
    return html`<rect class="${name}" x="${x}" y="${HEIGHT - height}" width="3.6" height="${height}" />`;
  };
  return html`<figure class="chart">
    <p class="legend" aria-hidden="true">
      <span class="key events">events received</span> <span class="key marks">invoices marked paid</span>
    </p>
    <div class="plot">
      <p class="scale" aria-hidden="true"><span>${most}</span><span>0</span></p>
      <svg role="img" aria-label="${said}" viewBox="0 0 ${hours.length * SLOT} ${HEIGHT}" preserveAspectRatio="none">
        ${hours.map(
          (h, i) =>
            html`<g>
              <title>${clock(h.at)} UTC: ${h.events} events, ${h.marks} marked paid</title>
              <rect class="slot" x="${i * SLOT}" y="0" width="${SLOT}" height="${HEIGHT}" />
              ${bar(i * SLOT + 1, h.events, 'events')}${bar(i * SLOT + 5.2, h.marks, 'marks')}
            </g>`,
        )}
      </svg>
      <p class="hours" aria-hidden="true">
        ${hours.filter((_, i) => i % 6 === 0).map((h) => html`<span>${clock(h.at)}</span>`)}
      </p>
    </div>
    <figcaption>${said}</figcaption>
    <details id="chart-table">
      <summary>The same as a table</summary>
      ${table(
        'Per hour, UTC, newest first',
        [
          { label: 'Hour', cell: (h) => html`<time datetime="${h.at.toISOString()}">${clock(h.at)}</time>` },
          { label: 'Events', cell: (h) => h.events, number: true },
          { label: 'Marked paid', cell: (h) => h.marks, number: true },
        ],
        [...hours].reverse(),
        'nothing',
      )}
    </details>
  </figure>`;
}
