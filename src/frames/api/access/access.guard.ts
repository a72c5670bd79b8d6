// Lets a request pass if the role of its key is enough for the route. Every refusal gets a row in the audit log.
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { type Request } from 'express';
import { Problem } from '../http/problem.js';
import { type AccessRule, RULE } from './access.js';
import { addressOf } from './client-address.js';
import { type Caller, setCaller } from './caller.js';
import { mayDo } from './roles.js';
import { Denials } from './denials.js';
import { KeyRing } from './key-ring.js';

@Injectable()
export class AccessGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly keys: KeyRing,
    private readonly denials: Denials,
  ) {}

  /** Checks the caller. Throws 401 for a missing or wrong key, and 403 for an insufficient role. */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const rule = this.reflector.getAllAndOverride<AccessRule | undefined>(RULE, [
      context.getHandler(),
      context.getClass(),
    ]);
    if (rule?.open === true) return true;
    const req = context.switchToHttp().getRequest<Request>();
    const headers = req.headersDistinct['authorization'] ?? [];
    const caller = headers.length === 1 ? this.keys.fromHeader(headers[0]) : null;
    const action = rule?.action ?? 'unknown';
    if (caller === null) {
      await this.deny(req, null, action, 401);
      throw new Problem(401, 'unauthorized', 'Send a valid API key: Authorization: Bearer <key>.');
    }
    if (rule === undefined || !mayDo(caller.role, rule.role)) {
      await this.deny(req, caller, action, 403);
      const needs = rule === undefined ? '' : ` This request needs the role ${rule.role}.`;
      throw new Problem(403, 'forbidden', `This API key has the role ${caller.role}.${needs}`);
    }
    setCaller(req, caller);
    return true;
  }

  private async deny(req: Request, caller: Caller | null, action: string, status: 401 | 403): Promise<void> {
    await this.denials.record({
      actor: caller?.name ?? 'unknown',
      role: caller?.role ?? null,
      action,
      target: targetOf(req),
      source: addressOf(req),
      status,
    });
  }
}

/**
 * Returns the id in the path, for the audit log: shortened, and without characters harmful to a database or a terminal.
 * Null: the path has no id.
 */
export function targetOf(req: Request): string | null {
  const id: unknown = req.params['id'] ?? req.params['reference'];
  return typeof id === 'string' ? id.replace(/[\p{Cc}\p{Cs}]/gu, '?').slice(0, 255) : null;
}
