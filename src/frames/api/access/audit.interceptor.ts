// Writes every change into the audit log, with its author and result: one row before an operator's change begins, and
// one row after any change ends.
import { type CallHandler, type ExecutionContext, Inject, Injectable, type NestInterceptor } from '@nestjs/common';
import { isObject } from '@crossbill/mor/read.js';
import { Reflector } from '@nestjs/core';
import { type Request, type Response } from 'express';
import { catchError, concatMap, defer, from, map, type Observable } from 'rxjs';
import { AuditLog } from '../../../shared/domain/ports/audit-log.js';
import { toProblem } from '../http/problem.filter.js';
import { type AccessRule, RULE } from './access.js';
import { targetOf } from './access.guard.js';
import { addressOf } from './client-address.js';
import { callerOf } from './caller.js';
import { LOG, type Logger } from '../../../shared/observe/index.js';

type Entry = Parameters<AuditLog['write']>[0];
type Ended = Pick<Entry, 'outcome' | 'status' | 'detail'> & { readonly made: string | null };

@Injectable()
export class AuditInterceptor implements NestInterceptor {
  constructor(
    private readonly reflector: Reflector,
    private readonly audit: AuditLog,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const rule = this.reflector.getAllAndOverride<AccessRule | undefined>(RULE, [
      context.getHandler(),
      context.getClass(),
    ]);
    const http = context.switchToHttp();
    const req = http.getRequest<Request>();
    const caller = callerOf(req);
    if (rule === undefined || rule.open || !rule.changes || caller === null) return next.handle();

    const target = targetOf(req);
    const about = { actor: caller.name, role: caller.role, action: rule.action, source: addressOf(req) };
    // An operator's change may move money, so Crossbill stores a row first. Status 0: the change has not ended.
    const begun =
      rule.role === 'ops'
        ? this.audit.write({ ...about, target, outcome: 'begun', status: 0, detail: null })
        : Promise.resolve();
    const end = async ({ made, ...ended }: Ended): Promise<void> => {
      try {
        await this.audit.write({ ...about, target: target ?? made, ...ended });
      } catch (err) {
        // The change is already made, so the caller gets the reply even if this row fails. The start is still on
        // record: an operator's change has its first row, and a signup has its own row in the database.
        this.log.error(
          { event: 'audit.outcome_lost', err, action: rule.action },
          "Couldn't audit the outcome of a change",
        );
      }
    };
    return from(begun).pipe(
      concatMap(() => defer(() => next.handle())),
      concatMap((reply: unknown) => {
        const made = idOf(reply, rule.made);
        const status = http.getResponse<Response>().statusCode;
        return from(end({ outcome: 'done', status, detail: made === null ? null : { id: made }, made })).pipe(
          map(() => reply),
        );
      }),
      catchError(async (error: unknown) => {
        const problem = toProblem(error);
        const status = problem.getStatus();
        const outcome = status < 500 ? 'refused' : 'failed';
        await end({ outcome, status, detail: { code: problem.code }, made: null });
        throw error;
      }),
    );
  }
}

/** Returns the id of the new object, for the audit log. */
function idOf(reply: unknown, member: string): string | null {
  const id = isObject(reply) ? reply[member] : null;
  return typeof id === 'string' ? id : null;
}
