// A bar chart of money by day in one currency. A table below has the same numbers.
import { type Html, html, type Piece } from '../../frames/console/html.js';
import { count, day, moneyText } from '../../frames/console/show.js';
import { type DayMoney, type Days } from './days.repository.js';
import { DAY_MS } from '../../shared/policy.js';

const HEIGHT = 100;
const SLOT = 10;
const WIDTH = (SLOT - 2) / 2;

type Slot = { readonly day: Date; readonly taken: bigint; readonly refunded: bigint; readonly payments: number };

/**
 * Draws the chart and its table.
 * @param chosen the currency to show. If it is null or has no money, the chart shows the currency with the most
 * payments
 */
export function moneyChart(money: readonly DayMoney[], days: Days, chosen: string | null): Html {
  const currencies = byVolume(money);
  const currency = currencies.find((c) => c === chosen) ?? currencies[0];
  if (currency === undefined) {
    return html`<div class="empty">
      The chart of money taken and refunded each day appears here. No money has moved in these days.
    </div>`;
  }
  return html`<nav class="tabs" aria-label="Currency">${currencies.map((c) => tab(c, c === currency))}</nav>
    ${drawn(slotsOf(money, days, currency), currency)}`;
}

const tab = (currency: string, here: boolean): Html =>
  html`<a href="/console?currency=${currency}#money-by-day" ${here && html`aria-current="true"`}>${currency}</a>`;

/** The currencies, the one with the most payments first. */
function byVolume(money: readonly DayMoney[]): readonly string[] {
  const payments = new Map<string, number>();
  for (const m of money) payments.set(m.currency, (payments.get(m.currency) ?? 0) + m.payments);
  return [...payments].sort((a, b) => b[1] - a[1]).map(([currency]) => currency);
}

function slotsOf(money: readonly DayMoney[], { since, until }: Days, currency: string): readonly Slot[] {
  const own = new Map(money.filter((m) => m.currency === currency).map((m) => [m.day.getTime(), m]));
  return Array.from({ length: Math.round((until.getTime() - since.getTime()) / DAY_MS) }, (_, i) => {
    const at = new Date(since.getTime() + i * DAY_MS);
    const m = own.get(at.getTime());
    return { day: at, taken: m?.collected ?? 0n, refunded: m?.refunded ?? 0n, payments: m?.payments ?? 0 };
  });
}

/** Draws the bars. All text stands outside the SVG, so the SVG fits any width without stretched letters. */
function drawn(slots: readonly Slot[], currency: string): Html {
  const show = (minor: bigint): string => moneyText(minor, currency);
  const sum = (what: 'taken' | 'refunded'): string => show(slots.reduce((n, s) => n + s[what], 0n));
  const said = `${sum('taken')} taken and ${sum('refunded')} refunded in ${slots.length} days.`;
  const peak = slots.reduce((most, s) => [most, s.taken, s.refunded].reduce((a, b) => (b > a ? b : a)), 0n);
  return html`<figure class="chart">
    <p class="legend" aria-hidden="true">
      <span class="key marks">taken</span> <span class="key refunds">refunded</span>
    </p>
    <div class="plot">
      <p class="scale" aria-hidden="true"><span>${show(peak)}</span><span>0</span></p>
      <svg role="img" aria-label="${said}" viewBox="0 0 ${slots.length * SLOT} ${HEIGHT}" preserveAspectRatio="none">
        <path class="marks" d="${slots.map((s, i) => bar(s.taken, i * SLOT + 1, peak)).join('')}" />
        <path class="refunds" d="${slots.map((s, i) => bar(s.refunded, i * SLOT + 1 + WIDTH, peak)).join('')}" />
        ${slots.map(
          (s, i) =>
            html`<rect class="slot" x="${i * SLOT}" width="${SLOT}" height="${HEIGHT}"
              ><title>${day(s.day)}: ${show(s.taken)} taken, ${show(s.refunded)} refunded</title></rect
            >`,
        )}
      </svg>
      <p class="ends" aria-hidden="true">
        ${[slots[0], slots[Math.floor(slots.length / 2)], slots.at(-1)].map((s) => s && html`<span>${day(s.day)}</span>`)}
      </p>
    </div>
    <figcaption>${said}</figcaption>
    <details id="money-table">
      <summary>The same as a table</summary>
      ${plainTable(
        ['Day (UTC)', 'Payments', 'Taken', 'Refunded'],
        slots.toReversed().map((s) => [day(s.day), count(s.payments), show(s.taken), show(s.refunded)]),
      )}
    </details>
  </figure>`;
}

function bar(minor: bigint, value: number, peak: bigint): string {
  if (minor <= 0n || peak <= 0n) return '';
  const height = Math.max(1.5, (Number(minor) / Number(peak)) * HEIGHT);
  return `M${value} ${HEIGHT}v-${Math.round(height * 100) / 100}h${WIDTH}V${HEIGHT}z`;
}

/** A short table of numbers. It stays a table on a phone. */
function plainTable(heads: readonly string[], rows: readonly (readonly Piece[])[]): Html {
  return html`<div class="sideways" tabindex="0" role="group" aria-label="Table">
    <table class="plain">
      <thead>
        <tr>
          ${heads.map((h) => html`<th scope="col">${h}</th>`)}
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
