// The first page: what needs somebody, today at a glance, and the last weeks as pictures.
import { Get, Req, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { invalid, notFound } from '../api/http/problem.js';
import { answersOf } from '../domain/door-answers.js';
import { parseCurrency } from '../domain/money.js';
import { type DoorAnswer } from '../domain/ports/door-books.js';
import { Page } from '../console/console.guard.js';
import { FromStandby } from '../console/from-standby.js';
import { hourChart } from './chart.js';
import { Figures, type Seen } from './figures.js';
import { type Html, html } from '../console/html.js';
import { sendPage } from '../console/layout.js';
import { Pages } from '../console/pages.js';
import { queryText, table } from '../console/list.js';
import { amount, count, dotted, duration, eventLink, headed, section, status, time } from '../console/show.js';
import { needsYou, SENDERS } from './needs.js';
import { PERIODS } from './periods.js';
import { type Chosen, trends } from './trends.js';

const EVERY_SEC = 15;
const DOORS = {
  stripe: '/webhooks/stripe',
  mor_payments: '/webhooks/mor/payments',
  mor_events: '/webhooks/mor/events',
};

@Pages('console')
export class OverviewController {
  constructor(private readonly figures: Figures) {}

  @Get()
  @Page('console.overview')
  @FromStandby()
  async overview(@Req() req: Request, @Res() res: Response): Promise<void> {
    const chosen = chosenOf(req);
    const [seen, trend] = await Promise.all([this.figures.now(), this.figures.trend(chosen.days)]);
    sendPage(req, res, {
      title: 'Overview',
      section: '',
      body: null,
      live: { html: glance(seen, hostOf(req)), everySec: EVERY_SEC },
      after: trends(trend, chosen),
    });
  }

  @Get('*path')
  @Page('console.unknown')
  unknown(): never {
    throw notFound('page');
  }
}

function chosenOf(req: Request): Chosen {
  const asked = queryText(req, 'days');
  const days = asked === '' ? 30 : PERIODS.find((n) => String(n) === asked);
  if (days === undefined) throw invalid('days', `must be one of ${PERIODS.join(', ')}`);
  return { days, currency: parseCurrency(queryText(req, 'currency')) };
}

/** The address under which the reader sees us, as a start for the address that senders need. */
function hostOf(req: Request): string {
  const host = req.headers.host ?? '';
  if (!/^[\w.:[\]-]+$/.test(host)) return 'https://<this host>';
  return /^(127\.|localhost|\[::1])/.test(host) ? `http://${host}` : `https://${host}`;
}

function glance({ overview: o, backlog: b, waiting }: Seen, host: string): Html {
  const tile = (n: Html | string | number, what: string, path: string, alarm = false): Html =>
    html`<li ${alarm && html`class="alarm"`}>
      <a href="${path}"
        ><span class="count">${typeof n === 'number' ? count(n) : n}</span> <span class="what">${what}</span></a
      >
    </li>`;
  const of = (name: 'expected' | 'open' | 'held' | 'marking' | 'review'): number => o.unsettled.get(name) ?? 0;
  const waits = b.waitingEvents + b.pendingMessages;
  const today = o.dayStart.toISOString().slice(0, 10);
  return html`${needsYou(waiting, o.at)}
    <p class="dim">As of ${time(o.at)}. A day is a UTC day, and money counts on the day on which the MoR moved it.</p>
    <ul class="tiles" aria-label="Invoices">
      ${tile(o.takenToday, 'payments taken today', `/console/ledger?reason=payment_collected&since=${today}`)}
      ${tile(of('expected'), 'expected: no verdict yet', '/console/invoices?status=expected')}
      ${tile(of('open'), 'open: not paid', '/console/invoices?status=open')}
      ${tile(of('held'), 'held: paid, still a draft', '/console/invoices?status=held')}
      ${tile(of('marking'), 'being marked', '/console/invoices?status=marking')}
      ${tile(of('review'), 'in review', '/console/invoices?status=review', of('review') > 0)}
    </ul>
    <ul class="tiles" aria-label="Backlog">
      ${tile(b.waitingEvents, 'events to decide', '/console/events?status=received')}
      ${tile(b.pendingMessages, 'calls to make', '/console/invoices?status=marking')}
      ${tile(waits === 0 ? 'none' : duration(b.oldestSeconds), 'oldest thing waiting', '/console/events?status=received')}
    </ul>
    ${section('Money today', moneyToday(o.money, today))} ${section('Last 24 hours', hourChart(o.hours))}
    ${section('The doors', doors(waiting.answers, o.lastEvents, o.at, host))}`;
}

function moneyToday(money: Seen['overview']['money'], today: string): Html {
  const list = (reason: string, currency: string, what: Html): Html =>
    html`<a href="/console/ledger?reason=${reason}&amp;currency=${currency}&amp;since=${today}">${what}</a>`;
  return table(
    'Taken and refunded by the MoR since midnight UTC',
    [
      { label: 'Currency', cell: (m) => m.currency, phone: 'lead' },
      {
        label: 'Payments',
        cell: (m) =>
          html`${count(m.payments)}<span class="on-phone"> ${m.payments === 1 ? 'payment' : 'payments'}</span>`,
        number: true,
      },
      {
        label: 'Taken',
        cell: (m) => list('payment_collected', m.currency, amount(m.collected, m.currency)),
        number: true,
        phone: 'side',
      },
      {
        label: 'Refunded',
        cell: (m) => headed('refunded', list('refund_paid', m.currency, amount(m.refunded, m.currency))),
        number: true,
      },
    ],
    money,
    'What the MoR takes and gives back today will stand here, by currency.',
  );
}

function doors(answers: readonly DoorAnswer[], events: Seen['overview']['lastEvents'], now: Date, host: string): Html {
  const rows = (Object.keys(DOORS) as (keyof typeof DOORS)[]).map((source) => ({
    source,
    event: events.find((e) => e.source === source) ?? null,
    answered: answersOf(answers, source),
  }));
  return html`${table(
      'Answers in 24 hours, and the last event from each sender: a silent one may have the wrong address or the wrong secret',
      [
        { label: 'Sender', cell: (r) => SENDERS[r.source], phone: 'lead' },
        ...[200, 401, 503].map((code) => ({
          label: String(code),
          cell: (r: (typeof rows)[number]) => headed(`${code}:`, count(r.answered.get(code) ?? 0)),
          number: true,
        })),
        {
          label: 'Last event',
          cell: ({ source, event }) =>
            event === null
              ? html`none yet: register <code>${host}${DOORS[source]}</code> there`
              : html`${dotted(event.type)} ${eventLink(event.id)}`,
        },
        { label: 'Status', cell: (r) => (r.event === null ? '' : status(r.event.status)), phone: 'side' },
        {
          label: 'Received',
          cell: ({ event }) =>
            event === null
              ? ''
              : html`${time(event.receivedAt)}
                  <span class="dim">${ago((now.getTime() - event.receivedAt.getTime()) / 1000)}</span>`,
        },
      ],
      rows,
      '',
    )}
    <p><a href="/console/deliveries">Deliveries hour by hour</a></p>`;
}

/** Coarse on purpose: a text that changes with every second would be news with every second. */
function ago(seconds: number): string {
  return seconds < 60 ? 'less than a minute ago' : `${duration(seconds)} ago`;
}
