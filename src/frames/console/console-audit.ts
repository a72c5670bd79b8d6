// Writes operators' actions on the console to the audit trail, under the same names as API calls.
import { Inject, Injectable } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { targetOf } from '../api/access/access.guard.js';
import { addressOf } from '../api/access/client-address.js';
import { type Caller } from '../api/access/caller.js';
import { toProblem } from '../api/http/problem.filter.js';
import { AuditLog } from '../../shared/domain/ports/audit-log.js';
import { sessionOf } from './console.guard.js';
import { secure } from './layout.js';
import { type Session } from './session.js';
import { orAgain, typedOf } from './typed.js';
import { LOG, type Logger } from '../../shared/observe/index.js';

type Entry = Parameters<AuditLog['write']>[0];

/**
 * The action of a form, under its name in the audit trail. `pathOf`: the page of the result. `again` draws the page of a
 * refused form again, with what the person typed; null: a button without a page.
 */
type FormAct<T> = {
  readonly action: string;
  readonly work: (by: Session) => Promise<T>;
  readonly pathOf: (made: T) => string;
  readonly again: (() => Promise<void>) | null;
};

type Act<T> = Pick<FormAct<T>, 'action' | 'work'> & {
  readonly target: string | null;
  readonly idOf: (made: T) => string;
};

@Injectable()
export class ConsoleAudit {
  constructor(
    private readonly audit: AuditLog,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  /**
   * Carries out a form's action between two audit rows, then sends the browser to the page of the result. The action
   * begins after the first row is stored. A lost second row does not undo the action.
   */
  async post<T extends { readonly id: string }>(
    req: Request,
    res: Response,
    { action, work, pathOf, again }: FormAct<T>,
  ): Promise<void> {
    const carryOut = async (): Promise<void> => {
      const made = await this.audited(req, { action, target: targetOf(req), work, idOf: (x) => x.id });
      secure(res);
      res.redirect(303, pathOf(made));
    };
    if (again === null) return carryOut();
    await orAgain(req, carryOut, () => {
      const { problem } = typedOf(req);
      if (problem !== null && problem.getStatus() >= 500)
        this.log.warn({ event: 'console.act_failed', code: problem.code, action }, 'a call for a form failed');
      return again();
    });
  }

  /**
   * Carries out an action on one of many rows, with its own audit rows. Returns a refusal as text instead of an error.
   */
  async one<T>(
    req: Request,
    action: string,
    target: string,
    work: (by: Session) => Promise<T>,
  ): Promise<{ readonly ok: true; readonly value: T } | { readonly ok: false; readonly why: string }> {
    try {
      return { ok: true, value: await this.audited(req, { action, target, work, idOf: () => target }) };
    } catch (error) {
      const problem = toProblem(error);
      if (problem.getStatus() >= 500)
        this.log.error(
          { event: 'console.act_failed', err: error, action, target },
          'an action on one of many rows failed',
        );
      return { ok: false, why: problem.message };
    }
  }

  /** Audits a login or a logout. */
  async note(req: Request, caller: Caller, action: string, detail: Entry['detail'] = null): Promise<void> {
    await this.audit.write({ ...this.about(req, caller, action), outcome: 'done', status: 200, detail });
  }

  private async audited<T>(req: Request, { action, target, work, idOf }: Act<T>): Promise<T> {
    const session = sessionOf(req);
    const about = { ...this.about(req, session, action), target };
    await this.audit.write({ ...about, outcome: 'begun', status: 0, detail: { via: 'console' } });
    try {
      const made = await work(session);
      await this.end({ ...about, outcome: 'done', status: 200, detail: { via: 'console', id: idOf(made) } });
      return made;
    } catch (error) {
      const problem = toProblem(error);
      const status = problem.getStatus();
      const outcome = status < 500 ? 'refused' : 'failed';
      await this.end({ ...about, outcome, status, detail: { via: 'console', code: problem.code } });
      throw error;
    }
  }

  private about(req: Request, caller: Caller, action: string): Omit<Entry, 'outcome' | 'status' | 'detail'> {
    return { actor: caller.name, role: caller.role, action, target: targetOf(req), source: addressOf(req) };
  }

  private async end(entry: Entry): Promise<void> {
    try {
      await this.audit.write(entry);
    } catch (err) {
      this.log.error(
        { event: 'audit.outcome_lost', err, action: entry.action },
        "Couldn't audit the outcome of a change",
      );
    }
  }
}
