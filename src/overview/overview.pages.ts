// The first page: today at a glance, and the search for an id of any kind.
import { Get, Req, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { notFound } from '../api/http/problem.js';
import { Books } from '../domain/ports/books.js';
import { Page } from '../console/console.guard.js';
import { hourChart } from './chart.js';
import { Figures, type Seen } from './figures.js';
import { type Html, html } from '../console/html.js';
import { secure, sendPage } from '../console/layout.js';
import { Pages } from '../console/pages.js';
import { queryText, table } from '../console/list.js';
import { amount, dotted, duration, eventLink, section, status, time, words } from '../console/show.js';

const EVERY_SEC = 15;
const DOORS = {
  stripe: '/webhooks/stripe',
  mor_payments: '/webhooks/mor/payments',
  mor_events: '/webhooks/mor/events',
};
const SENDERS = { stripe: 'Stripe', mor_payments: 'the MoR, payments', mor_events: 'the MoR, other events' };

@Pages('console')
export class OverviewController {
  constructor(
    private readonly figures: Figures,
    private readonly books: Books,
  ) {}

  @Get()
  @Page('console.overview')
  async overview(@Req() req: Request, @Res() res: Response): Promise<void> {
    const live = glance(await this.figures.now(), hostOf(req));
    sendPage(req, res, { title: 'Overview', section: '', body: null, live: { html: live, everySec: EVERY_SEC } });
  }

  @Get('find')
  @Page('console.find')
  async find(@Req() req: Request, @Res() res: Response): Promise<void> {
    const sought = queryText(req, 'q');
    const path = sought === '' ? '' : await this.pathOf(sought);
    if (path === null) throw notFound('the whole id');
    secure(res);
    res.redirect(303, `/console${path}`);
  }

  @Get('*path')
  @Page('console.unknown')
  unknown(): never {
    throw notFound('page');
  }

  private async pathOf(id: string): Promise<string | null> {
    const named = encodeURIComponent(id);
    if ((await this.books.payment(id)) !== null) return `/payments/${named}`;
    if ((await this.books.refund(id)) !== null) return `/refunds/${named}`;
    if ((await this.books.review(id)) !== null) return `/reviews/${named}`;
    if ((await this.books.event(id)) !== null) return `/events/${named}`;
    if ((await this.books.invoice(id)) !== null) return `/invoices/${named}`;
    const [ofCharge] = await this.books.invoicesOfCharge(id);
    if (ofCharge !== undefined) return `/invoices/${encodeURIComponent(ofCharge)}`;
    if ((await this.books.customer(id)) !== null) return `/invoices?customer_id=${named}`;
    const events = await this.books.events({ eventId: id }, { limit: 1, cursor: null });
    return events.data.length > 0 ? `/events?event_id=${named}` : null;
  }
}

/** The address under which the reader sees us, as a start for the address that senders need. */
function hostOf(req: Request): string {
  const host = req.headers.host ?? '';
  if (!/^[\w.:[\]-]+$/.test(host)) return 'https://<this host>';
  return /^(127\.|localhost|\[::1])/.test(host) ? `http://${host}` : `https://${host}`;
}

function glance({ overview: o, backlog: b }: Seen, host: string): Html {
  const reviews = [...b.openReviews.values()].reduce((sum, n) => sum + n, 0);
  const tile = (count: Html | string | number, what: string, path: string, alarm = false): Html =>
    html`<li ${alarm && html`class="alarm"`}>
      <a href="${path}"><span class="count">${count}</span> <span class="what">${what}</span></a>
    </li>`;
  const of = (name: 'expected' | 'open' | 'held' | 'marking' | 'review'): number => o.unsettled.get(name) ?? 0;
  const waiting = b.waitingEvents + b.pendingMessages;
  return html`<p class="dim">As of ${time(o.at)}; a day is a UTC day.</p>
    <ul class="tiles" aria-label="Invoices">
      ${tile(of('expected'), 'expected: no verdict yet', '/console/invoices?status=expected')}
      ${tile(o.paidToday, 'marked paid today', '/console/invoices?status=paid')}
      ${tile(of('open'), 'open: not paid', '/console/invoices?status=open')}
      ${tile(of('held'), 'held: paid, still a draft', '/console/invoices?status=held')}
      ${tile(of('marking'), 'being marked', '/console/invoices?status=marking')}
      ${tile(of('review'), 'in review', '/console/invoices?status=review', of('review') > 0)}
    </ul>
    <ul class="tiles" aria-label="Work">
      ${tile(reviews, 'review items open', '/console/reviews?status=open', reviews > 0)}
      ${tile(b.parkedEvents, 'events parked', '/console/events?status=parked', b.parkedEvents > 0)}
      ${tile(b.waitingEvents, 'events to decide', '/console/events?status=received')}
      ${tile(b.pendingMessages, 'calls to make', '/console/invoices?status=marking')}
      ${tile(waiting === 0 ? 'none' : duration(b.oldestSeconds), 'oldest thing waiting', '/console/events?status=received')}
    </ul>
    ${section('Money today', moneyToday(o.money))} ${section('Last 24 hours', hourChart(o.hours))}
    ${section('Last event from each sender', senders(o.lastEvents, o.at, host))}
    ${b.openReviews.size > 0 && section('Open review items', openKinds(b.openReviews))}`;
}

function moneyToday(money: Seen['overview']['money']): Html {
  return table(
    'Taken and refunded by the MoR since midnight UTC',
    [
      { label: 'Currency', cell: (m) => m.currency },
      { label: 'Collected', cell: (m) => amount(m.collected, m.currency), number: true },
      { label: 'Refunded', cell: (m) => amount(m.refunded, m.currency), number: true },
    ],
    money,
    'No money has moved yet today.',
  );
}

function senders(events: Seen['overview']['lastEvents'], now: Date, host: string): Html {
  const rows = (Object.keys(SENDERS) as (keyof typeof SENDERS)[]).map((source) => ({
    source,
    event: events.find((e) => e.source === source) ?? null,
  }));
  return table(
    'A silent sender may have the wrong address or the wrong secret',
    [
      { label: 'Sender', cell: (r) => SENDERS[r.source] },
      {
        label: 'Last event',
        cell: ({ source, event }) =>
          event === null
            ? html`none yet: register <code>${host}${DOORS[source]}</code> there`
            : html`${eventLink(event.id)} ${dotted(event.type)}`,
      },
      { label: 'Status', cell: (r) => (r.event === null ? '' : status(r.event.status)) },
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
  );
}

/** Coarse on purpose: a text that changes with every second would be news with every second. */
function ago(seconds: number): string {
  return seconds < 60 ? 'less than a minute ago' : `${duration(seconds)} ago`;
}

function openKinds(kinds: ReadonlyMap<string, number>): Html {
  return html`<ul>
    ${[...kinds].map(
      ([kind, n]) => html`<li><a href="/console/reviews?status=open&amp;kind=${kind}">${words(kind)}</a>: ${n}</li>`,
    )}
  </ul>`;
}
