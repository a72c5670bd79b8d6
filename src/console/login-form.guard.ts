// Stands before the login form: no session is there to vouch for it, so at least no other site may send it.
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { type Request } from 'express';
import { Problem } from '../api/http/problem.js';
import { fromOwnPage } from './console.guard.js';
import { takeForm } from './form.js';

@Injectable()
export class LoginFormGuard implements CanActivate {
  /** Throws 403 for another site's form and 415 for what is no form. */
  canActivate(context: ExecutionContext): boolean {
    const req = context.switchToHttp().getRequest<Request>();
    if (req.method !== 'POST') return true;
    takeForm(req);
    if (!fromOwnPage(req)) throw new Problem(403, 'foreign_form', 'Log in on the page of this console.');
    return true;
  }
}
