// 30 or 90 days as pictures: money by currency, how renewals went, why payments were declined, how long a mark took.
import { type Html, html } from '../console/html.js';
import { count, day, duration, moneyText, section, words } from '../console/show.js';
import { type DayBacklog, type DayFigures, type DayMoney, PAID_AFTER_SEC } from '../domain/ports/day-books.js';
import { DAY_MS } from '../policy.js';
import { PERIODS } from './periods.js';
import { picture, plainTable } from './picture.js';

export type Chosen = { readonly days: (typeof PERIODS)[number]; readonly currency: string | null };

export type Trend = {
  /** The first day, and the one after the last. */
  readonly since: Date;
  readonly until: Date;
  readonly money: readonly DayMoney[];
  readonly figures: readonly DayFigures[];
  readonly backlog: readonly DayBacklog[];
};

export function trends(t: Trend, chosen: Chosen): Html {
  const currencies = byVolume(t.money);
  const currency = chosen.currency !== null && currencies.includes(chosen.currency) ? chosen.currency : currencies[0];
  const days = daysOf(t);
  return html`<nav class="tabs" aria-label="Period">
      ${PERIODS.map((n) => tab(`${n} days`, linkOf({ ...chosen, days: n }), n === chosen.days))}
    </nav>
    ${section('Money taken and refunded', moneyPart(t, days, currencies, currency, chosen))}
    ${section('Renewals that were paid', renewalsPart(t, days))}
    <div class="beside">
      ${section('Why payments were declined', declinesPart(t.figures))}
      ${section('From the charge to paid on Stripe', paidAfterPart(t.figures))}
    </div>
    ${section('The most that waited', backlogPart(t, days))}`;
}

const tab = (name: string, path: string, here: boolean): Html =>
  html`<a href="${path}" ${here && html`aria-current="true"`}>${name}</a>`;

function linkOf({ days, currency }: Chosen): string {
  const query = new URLSearchParams({ days: String(days), ...(currency === null ? {} : { currency }) });
  return `/console?${query.toString()}#money-taken-and-refunded`;
}

function daysOf({ since, until }: Trend): readonly Date[] {
  return Array.from(
    { length: Math.round((until.getTime() - since.getTime()) / DAY_MS) },
    (_, i) => new Date(since.getTime() + i * DAY_MS),
  );
}

/** The currency with the most payments first. */
function byVolume(money: readonly DayMoney[]): readonly string[] {
  const payments = new Map<string, number>();
  for (const m of money) payments.set(m.currency, (payments.get(m.currency) ?? 0) + m.payments);
  return [...payments].sort((a, b) => b[1] - a[1]).map(([currency]) => currency);
}

function moneyPart(
  t: Trend,
  days: readonly Date[],
  currencies: readonly string[],
  currency: string | undefined,
  chosen: Chosen,
): Html {
  if (currency === undefined) {
    return html`<div class="empty">
      What the MoR takes and gives back each day will be drawn here. No money has moved in these days.
    </div>`;
  }
  const of = new Map(t.money.filter((m) => m.currency === currency).map((m) => [m.day.getTime(), m]));
  const sum = (what: 'collected' | 'refunded'): bigint => [...of.values()].reduce((n, m) => n + m[what], 0n);
  const said = `${moneyText(sum('collected'), currency)} taken and ${moneyText(sum('refunded'), currency)} refunded from ${day(t.since)} to today.`;
  return html`<nav class="tabs" aria-label="Currency">
      ${currencies.map((c) => tab(c, linkOf({ ...chosen, currency: c }), c === currency))}
    </nav>
    ${picture({
      id: 'money-table',
      said,
      series: [
        { name: 'taken', tone: 'marks' },
        { name: 'refunded', tone: 'refunds' },
      ],
      heads: ['Payments', 'Taken', 'Refunded'],
      most: (n) => moneyText(BigInt(Math.round(n)), currency),
      slots: days.map((at) => {
        const m = of.get(at.getTime());
        const [taken, back] = [m?.collected ?? 0n, m?.refunded ?? 0n];
        return {
          day: at,
          values: [Number(taken), Number(back)],
          cells: [count(m?.payments ?? 0), moneyText(taken, currency), moneyText(back, currency)],
          told: `${moneyText(taken, currency)} taken, ${moneyText(back, currency)} refunded`,
        };
      }),
    })}`;
}

/** "97.4%"; a dash where there is nothing to speak of. */
const percent = (part: number, whole: number): string => (whole === 0 ? '–' : `${((part / whole) * 100).toFixed(1)}%`);

function renewalsPart(t: Trend, days: readonly Date[]): Html {
  const of = new Map(t.figures.map((f) => [f.day.getTime(), f]));
  const sum = (what: 'paid' | 'unpaid' | 'waiting'): number => t.figures.reduce((n, f) => n + f.renewals[what], 0);
  const [paid, unpaid, waiting] = [sum('paid'), sum('unpaid'), sum('waiting')];
  if (paid + unpaid + waiting === 0)
    return notCounted('How many renewals of each day were paid will be drawn here.', t);
  const said =
    `${percent(paid, paid + unpaid)} of the renewals that the MoR spoke of were paid: ${count(paid)} paid, ${count(unpaid)} not paid` +
    (waiting === 0 ? '.' : `, ${count(waiting)} without a verdict yet.`);
  return picture({
    id: 'renewals-table',
    said,
    series: [{ name: 'paid, of those with a verdict', tone: 'events' }],
    heads: ['Paid', 'Not paid', 'No verdict yet', 'Rate'],
    top: 100,
    most: (n) => `${n}%`,
    slots: days.map((at) => {
      const { paid, unpaid, waiting } = of.get(at.getTime())?.renewals ?? { paid: 0, unpaid: 0, waiting: 0 };
      const rate = percent(paid, paid + unpaid);
      return {
        day: at,
        values: [paid + unpaid === 0 ? 0 : (paid / (paid + unpaid)) * 100],
        cells: [count(paid), count(unpaid), count(waiting), rate],
        told: `${rate}: ${count(paid)} paid, ${count(unpaid)} not paid`,
      };
    }),
  });
}

function notCounted(what: string, t: Trend): Html {
  return html`<div class="empty">
    ${what}
    ${t.figures.length === 0 ? 'The days are counted within some minutes of the start.' : 'There was none in these days.'}
  </div>`;
}

/** Words that stand for a code in the table. */
const codeName = (code: string): Html => (code === '' ? html`no code given` : html`${words(code)}`);
const MOST_CODES = 8;

function declinesPart(figures: readonly DayFigures[]): Html {
  const codes = new Map<string, number>();
  for (const f of figures) {
    for (const [code, n] of Object.entries(f.declines)) codes.set(code, (codes.get(code) ?? 0) + n);
  }
  const top = [...codes].sort((a, b) => b[1] - a[1]);
  if (top.length === 0) {
    return html`<div class="empty">
      The banks' most frequent reasons will stand here. No payment has stayed declined.
    </div>`;
  }
  const all = top.reduce((n, [, of]) => n + of, 0);
  return html`${shares(
      top.slice(0, MOST_CODES).map(([code, n]) => ({ name: codeName(code), n })),
      all,
      'Reason',
    )}
    <p class="dim">Payments that are still failed, by the bank's code.</p>`;
}

function paidAfterPart(figures: readonly DayFigures[]): Html {
  const sums = Array.from({ length: PAID_AFTER_SEC.length + 1 }, (_, i) =>
    figures.reduce((n, f) => n + (f.paidAfter[i] ?? 0), 0),
  );
  const all = sums.reduce((a, b) => a + b, 0);
  if (all === 0) {
    return html`<div class="empty">
      How long it takes from the charge until Stripe shows the invoice as paid will stand here.
    </div>`;
  }
  const name = (i: number): string => {
    const limit = PAID_AFTER_SEC[i];
    return limit === undefined ? `longer than ${duration(PAID_AFTER_SEC.at(-1) ?? 0)}` : `within ${duration(limit)}`;
  };
  return html`${shares(
      sums.map((n, i) => ({ name: name(i), n })),
      all,
      'Time',
    )}
    <p class="dim">A draft is marked once it is final, an hour after Stripe made it.</p>`;
}

/** `none`: nothing waited for a second at any look. */
const waited = (sec: number): string => (sec === 0 ? 'none' : duration(sec));

function backlogPart(t: Trend, days: readonly Date[]): Html {
  if (t.backlog.length === 0) {
    return html`<div class="empty">
      The most events and calls that waited on each day will be drawn here. It is looked at once a minute.
    </div>`;
  }
  const of = new Map(t.backlog.map((b) => [b.day.getTime(), b]));
  const most = t.backlog.reduce((a, b) => (b.waiting > a.waiting ? b : a));
  const longest = Math.max(...t.backlog.map((b) => b.oldestSec));
  const said =
    most.waiting === 0
      ? 'Nothing waited at any look, one a minute.'
      : `At most ${count(most.waiting)} events and calls waited, on ${day(most.day)}; the longest wait was ${waited(longest)}. It is looked at once a minute.`;
  return picture({
    id: 'backlog-table',
    said,
    series: [{ name: 'events to decide and calls to make, at most', tone: 'events' }],
    heads: ['At most', 'Longest wait'],
    most: (n) => count(Math.round(n)),
    slots: days.map((at) => {
      const b = of.get(at.getTime());
      return {
        day: at,
        values: [b?.waiting ?? 0],
        cells: b === undefined ? ['not looked', ''] : [count(b.waiting), waited(b.oldestSec)],
        told:
          b === undefined ? 'nobody looked' : `${count(b.waiting)} waited at most, ${waited(b.oldestSec)} the longest`,
      };
    }),
  });
}

/** A table of shares, each with a bar. */
function shares(
  rows: readonly { readonly name: Html | string; readonly n: number }[],
  all: number,
  head: string,
): Html {
  return plainTable(
    [head, 'Number', 'Share', ''],
    rows.map(({ name, n }) => [
      name,
      count(n),
      percent(n, all),
      html`<svg class="share" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
        <rect width="${Math.round((n / all) * 100)}" height="10" />
      </svg>`,
    ]),
  );
}
