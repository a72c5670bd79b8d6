// Guards every page of the console. A page needs a session and a sufficient role; a change also needs a form of this
// session.
import { applyDecorators, type CanActivate, type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { type Request, type Response } from 'express';
import { OpenToAll } from '../api/access/access.js';
import { targetOf } from '../api/access/access.guard.js';
import { addressOf } from '../api/access/client-address.js';
import { mayDo } from '../api/access/roles.js';
import { setCaller } from '../api/access/caller.js';
import { Denials } from '../api/access/denials.js';
import { Problem } from '../api/http/problem.js';
import { type ApiRole } from '../../shared/config/index.js';
import { ReadingRoom } from '../intake/read-body.js';
import { same } from './cookies.js';
import { mustBeForm, takeForm } from './form.js';
import { type Session, Sessions } from './session.js';

const RULE = Symbol('console rule');

type Rule = { readonly role: ApiRole; readonly action: string };

/**
 * Declares a page for every logged-in person with this role or a higher role. The API's guard lets the request pass,
 * because the console's guard checks the request.
 */
export const Page = (action: string, role: ApiRole = 'read'): MethodDecorator =>
  applyDecorators(OpenToAll(), SetMetadata(RULE, { role, action } satisfies Rule));

/** The error for a request without a session. The console's filter then sends the browser to the login form. */
export class NotLoggedIn extends Error {
  readonly code = 'console.not_logged_in';
}

const sessions = new WeakMap<Request, Session>();

/** The session of an accepted request. */
export function sessionOf(req: Request): Session {
  const session = sessions.get(req);
  if (session === undefined) throw new Error('the handler of a page without a session called sessionOf');
  return session;
}

/** The session of a request. Null if nobody is logged in, or if the page needs no session. */
export function sessionIfAny(req: Request): Session | null {
  return sessions.get(req) ?? null;
}

@Injectable()
export class ConsoleGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly sessions: Sessions,
    private readonly denials: Denials,
    private readonly room: ReadingRoom,
  ) {}

  /**
   * Checks session, role and form. Without a session it throws NotLoggedIn. It throws 403 for an insufficient role and
   * for a form of another session or site. It throws 415 for a change whose body is no form.
   */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const req = http.getRequest<Request>();
    const rule = this.reflector.get<Rule | undefined>(RULE, context.getHandler());
    if (rule === undefined) throw new Error('a console route has no role');
    const changes = req.method !== 'GET' && req.method !== 'HEAD';
    const session = await this.sessions.of(req);
    if (session === null) {
      if (changes) await this.deny(req, null, rule, 401);
      throw new NotLoggedIn('no session');
    }
    sessions.set(req, session);
    setCaller(req, session);
    http.getResponse<Response>().setHeader('Vary', 'Cookie');
    if (changes) {
      mustBeForm(req);
      const own =
        fromOwnPage(req) && same((await takeForm(req, this.room, 'caller')).text('form_token'), session.formToken);
      if (!own) {
        await this.deny(req, session, rule, 403);
        const why = 'Crossbill did nothing: the form is not of your session. Reload it.';
        throw new Problem(403, 'foreign_form', fromOwnPage(req) ? why : why + ownPageHint(req));
      }
    }
    if (!mayDo(session.role, rule.role)) {
      await this.deny(req, session, rule, 403);
      throw new Problem(403, 'forbidden', `This needs the role ${rule.role}. Your role is ${session.role}.`);
    }
    return true;
  }

  private deny(req: Request, session: Session | null, { action }: Rule, status: 401 | 403): Promise<void> {
    return this.denials.record({
      actor: session?.name ?? 'unknown',
      role: session?.role ?? null,
      action,
      target: targetOf(req),
      source: addressOf(req),
      status,
    });
  }
}

/**
 * True if the form came from our own page. A browser names a form's site: in Sec-Fetch-Site on https and on loopback,
 * and in Origin on every POST. A request with neither header comes from no browser, so no other site has made a
 * logged-in person's browser send it.
 */
export function fromOwnPage(req: Request): boolean {
  const site = req.headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const { origin } = req.headers;
  return origin === undefined || isOwn(req, origin);
}

/**
 * True if a URL is on the console's own host: the host of the request, or of X-Forwarded-Host from a trusted proxy, or
 * CONSOLE_URL. A proxy in front of the daemon may write another Host header than the browser did.
 */
export function isOwn(req: Request, text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { origin, protocol, host } = new URL(text);
  const asked = `${protocol}//${req.host}`;
  return origin === req.app.get('console url') || (URL.canParse(asked) && new URL(asked).host === host);
}

/** What to change if the console refuses its own page. Only a browser without Sec-Fetch-Site leaves room for this. */
export const ownPageHint = (req: Request): string =>
  req.headers['sec-fetch-site'] === undefined
    ? " If this is the console's own page, set CONSOLE_URL to its address in the browser: a proxy changed the Host header."
    : '';
