// The page of deliveries: for each sender our replies in the last 24 hours and the last event; then the last refused
// deliveries, each with a hint on its cause.
import { Get, Req, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { Page } from '../../frames/console/console.guard.js';
import { type Html, html } from '../../frames/console/html.js';
import { sendPage } from '../../frames/console/layout.js';
import { type Column, table } from '../../frames/console/list.js';
import { Pages } from '../../frames/console/pages.js';
import { count, dotted, duration, eventLink, headed, section, status, time } from '../../frames/console/show.js';
import { repliesOf, type EndpointReply, type EndpointRefusal } from '../../shared/domain/endpoint-replies.js';
import { EventsRepository } from '../../core/events/events.repository.js';
import { type EventRow } from '../../core/events/event-list.repository.js';
import { Clock } from '../../shared/domain/ports/clock.js';
import { EndpointRepliesRepository } from '../../frames/intake/endpoint-replies.repository.js';
import { type InboxSource } from '../../shared/domain/ports/inbox.js';
import { whatToCheck } from '../../shared/domain/refusal.js';
import { DAY_MS } from '../../shared/policy.js';
import { SENDERS } from './needs.js';

const PATHS: Readonly<Record<InboxSource, string>> = {
  stripe: '/webhooks/stripe',
  mor_payments: '/webhooks/mor/payments',
  mor_events: '/webhooks/mor/events',
};
const NAMED_REPLIES = [200, 401, 503] as const;
const REFUSALS = 25;
const EVERY_SEC = 15;

const REFUSED: readonly Column<EndpointRefusal>[] = [
  { label: 'Answer', cell: (r) => status(String(r.status)), phone: 'side' },
  { label: 'At', cell: (r) => time(r.at) },
  { label: 'Sender', cell: (r) => SENDERS[r.endpoint], phone: 'lead' },
  { label: 'Reason', cell: (r) => html`<code>${r.why}</code>` },
  { label: 'Check', cell: (r) => whatToCheck(r.endpoint, r.why) },
  { label: 'From', cell: (r) => html`<code>${r.address === '' ? 'unknown' : r.address}</code>` },
];

@Pages('console/deliveries')
export class DeliveryPages {
  constructor(
    private readonly endpoints: EndpointRepliesRepository,
    private readonly events: EventsRepository,
    private readonly clock: Clock,
  ) {}

  @Get()
  @Page('delivery.list')
  async list(@Req() req: Request, @Res() res: Response): Promise<void> {
    const now = this.clock.now();
    const [replies, events, refusals] = await Promise.all([
      this.endpoints.replies(new Date(now.getTime() - DAY_MS)),
      this.events.newest(),
      this.endpoints.refusals(REFUSALS),
    ]);
    const live = html`<p class="dim">
        Replicas add their counts every few seconds. Crossbill keeps a refused body only in quarantine.
      </p>
      ${section('Answers in 24 hours', senders(replies, events, now, hostOf(req)))}
      ${section(
        'Last refusals',
        table(
          'Newest first',
          REFUSED,
          refusals,
          'A refused delivery appears here, with its reason and a check to make. Crossbill has refused none.',
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

/** The host in the reader's address bar, as a suggestion for the webhook address. */
function hostOf(req: Request): string {
  const host = req.headers.host ?? '';
  if (!/^[\w.:[\]-]+$/.test(host)) return 'https://<this host>';
  return /^(127\.|localhost|\[::1])/.test(host) ? `http://${host}` : `https://${host}`;
}

function senders(replies: readonly EndpointReply[], events: readonly EventRow[], now: Date, host: string): Html {
  const rows = (Object.keys(PATHS) as InboxSource[]).map((source) => {
    const sums = repliesOf(replies, source);
    const named = NAMED_REPLIES.map((code) => sums.get(code) ?? 0);
    const all = [...sums.values()].reduce((a, b) => a + b, 0);
    return {
      source,
      event: events.find((e) => e.source === source) ?? null,
      replies: [...named, all - named.reduce((a, b) => a + b, 0)],
    };
  });
  type Row = (typeof rows)[number];
  return table(
    'By sender, with its last event: a silent sender may have the wrong address or the wrong secret',
    [
      { label: 'Sender', cell: (r) => SENDERS[r.source], phone: 'lead' },
      ...[...NAMED_REPLIES.map(String), 'other'].map((name, i) => ({
        label: name,
        cell: (r: Row) => headed(`${name}:`, count(r.replies[i] ?? 0)),
        number: true,
      })),
      {
        label: 'Last event',
        cell: ({ source, event }) =>
          event === null
            ? html`none yet: register <code>${host}${PATHS[source]}</code> there`
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
  );
}

/** The age in coarse units: a text that changes each second would refresh the page each second. */
function ago(seconds: number): string {
  return seconds < 60 ? 'less than a minute ago' : `${duration(seconds)} ago`;
}
