// Deliveries: what each door answered in the last 24 hours, and the last refusals, each with what to check.
import { Get, Req, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { Page } from '../console/console.guard.js';
import { type Html, html } from '../console/html.js';
import { sendPage } from '../console/layout.js';
import { type Column, table } from '../console/list.js';
import { Pages } from '../console/pages.js';
import { clock, count, section, status, time } from '../console/show.js';
import { Clock } from '../domain/ports/clock.js';
import { type DoorAnswer, DoorBooks, type DoorRefusal } from '../domain/ports/door-books.js';
import { type InboxSource } from '../domain/ports/inbox.js';
import { whatToCheck } from '../domain/refusal.js';
import { HOUR_MS } from '../policy.js';
import { SENDERS } from './needs.js';
import { plainTable } from './picture.js';

const DOORS = Object.keys(SENDERS) as InboxSource[];
const HOURS = 24;
const REFUSALS = 25;
const EVERY_SEC = 15;

const REFUSED: readonly Column<DoorRefusal>[] = [
  { label: 'Answer', cell: (r) => status(String(r.status)), phone: 'side' },
  { label: 'At', cell: (r) => time(r.at) },
  { label: 'Sender', cell: (r) => SENDERS[r.door], phone: 'lead' },
  { label: 'Reason', cell: (r) => html`<code>${r.why}</code>` },
  { label: 'Check', cell: (r) => whatToCheck(r.door, r.why) },
  { label: 'From', cell: (r) => html`<code>${r.address === '' ? 'gone' : r.address}</code>` },
];

@Pages('console/deliveries')
export class DeliveryPages {
  constructor(
    private readonly doors: DoorBooks,
    private readonly clock: Clock,
  ) {}

  @Get()
  @Page('delivery.list')
  async list(@Req() req: Request, @Res() res: Response): Promise<void> {
    const first = new Date((Math.floor(this.clock.now().getTime() / HOUR_MS) - HOURS + 1) * HOUR_MS);
    const [answers, refusals] = await Promise.all([this.doors.answers(first), this.doors.refusals(REFUSALS)]);
    const live = html`<p class="dim">
        Written down every few seconds, by all replicas together. No body is kept of what was refused.
      </p>
      ${DOORS.map((door) =>
        section(
          `From ${SENDERS[door]}`,
          hoursOf(
            answers.filter((a) => a.door === door),
            first,
          ),
        ),
      )}
      ${section(
        'Last refusals',
        table(
          'Newest first',
          REFUSED,
          refusals,
          'A refused delivery will stand here, with its reason and what to check. None was.',
        ),
      )}`;
    sendPage(req, res, {
      title: 'Deliveries',
      section: 'deliveries',
      body: null,
      live: { html: live, everySec: EVERY_SEC },
    });
  }
}

const GROUPS = [
  { name: 'taken (200)', tone: 'marks', has: (s: number): boolean => s === 200 },
  { name: 'refused (401)', tone: 'refused', has: (s: number): boolean => s === 401 },
  { name: 'asked to come again (503)', tone: 'again', has: (s: number): boolean => s === 503 },
  { name: 'other answers', tone: 'events', has: (s: number): boolean => ![200, 401, 503].includes(s) },
] as const;

/** One row an hour: a bar of its answers, by what was said. */
function hoursOf(answers: readonly DoorAnswer[], first: Date): Html {
  if (answers.length === 0)
    return html`<div class="empty">Its deliveries will be drawn here. None came in 24 hours.</div>`;
  const hours = Array.from({ length: HOURS }, (_, i) => {
    const at = new Date(first.getTime() + i * HOUR_MS);
    const of = answers.filter((a) => a.hour.getTime() === at.getTime());
    return { at, sums: GROUPS.map((g) => of.filter((a) => g.has(a.status)).reduce((n, a) => n + a.n, 0)) };
  });
  const all = GROUPS.map((_, g) => hours.reduce((n, h) => n + (h.sums[g] ?? 0), 0));
  const most = Math.max(1, ...hours.map((h) => h.sums.reduce((a, b) => a + b, 0)));
  const said = GROUPS.map((g, i) => `${count(all[i] ?? 0)} ${g.name}`).join(', ');
  return html`<figure class="chart low">
    <p class="legend" aria-hidden="true">${GROUPS.map((g) => html`<span class="key ${g.tone}">${g.name}</span>`)}</p>
    <div class="plot">
      <p class="scale" aria-hidden="true"><span>${count(most)}</span><span>0</span></p>
      <svg role="img" aria-label="${said}" viewBox="0 0 ${HOURS * 10} 100" preserveAspectRatio="none">
        ${hours.map((h, i) => bar(h.sums, i * 10 + 1, most))}
      </svg>
      <p class="hours" aria-hidden="true">
        ${hours.filter((_, i) => i % 6 === 0).map((h) => html`<span>${clock(h.at)}</span>`)}
      </p>
    </div>
    <figcaption>In 24 hours: ${said}. Hours are UTC.</figcaption>
    <details id="hours-${answers[0]?.door}">
      <summary>The same as a table</summary>
      ${plainTable(
        ['Hour (UTC)', ...GROUPS.map((g) => g.name)],
        hours.toReversed().map((h) => [clock(h.at), ...h.sums.map(count)]),
      )}
    </details>
  </figure>`;
}

/** The answers of an hour, one above the other. */
function bar(sums: readonly number[], x: number, most: number): Html {
  let below = 0;
  return html`${sums.map((n, g) => {
    if (n === 0) return null;
    const height = Math.max(2, (n / most) * 100);
    below += height;
    return html`<rect
      class="${GROUPS[g]?.tone}"
      x="${x}"
      y="${Math.max(0, 100 - below).toFixed(1)}"
      width="8"
      height="${height.toFixed(1)}"
    />`;
  })}`;
}
