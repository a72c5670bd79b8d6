// Guards the login form. At a login there is no session yet, so the guard only refuses another site's form.
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { type Request } from 'express';
import { Problem } from '../api/http/problem.js';
import { ReadingRoom } from '../intake/read-body.js';
import { fromOwnPage, ownPageHint } from './console.guard.js';
import { mustBeForm, takeForm } from './form.js';

/**
 * The largest body of the login form: the form holds a key and the target page. Only this form and the webhook
 * endpoints take a body from unknown senders.
 */
const LOGIN_LIMIT_BYTES = 4 * 1024;

@Injectable()
export class LoginFormGuard implements CanActivate {
  constructor(private readonly room: ReadingRoom) {}

  /**
   * Checks the form. Throws 415 without a form, 403 for another site's form, and 413 for a large body. Throws 503 if
   * the body is slow or too many bodies arrive at once.
   */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const req = context.switchToHttp().getRequest<Request>();
    if (req.method !== 'POST') return true;
    mustBeForm(req);
    if (!fromOwnPage(req))
      throw new Problem(403, 'foreign_form', `Log in on this console's own page.${ownPageHint(req)}`);
    await takeForm(req, this.room, 'stranger', LOGIN_LIMIT_BYTES);
    return true;
  }
}
