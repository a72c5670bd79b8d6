// The audit log in PostgreSQL. It is append-only: the database refuses every change.
import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../shared/domain/ports/audit-log.js';
import { DatabaseTime, timeSql } from './database-time.js';
import { Database } from './database.js';

/**
 * The trail never changes, so it keeps ids only: a caller may have put a name or an e-mail address into a path. A
 * partner's reference names a merchant, and may have blanks.
 */
function shownTarget({ action, target }: Pick<Entry, 'action' | 'target'>): string | null {
  return target !== null && /[\s@]/.test(target) && !action.startsWith('onboard') ? '(no id)' : target;
}

type Entry = Parameters<AuditLog['write']>[0];

@Injectable()
export class PgAuditLog extends AuditLog {
  constructor(
    private readonly db: Database,
    private readonly time: DatabaseTime,
  ) {
    super();
  }

  async write(event: Entry): Promise<void> {
    await this.db.pool.query(
      `insert into audit (at, actor, role, action, target, source, outcome, status, detail)
         values (${timeSql(1)}, $2, $3, $4, $5, $6, $7, $8, $9)`,
      [
        this.time.given(),
        event.actor,
        event.role,
        event.action,
        shownTarget(event),
        event.source,
        event.outcome,
        event.status,
        event.detail,
      ],
    );
  }
}
