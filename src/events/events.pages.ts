// Webhook events: what came, what became of it, its body with personal data masked, and another decision.
import { Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { mayDo } from '../api/access/caller.js';
import { EVENT_SOURCES, EVENT_STATUSES, eventWithBodyView } from './event.view.js';
import { IdPipe } from '../api/http/id.pipe.js';
import { given } from '../api/http/page.js';
import { notFound, Problem } from '../api/http/problem.js';
import { Books, type EventRow } from '../domain/ports/books.js';
import { EventsDesk } from '../domain/ports/events-desk.js';
import { Wake } from '../lane/wake.js';
import { ConsoleAudit } from '../console/console-audit.js';
import { Page, sessionOf } from '../console/console.guard.js';
import { type Html, html } from '../console/html.js';
import { formToken, sendPage } from '../console/layout.js';
import { Pages } from '../console/pages.js';
import { chosen, type Column, filterForm, pageOf, pager, table } from '../console/list.js';
import { maskedText } from '../console/masked-text.js';
import { type Session } from '../console/session.js';
import { dotted, eventLink, facts, foreign, id, invoiceLink, section, status, time, words } from '../console/show.js';

const PATH = '/console/events';
const FILTERS = [
  { name: 'source', label: 'Sender', options: EVENT_SOURCES },
  { name: 'status', label: 'Status', options: EVENT_STATUSES },
  { name: 'type', label: 'Type' },
  { name: 'event_id', label: "Sender's id" },
] as const;

const COLUMNS: readonly Column<EventRow>[] = [
  { label: 'Type', cell: (e) => dotted(e.type), phone: 'lead' },
  { label: 'Status', cell: (e) => status(e.status), phone: 'side' },
  { label: 'Sender', cell: (e) => words(e.source), phone: 'none' },
  { label: 'About', cell: laneOf, phone: 'none' },
  { label: 'Why', cell: (e) => (e.reason === null ? '' : foreign(e.reason)), phone: 'none' },
  { label: 'Received', cell: (e) => time(e.receivedAt) },
  { label: 'Event', cell: (e) => eventLink(e.id) },
];

@Pages('console/events')
export class EventPages {
  constructor(
    private readonly books: Books,
    private readonly desk: EventsDesk,
    private readonly wake: Wake,
    private readonly audit: ConsoleAudit,
  ) {}

  @Get()
  @Page('event.list')
  async list(@Req() req: Request, @Res() res: Response): Promise<void> {
    const values = chosen(req, FILTERS);
    const page = pageOf(req);
    const filter = given({ source: values.source, status: values.status, type: values.type, eventId: values.event_id });
    const found = await this.books.events(filter, page);
    const empty =
      Object.keys(values).length > 0
        ? 'No events match these filters.'
        : html`<p>No event has come yet. Register these addresses of this host:</p>
            <ul>
              <li>at Stripe: <code>/webhooks/stripe</code></li>
              <li>at the MoR, payments: <code>/webhooks/mor/payments</code></li>
              <li>at the MoR, other events: <code>/webhooks/mor/events</code></li>
            </ul>`;
    const body = html`${filterForm(PATH, FILTERS, values)}
    ${table('Newest first', COLUMNS, found.data, empty)}${pager(PATH, values, page.cursor, found.nextCursor)}`;
    sendPage(req, res, { title: 'Events', section: 'events', body });
  }

  @Get(':id')
  @Page('event.read')
  async one(@Req() req: Request, @Res() res: Response, @Param('id', IdPipe) eventId: string): Promise<void> {
    const found = await this.books.event(eventId);
    if (found === null) throw notFound('event');
    const session = sessionOf(req);
    const live = {
      html: html`${eventFacts(found)}${mayDo(session.role, 'ops') && retryForm(session, found)}${bodyOf(found)}`,
      everySec: found.status === 'received' ? 3 : 30,
    };
    sendPage(req, res, {
      title: `Event ${found.type === '' ? 'without a type' : found.type}`,
      section: 'events',
      body: null,
      live,
    });
  }

  @Post(':id/retry')
  @HttpCode(303)
  @Page('event.retry', 'ops')
  async retry(@Req() req: Request, @Res() res: Response, @Param('id', IdPipe) eventId: string): Promise<void> {
    const retry = async (): Promise<{ readonly id: string }> => {
      const inboxId = await this.desk.retry(eventId);
      if (inboxId !== null) {
        this.wake.lanes();
        return { id: inboxId };
      }
      if ((await this.books.event(eventId)) === null) throw notFound('event');
      const why = 'This event cannot be decided again: it has no usable body.';
      throw new Problem(409, 'event_not_retryable', why);
    };
    await this.audit.post(req, res, 'event.retry', retry, (again) => `${PATH}/${encodeURIComponent(again.id)}`);
  }
}

function laneOf(e: EventRow): Html {
  return e.lane.startsWith('in_') ? invoiceLink(e.lane) : html`<code class="id">${e.lane}</code>`;
}

function eventFacts(e: EventRow): Html {
  return facts([
    ['Status', status(e.status)],
    e.reason === null ? null : ['Why', foreign(e.reason)],
    ['Type', dotted(e.type)],
    ['Sender', words(e.source)],
    ["Sender's id", id(e.eventId)],
    ['Our id', id(e.id)],
    ['About', laneOf(e)],
    [e.status === 'quarantined' ? 'Deliveries' : 'Failed attempts', e.attempts],
    ['Received', time(e.receivedAt)],
    ['Decided', time(e.decidedAt, 'not yet')],
  ]);
}

function retryForm(session: Session, e: EventRow): Html | null {
  if (e.status === 'received') return html`<p class="message" role="status">It waits to be decided.</p>`;
  return html`<form action="${PATH}/${encodeURIComponent(e.id)}/retry" method="post">
    ${formToken(session)}
    <p class="buttons">
      <button>Decide it again</button>
      <span class="dim">What it did already is not done twice.</span>
    </p>
  </form>`;
}

function bodyOf(e: EventRow & { readonly body: Buffer | null }): Html {
  const { body, body_note: note } = eventWithBodyView(e);
  const shown =
    body !== null
      ? html`<pre tabindex="0" role="group" aria-label="Body text">${JSON.stringify(body, null, 2)}</pre>`
      : html`<p>${note}</p>
          ${e.body !== null && html`<pre tabindex="0" role="group" aria-label="Body text">${maskedText(e.body)}</pre>`}`;
  return section(
    'Body',
    html`<p class="dim">Personal data and secrets are masked.</p>
      ${shown}`,
  );
}
