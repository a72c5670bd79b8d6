// The audit trail in PostgreSQL: append-only, the database refuses anything else.
import { Injectable } from '@nestjs/common';
import { Clock } from '../domain/ports/clock.js';
import { AuditLog } from '../domain/ports/signups.js';
import { Database } from './database.js';

@Injectable()
export class PgAuditLog extends AuditLog {
  constructor(
    private readonly db: Database,
    private readonly clock: Clock,
  ) {
    super();
  }

  async write(e: Parameters<AuditLog['write']>[0]): Promise<void> {
    await this.db.pool.query(
      'insert into audit (at, actor, role, action, target, source, outcome, status, detail) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)',
      [this.clock.now(), e.actor, e.role, e.action, e.target, e.source, e.outcome, e.status, e.detail],
    );
  }
}
