// Bars by the day, drawn by the server; the same numbers stand in a table behind them.
import { type Html, html, type Piece } from '../console/html.js';
import { day } from '../console/show.js';

const HEIGHT = 100;
const SLOT = 10;

export type Slot = {
  readonly day: Date;
  /** One for each series, from 0. */
  readonly values: readonly number[];
  /** The row of the table, after the day. */
  readonly cells: readonly Piece[];
  /** What pointing at it says, after the day. */
  readonly told: string;
};

export type Picture = {
  /** All of it in a sentence. */
  readonly said: string;
  readonly series: readonly { readonly name: string; readonly tone: 'events' | 'marks' | 'refunds' }[];
  readonly slots: readonly Slot[];
  /** The heads of the table, after the day. */
  readonly heads: readonly string[];
  /** The value at the top of the picture, as text; `top` where it is not the greatest of the values. */
  readonly most: (value: number) => string;
  readonly top?: number;
  /** Names the table, in the page. */
  readonly id: string;
};

/** The letters stand outside of the drawing, so that it can be stretched to any width. */
export function picture({ said, series, slots, heads, most, top, id }: Picture): Html {
  const peak = top ?? Math.max(0, ...slots.flatMap((s) => s.values));
  const width = (SLOT - 2) / series.length;
  return html`<figure class="chart">
    <p class="legend" aria-hidden="true">${series.map((s) => html`<span class="key ${s.tone}">${s.name}</span>`)}</p>
    <div class="plot">
      <p class="scale" aria-hidden="true"><span>${most(peak)}</span><span>0</span></p>
      <svg role="img" aria-label="${said}" viewBox="0 0 ${slots.length * SLOT} ${HEIGHT}" preserveAspectRatio="none">
        ${series.map(({ tone }, i) => html`<path class="${tone}" d="${bars(slots, i, width, peak)}" />`)}
        ${slots.map(
          (s, i) =>
            html`<rect class="slot" x="${i * SLOT}" width="${SLOT}" height="${HEIGHT}"
              ><title>${day(s.day)}: ${s.told}</title></rect
            >`,
        )}
      </svg>
      <p class="hours ends" aria-hidden="true">
        ${[slots[0], slots[Math.floor(slots.length / 2)], slots.at(-1)].map((s) => s && html`<span>${day(s.day)}</span>`)}
      </p>
    </div>
    <figcaption>${said}</figcaption>
    <details id="${id}">
      <summary>The same as a table</summary>
      ${plainTable(
        ['Day (UTC)', ...heads],
        slots.toReversed().map((s) => [day(s.day), ...s.cells]),
      )}
    </details>
  </figure>`;
}

function bars(slots: readonly Slot[], series: number, width: number, peak: number): string {
  const paths = slots.map((s, i) => {
    const value = s.values[series] ?? 0;
    if (value <= 0 || peak <= 0) return '';
    const height = Math.max(1.5, Math.min(1, value / peak) * HEIGHT);
    const x = i * SLOT + 1 + series * width;
    return `M${round(x)} ${HEIGHT}v-${round(height)}h${round(width)}v${round(height)}z`;
  });
  return paths.join('');
}

const round = (n: number): string => String(Math.round(n * 100) / 100);

/** A table of numbers, which stays a table on a phone: as short as it can be. */
export function plainTable(heads: readonly string[], rows: readonly (readonly Piece[])[]): Html {
  return html`<div class="sideways" tabindex="0" role="group" aria-label="Table">
    <table class="plain">
      <thead>
        <tr>
          ${heads.map((h) => (h === '' ? html`<td></td>` : html`<th scope="col">${h}</th>`))}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (cells) =>
            html`<tr>
              ${cells.map((c) => html`<td>${c}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
