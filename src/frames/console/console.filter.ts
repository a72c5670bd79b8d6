// Shows an error as a page of the console: the problem, and a link back.
import { type ArgumentsHost, Catch, type ExceptionFilter, Inject } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { toProblem } from '../api/http/problem.filter.js';
import { isOwn, NotLoggedIn } from './console.guard.js';
import { html } from './html.js';
import { asksForPart, secure, sendPage } from './layout.js';
import { LOG, type Logger } from '../../shared/observe/index.js';

const TITLES: Readonly<Record<number, string>> = {
  400: 'This request is not valid',
  403: 'Not allowed',
  404: 'Not found',
  409: 'No longer possible',
  422: 'This cannot be done',
  503: 'Try again in a moment',
};

@Catch()
export class ConsoleFilter implements ExceptionFilter {
  constructor(@Inject(LOG) private readonly log: Logger) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const req = http.getRequest<Request>();
    const res = http.getResponse<Response>();
    if (res.headersSent) {
      this.log.error({ event: 'console.page_failed', err: error }, 'a page failed while Crossbill sent it');
      res.destroy(); // a cut page or CSV must not look whole
      return;
    }
    if (error instanceof NotLoggedIn) {
      toLogin(req, res);
      return;
    }
    const problem = toProblem(error);
    const status = problem.getStatus();
    // An expected 503 (a slow body, too many requests) makes no log line: strangers can cause many of these.
    if (status >= 500 && !(status === 503 && error === problem))
      this.log.error({ event: 'console.page_failed', err: error }, 'a page failed');
    if (asksForPart(req)) {
      secure(res);
      res.status(status).end();
      return;
    }
    if (problem.retryAfterSec !== null) res.setHeader('Retry-After', String(problem.retryAfterSec));
    const back = cameFrom(req);
    const body = html`<p class="message bad" role="alert">${problem.message}</p>
      <p class="dim">Code <code>${problem.code}</code>, HTTP ${status}.</p>
      <p>${back !== null && html`<a href="${back}">Back to where you were</a> · `}<a href="/console">Overview</a></p>`;
    sendPage(req, res, { title: TITLES[status] ?? 'Something went wrong', section: null, body }, status);
  }
}

/** The address of the page with the refused form. Null for a GET, and without a Referer of this console. */
function cameFrom(req: Request): string | null {
  const { referer } = req.headers;
  if (req.method === 'GET' || referer === undefined || !URL.canParse(referer)) return null;
  const { pathname, search } = new URL(referer);
  return isOwn(req, referer) && /^\/console(\/|$)/.test(pathname) ? `${pathname}${search}` : null;
}

function toLogin(req: Request, res: Response): void {
  secure(res);
  if (asksForPart(req)) {
    res.status(401).end();
    return;
  }
  const query =
    req.method === 'GET' ? (req.path === '/console' ? '' : `?to=${encodeURIComponent(req.originalUrl)}`) : '?ended=1';
  res.redirect(303, `/console/login${query}`);
}
