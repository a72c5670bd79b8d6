// The audit log in PostgreSQL. It is append-only: the database refuses every change.
import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../shared/domain/ports/audit-log.js';
import { DatabaseTime, timeSql } from './database-time.js';
import { Database } from './database.js';

@Injectable()
export class PgAuditLog extends AuditLog {
  constructor(
    private readonly db: Database,
    private readonly time: DatabaseTime,
  ) {
    super();
  }

  async write(e: Parameters<AuditLog['write']>[0]): Promise<void> {
    await this.db.pool.query(
      `insert into audit (at, actor, role, action, target, source, outcome, status, detail)
         values (${timeSql(1)}, $2, $3, $4, $5, $6, $7, $8, $9)`,
      [this.time.given(), e.actor, e.role, e.action, e.target, e.source, e.outcome, e.status, e.detail],
    );
  }
}
