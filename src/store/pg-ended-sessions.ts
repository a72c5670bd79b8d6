// Logged-out sessions of the console in PostgreSQL.
import { Injectable } from '@nestjs/common';
import { Clock } from '../domain/ports/clock.js';
import { EndedSessions } from '../domain/ports/ended-sessions.js';
import { Database } from './database.js';

@Injectable()
export class PgEndedSessions extends EndedSessions {
  constructor(
    private readonly db: Database,
    private readonly clock: Clock,
  ) {
    super();
  }

  async end(sessionId: string, endsAt: Date): Promise<void> {
    // Those whose cookie is over anyway go with it: nobody else needs to sweep.
    await this.db.pool.query('delete from console_logout where ends_at < $1', [this.clock.now()]);
    await this.db.pool.query(
      'insert into console_logout (session_id, ends_at) values ($1, $2) on conflict do nothing',
      [sessionId, endsAt],
    );
  }

  async isEnded(sessionId: string): Promise<boolean> {
    const found = await this.db.pool.query('select 1 from console_logout where session_id = $1', [sessionId]);
    return found.rowCount === 1;
  }
}
