// Stands before the login form: no session is there to vouch for it, so at least no other site may send it.
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { type Request } from 'express';
import { Problem } from '../api/http/problem.js';
import { ReadingRoom } from '../intake/read-body.js';
import { fromOwnPage } from './console.guard.js';
import { mustBeForm, takeForm } from './form.js';

/** The one body open to strangers besides webhooks: a key and the target page. */
const LOGIN_LIMIT_BYTES = 4 * 1024;

@Injectable()
export class LoginFormGuard implements CanActivate {
  constructor(private readonly room: ReadingRoom) {}

  /** Throws 415 without a form, 403 for another site's, 413 for a large one; 503 if slow or among too many. */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const req = context.switchToHttp().getRequest<Request>();
    if (req.method !== 'POST') return true;
    mustBeForm(req);
    if (!fromOwnPage(req)) throw new Problem(403, 'foreign_form', "Log in on this console's own page.");
    await takeForm(req, this.room, 'stranger', LOGIN_LIMIT_BYTES);
    return true;
  }
}
