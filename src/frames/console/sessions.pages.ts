// The page of the console's sessions. An operator can end each session.
import { Get, HttpCode, Post, Req, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { notFound } from '../api/http/problem.js';
import { type ConsoleSession, ConsoleSessions } from './console-sessions.js';
import { actForm } from './acts.js';
import { ConsoleAudit } from './console-audit.js';
import { Page, sessionOf } from './console.guard.js';
import { html } from './html.js';
import { sendPage } from './layout.js';
import { type Column, table } from './list.js';
import { Pages } from './pages.js';
import { type Session } from './session.js';
import { foreign, time } from './show.js';

const MOST = 200;

const columns = (own: Session): readonly Column<ConsoleSession>[] => [
  { label: 'Who', cell: (s) => foreign(s.name), phone: 'lead' },
  { label: 'From', cell: (s) => html`<code>${s.source}</code>` },
  { label: 'Since', cell: (s) => time(s.beganAt) },
  { label: 'Ends', cell: (s) => time(s.endsAt), phone: 'none' },
  {
    label: 'End it',
    cell: (s) =>
      s.id === own.id
        ? html`<span class="dim">this session</span>`
        : actForm(own, `/console/sessions/${encodeURIComponent(s.id)}/end`, 'End'),
    phone: 'side',
  },
];

@Pages('console/sessions')
export class SessionsPages {
  constructor(
    private readonly sessions: ConsoleSessions,
    private readonly audit: ConsoleAudit,
  ) {}

  @Get()
  @Page('session.list', 'ops')
  async list(@Req() req: Request, @Res() res: Response): Promise<void> {
    const found = await this.sessions.list(MOST);
    const caption = `Who is logged in, the newest first${found.length === MOST ? `; the newest ${MOST} are shown` : ''}`;
    const body = html`<p class="dim">
        The button ends a session at once, on every replica. The person can log in again with a key or an account.
      </p>
      ${table(caption, columns(sessionOf(req)), found, 'Nobody is logged in.')}`;
    sendPage(req, res, { title: 'Sessions', section: 'sessions', body });
  }

  @Post(':id/end')
  @HttpCode(303)
  @Page('session.end', 'ops')
  async end(@Req() req: Request, @Res() res: Response): Promise<void> {
    const id = String(req.params['id']);
    const work = async (): Promise<{ id: string }> => {
      if (!(await this.sessions.end(id))) throw notFound('open session');
      return { id };
    };
    await this.audit.post(req, res, {
      action: 'session.end',
      work,
      pathOf: () => '/console/sessions',
      again: () => this.list(req, res),
    });
  }
}
