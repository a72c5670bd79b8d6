// Pages of webhook events: the list with outcomes, one body with masked personal data, and a button to decide again.
import { Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { mayDo } from '../../frames/api/access/roles.js';
import { eventFields } from './event.fields.js';
import { EVENT_SOURCES, EVENT_STATUSES, eventWithBodyView, listedEvent } from './event.view.js';
import { IdPipe } from '../../frames/api/http/id.pipe.js';
import { given } from '../../frames/api/http/page.js';
import { invalid, notFound } from '../../frames/api/http/problem.js';
import { isPlainText, NOTE_MAX } from '../../frames/api/http/rules.js';
import { CONSOLE_TIMEOUT_MS } from '../../shared/policy.js';
import { EventsRepository } from './events.repository.js';
import { type EventFilter, type EventRow } from './event-list.repository.js';
import { EventsService } from './events.service.js';
import { actOnMany, type Done } from '../../frames/console/bulk.js';
import { type Form, formOf } from '../../frames/console/form.js';
import { fold, headline } from '../../frames/console/acts.js';
import { ConsoleAudit } from '../../frames/console/console-audit.js';
import { Page, sessionOf } from '../../frames/console/console.guard.js';
import { type Html, html } from '../../frames/console/html.js';
import { formToken, sendPage } from '../../frames/console/layout.js';
import { Pages } from '../../frames/console/pages.js';
import { SPAN_FILTERS, spanFrom } from '../../frames/console/list-filters.js';
import { sendList, viewsOf } from '../../frames/console/list-page.js';
import { chosen } from '../../frames/console/list.js';
import { maskedText } from '../../shared/masks/broken-body.js';
import { type Session } from '../../frames/console/session.js';
import { inputField, type Typed, typedOf } from '../../frames/console/typed.js';
import {
  capital,
  clock,
  count,
  dotted,
  facts,
  id,
  invoiceLink,
  section,
  status,
  time,
  words,
} from '../../frames/console/show.js';

const PATH = '/console/events';
const FILTERS = [
  { name: 'source', label: 'Sender', options: EVENT_SOURCES },
  { name: 'status', label: 'Status', options: EVENT_STATUSES },
  { name: 'type', label: 'Type' },
  { name: 'event_id', label: "Sender's id" },
  ...SPAN_FILTERS,
] as const;

const ACTS = [
  { value: 'retry', label: 'Decide them again' },
  { value: 'dismiss', label: 'Dismiss them' },
] as const;
const MANY = {
  acts: ACTS,
  hint: 'Why you dismiss them. Deciding again needs no reason.',
  neededFor: 'dismiss',
};

@Pages('console/events')
export class EventPages {
  constructor(
    private readonly events: EventsRepository,
    private readonly service: EventsService,
    private readonly audit: ConsoleAudit,
  ) {}

  @Get()
  @Page('event.list')
  async list(@Req() req: Request, @Res() res: Response): Promise<void> {
    const values = chosen(req, FILTERS);
    const parked = values.status === 'parked';
    await sendList(req, res, {
      title: 'Events',
      section: 'events',
      path: PATH,
      filters: FILTERS,
      values,
      filter: filterOf,
      read: async (filter, page) => viewsOf(await this.events.numbered(filter, page), listedEvent),
      caption: 'Newest first',
      fields: ['events', eventFields],
      many: { acts: MANY, label: (e) => (parked ? [e.id, `${e.type} ${e.event_id}`] : null) },
      empty: {
        filtered: 'No events match these filters.',
        yet: html`<p>No event has arrived yet. Register these addresses of this host:</p>
          <ul>
            <li>at Stripe: <code>/webhooks/stripe</code></li>
            <li>at the MoR, payments: <code>/webhooks/mor/payments</code></li>
            <li>at the MoR, other events: <code>/webhooks/mor/events</code></li>
          </ul>`,
      },
    });
  }

  @Get(':id')
  @Page('event.read')
  async one(@Req() req: Request, @Res() res: Response, @Param('id', IdPipe) eventId: string): Promise<void> {
    const found = await this.events.find(eventId);
    if (found === null) throw notFound('event');
    const session = sessionOf(req);
    const again = req.query['again'] === 'yes' ? decidedAgain(found) : null;
    const acts = mayDo(session.role, 'ops') ? retryForm(session, found) : null;
    const dismiss =
      mayDo(session.role, 'ops') && found.status === 'parked' ? dismissForm(session, found, typedOf(req)) : null;
    const live = { html: html`${again}${eventTop(found)}${acts}`, everySec: found.status === 'received' ? 3 : 30 };
    sendPage(req, res, {
      title: `Event ${found.type === '' ? 'without a type' : found.type}`,
      section: 'events',
      body: null,
      live,
      after: html`${dismiss}${eventIds(found)}${bodyOf(found)}`,
    });
  }

  @Post(':id/retry')
  @HttpCode(303)
  @Page('event.retry', 'ops')
  async retry(@Req() req: Request, @Res() res: Response, @Param('id', IdPipe) eventId: string): Promise<void> {
    const retry = async (): Promise<EventRow> => {
      const again = await this.service.retry(eventId);
      return (await this.service.decided([again.id], CONSOLE_TIMEOUT_MS)).get(again.id) ?? again;
    };
    const pathOf = (event: EventRow): string => `${PATH}/${encodeURIComponent(event.id)}?again=yes`;
    await this.audit.post(req, res, {
      action: 'event.retry',
      work: retry,
      pathOf,
      again: () => this.one(req, res, eventId),
    });
  }

  @Post(':id/dismiss')
  @HttpCode(303)
  @Page('event.dismiss', 'ops')
  async dismiss(@Req() req: Request, @Res() res: Response, @Param('id', IdPipe) eventId: string): Promise<void> {
    const dismiss = (by: Session): Promise<EventRow> => this.service.dismiss(eventId, noteOf(formOf(req)), by.name);
    const pathOf = (event: EventRow): string => `${PATH}/${encodeURIComponent(event.id)}`;
    await this.audit.post(req, res, {
      action: 'event.dismiss',
      work: dismiss,
      pathOf,
      again: () => this.one(req, res, eventId),
    });
  }

  @Post('bulk')
  @HttpCode(200)
  @Page('event.retry', 'ops')
  async bulk(@Req() req: Request, @Res() res: Response): Promise<void> {
    await actOnMany(req, res, {
      section: 'events',
      path: PATH,
      acts: ACTS,
      filters: FILTERS,
      note: (form, act) => (act === 'dismiss' ? noteOf(form) : ''),
      matching: (values, page) => this.events.list({ ...filterOf(values), status: 'parked' }, page),
      act: (ids, act, note) => this.actOn(req, ids, act, note),
      back: html`<a href="${PATH}?status=parked">Parked events</a>`,
      again: () => this.list(req, res),
    });
  }

  private async actOn(req: Request, ids: readonly string[], act: Act, note: string): Promise<readonly Done[]> {
    const asked: { readonly id: string; readonly why: string | null }[] = [];
    for (const id of ids) {
      const done = await this.audit.one(req, `event.${act}`, id, (by) =>
        act === 'retry' ? this.service.retry(id) : this.service.dismiss(id, note, by.name),
      );
      // A retry moves an event from quarantine into the inbox under a new id. Follow the event by this id.
      asked.push(done.ok ? { id: done.value.id, why: null } : { id, why: done.why });
    }
    const taken = asked.filter((a) => a.why === null).map((a) => a.id);
    const events = await this.service.decided(taken, CONSOLE_TIMEOUT_MS);
    return asked.map(({ id, why }) => outcomeOf(act, id, why, events.get(id) ?? null));
  }
}

type Act = (typeof ACTS)[number]['value'];
type Values = Partial<Record<(typeof FILTERS)[number]['name'], string>>;

function filterOf(values: Values): EventFilter {
  const { source, status, type, event_id: eventId } = values;
  return { ...given({ source, status, type, eventId }), ...spanFrom(values) };
}

function noteOf(form: Form): string {
  const note = form.text('note').replace(/\s+/g, ' ').trim();
  if (note === '' || !isPlainText(note, NOTE_MAX))
    throw invalid('note', `must say why, in at most ${NOTE_MAX} characters`);
  return note;
}

function againWord(event: EventRow): string {
  if (event.status === 'received') return 'Crossbill has not decided it again yet.';
  const why = event.reason === null ? '' : ` because ${event.reason}`;
  const at = event.decidedAt === null ? '' : ` ${clock(event.decidedAt)} UTC`;
  if (event.status === 'parked') return `Reprocessed${at}: still parked${why}.`;
  return `Reprocessed${at}: ${event.status}${event.reason === null ? '' : `, ${event.reason}`}.`;
}

/** The reason, with the note of the person who dismissed the event. */
function whyOf({ reason, note }: EventRow): string | null {
  return reason === null || note === null ? reason : `${reason}: ${note}`;
}

function decidedAgain(event: EventRow): Html {
  const tone = event.status === 'parked' ? 'bad' : event.status === 'received' ? '' : 'good';
  return html`<p class="message ${tone}" role="status"><bdi>${againWord(event)}</bdi></p>`;
}

function outcomeOf(act: Act, id: string, why: string | null, event: EventRow | null): Done {
  const link = html`<a href="${PATH}/${encodeURIComponent(id)}"
    >${event === null ? id : `${event.type} ${event.eventId}`}</a
  >`;
  if (event === null)
    return { id, ok: false, said: html`${link}<span class="meta">not done: <bdi>${why}</bdi></span>` };
  const said = act === 'dismiss' && event.status === 'ignored' ? whyOf(event) : againWord(event);
  return { id, ok: event.status !== 'parked', said: html`${link}<span class="meta"><bdi>${said}</bdi></span>` };
}

function dismissForm(session: Session, event: EventRow, typed: Typed): Html {
  return html`<form class="card aside" action="${PATH}/${encodeURIComponent(event.id)}/dismiss" method="post">
    ${formToken(session)}
    ${inputField(
      typed,
      { name: 'note', label: 'Dismiss it', hint: 'Why it needs no action. You can decide it again later.' },
      html`required maxlength="${NOTE_MAX}" autocomplete="off"`,
    )}
    <p class="buttons"><button class="quiet">Dismiss</button></p>
  </form>`;
}

const TONES = { parked: 'bad', quarantined: 'warn', received: 'wait', done: 'good', ignored: 'calm' } as const;

function eventTop(event: EventRow): Html {
  const said = whyOf(event);
  const why = said === null ? null : { tone: TONES[event.status], text: `${capital(said)}.` };
  const about = html`From ${capital(words(event.source))}
  ${event.lane.startsWith('in_') && html`· invoice ${invoiceLink(event.lane)}`} · received ${time(event.receivedAt)} ·
  ${event.decidedAt === null ? 'not decided yet' : html`decided ${time(event.decidedAt)}`}
  ${event.status === 'received' && event.attempts > 0 && html`· ${count(event.attempts)} failed ${event.attempts === 1 ? 'attempt' : 'attempts'}`}`;
  return headline(status(event.status), null, why, about);
}

function eventIds(event: EventRow): Html {
  const shown = facts([
    ['Type', dotted(event.type)],
    [event.status === 'quarantined' ? 'Deliveries' : 'Failed attempts', event.attempts],
    ["Sender's id", id(event.eventId)],
    ['Our id', id(event.id)],
    ['Lane', html`<code class="id">${event.lane}</code>`],
  ]);
  return fold('details', 'Details and ids', null, shown);
}

function retryForm(session: Session, event: EventRow): Html | null {
  if (event.status === 'received') return html`<p class="message" role="status">Crossbill has not decided it yet.</p>`;
  return html`<form action="${PATH}/${encodeURIComponent(event.id)}/retry" method="post">
    ${formToken(session)}
    <p class="buttons">
      <button>${event.status === 'quarantined' ? 'Decide it' : 'Decide it again'}</button>
      <span class="dim">Crossbill does nothing twice.</span>
    </p>
  </form>`;
}

function bodyOf(event: EventRow & { readonly body: Buffer | null }): Html {
  const { body, body_note: note } = eventWithBodyView(event);
  const shown =
    body !== null
      ? html`<pre tabindex="0" role="group" aria-label="Body text">${JSON.stringify(body, null, 2)}</pre>`
      : html`<p>${note}</p>
          ${event.body !== null && html`<pre tabindex="0" role="group" aria-label="Body text">${maskedText(event.body)}</pre>`}`;
  return section(
    'Body',
    html`<p class="dim">Personal data and secrets show as [masked].</p>
      ${shown}`,
  );
}
