// Pages of notifications: the list with the backend's replies, and another delivery.
import { Get, HttpCode, Inject, Param, Post, Req, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { mayDo } from '../../frames/api/access/roles.js';
import { IdPipe } from '../../frames/api/http/id.pipe.js';
import { given } from '../../frames/api/http/page.js';
import { notFound } from '../../frames/api/http/problem.js';
import { CONFIG, type Config } from '../../shared/config/index.js';
import { ConsoleAudit } from '../../frames/console/console-audit.js';
import { Page, sessionOf } from '../../frames/console/console.guard.js';
import { type Html, html } from '../../frames/console/html.js';
import { formToken, sendPage } from '../../frames/console/layout.js';
import { chosen, type Column, table } from '../../frames/console/list.js';
import { Pages } from '../../frames/console/pages.js';
import { type Session } from '../../frames/console/session.js';
import { count, dotted, facts, id, invoiceLink, section, status, time } from '../../frames/console/show.js';
import {
  NOTIFICATION_STATUSES,
  type NotificationRow,
  Notifications,
  type NotificationStatus,
  type NotificationTry,
} from '../../frames/store/notifications.js';
import { notificationFields } from './notification.fields.js';
import { notificationView, notificationWithTriesView } from './notification.view.js';
import { NOTIFICATION_TYPES } from './rules/all.js';
import { sendList, viewsOf } from '../../frames/console/list-page.js';
import { SPAN_FILTERS, spanFrom } from '../../frames/console/list-filters.js';

const PATH = '/console/notifications';
const FILTERS = [
  { name: 'status', label: 'Status', options: NOTIFICATION_STATUSES },
  { name: 'type', label: 'Type', options: NOTIFICATION_TYPES },
  ...SPAN_FILTERS,
] as const;

const TRIES: readonly Column<NotificationTry>[] = [
  { label: 'At', cell: (t) => time(t.at) },
  { label: 'HTTP status', cell: (t) => t.status ?? html`<span class="dim">none</span>`, number: true },
  { label: 'Result', cell: (t) => t.why ?? 'delivered' },
  { label: 'Milliseconds', cell: (t) => count(t.elapsedMs), number: true },
];

@Pages('console/notifications')
export class NotificationPages {
  constructor(
    private readonly notifications: Notifications,
    private readonly audit: ConsoleAudit,
    @Inject(CONFIG) private readonly config: Pick<Config, 'notifyUrl'>,
  ) {}

  @Get()
  @Page('notification.list')
  async list(@Req() req: Request, @Res() res: Response): Promise<void> {
    const values = chosen(req, FILTERS);
    await sendList(req, res, {
      title: 'Notifications',
      section: 'notifications',
      path: PATH,
      filters: FILTERS,
      values,
      filter: (v) => ({ ...given({ status: v.status, type: v.type }), ...spanFrom(v) }),
      read: async (filter, page) => viewsOf(await this.notifications.list(filter, page), notificationView),
      caption: 'Newest first',
      fields: ['notifications', notificationFields],
      empty: { filtered: 'No notifications match these filters.', yet: this.nothingYet() },
      above: gone(await this.notifications.status()),
    });
  }

  @Get(':id')
  @Page('notification.read')
  async one(@Req() req: Request, @Res() res: Response, @Param('id', IdPipe) notificationId: string): Promise<void> {
    const found = await this.notifications.one(notificationId);
    if (found === null) throw notFound('notification');
    const session = sessionOf(req);
    const live = {
      html: html`${shown(found)}${mayDo(session.role, 'ops') && replayForm(session, found)}${sent(found)}`,
      everySec: found.status === 'pending' ? 3 : 30,
    };
    sendPage(req, res, { title: `Notification ${found.type}`, section: 'notifications', body: null, live });
  }

  @Post(':id/replay')
  @HttpCode(303)
  @Page('notification.replay', 'ops')
  async replay(@Req() req: Request, @Res() res: Response, @Param('id', IdPipe) notificationId: string): Promise<void> {
    const replay = async (): Promise<{ readonly id: string }> => {
      const found = await this.notifications.replay(notificationId);
      if (found === null) throw notFound('notification');
      return { id: found.id };
    };
    await this.audit.post(req, res, {
      action: 'notification.replay',
      work: replay,
      pathOf: (again) => `${PATH}/${encodeURIComponent(again.id)}`,
      again: () => this.one(req, res, notificationId),
    });
  }

  private nothingYet(): Html {
    if (this.config.notifyUrl !== null)
      return html`<p>The notifications to your backend appear here, with its replies. None has been sent yet.</p>`;
    return html`<p>
      Your backend gets no notifications: set <code>NOTIFY_URL</code> and <code>NOTIFY_SECRETS</code>.
    </p>`;
  }
}

function gone({ goneAt, pending }: NotificationStatus): Html | null {
  if (goneAt === null) return null;
  return html`<p class="message bad" role="status">
    The receiver answered 410 at ${time(goneAt)}: it wants no more notifications. Crossbill sends nothing, and
    ${pending} notifications wait. Set another <code>NOTIFY_URL</code>, or replay one when the receiver is back.
  </p>`;
}

function shown(notification: NotificationRow): Html {
  return facts([
    ['Status', status(notification.status)],
    ['Type', dotted(notification.type)],
    ['Id (webhook-id)', id(notification.id)],
    notification.invoiceId === null ? null : ['Invoice', invoiceLink(notification.invoiceId)],
    ['Created', time(notification.at)],
    ['Tries', notification.attempts],
    notification.deliveredAt === null ? null : ['Delivered', time(notification.deliveredAt)],
    notification.nextTryAt === null ? null : ['Next try', time(notification.nextTryAt)],
  ]);
}

function replayForm(session: Session, notification: NotificationRow): Html {
  return html`<form action="${PATH}/${encodeURIComponent(notification.id)}/replay" method="post">
    ${formToken(session)}
    <p class="buttons">
      <button>Send it again</button>
      <span class="dim">Id and bytes stay the same, so your backend can recognize a repeat.</span>
    </p>
  </form>`;
}

function sent(notification: NotificationRow): Html {
  const { body } = notificationWithTriesView(notification);
  return html`${section('Tries', table('The newest first', TRIES, notification.tries.toReversed(), 'Not sent yet.'))}
  ${section('Body', html`<pre tabindex="0" role="group" aria-label="Body text">${JSON.stringify(body, null, 2)}</pre>`)}`;
}
