// Stores the console's sessions for every replica.
import { Injectable } from '@nestjs/common';
import { Clock } from '../../shared/domain/ports/clock.js';
import { type ConsoleSession, ConsoleSessions } from './console-sessions.js';
import { Database } from '../store/database.js';

type Row = {
  readonly id: string;
  readonly name: string;
  readonly source: string;
  readonly began_at: Date;
  readonly ends_at: Date;
};

@Injectable()
export class SessionsRepository extends ConsoleSessions {
  constructor(
    private readonly db: Database,
    private readonly clock: Clock,
  ) {
    super();
  }

  async begin({ id, name, source, beganAt, endsAt }: ConsoleSession): Promise<void> {
    // Each login also deletes the expired sessions, so no timer is needed.
    await this.db.pool.query('delete from console_session where ends_at < $1', [this.clock.now()]);
    await this.db.pool.query(
      'insert into console_session (id, name, source, began_at, ends_at) values ($1, $2, $3, $4, $5)',
      [id, name, source, beganAt, endsAt],
    );
  }

  async end(id: string): Promise<boolean> {
    const ended = await this.db.pool.query('delete from console_session where id = $1', [id]);
    return ended.rowCount === 1;
  }

  async isOpen(id: string): Promise<boolean> {
    const found = await this.db.pool.query('select 1 from console_session where id = $1', [id]);
    return found.rowCount === 1;
  }

  async list(limit: number): Promise<readonly ConsoleSession[]> {
    const { rows } = await this.db.pool.query<Row>(
      'select id, name, source, began_at, ends_at from console_session where ends_at > $1 order by began_at desc, id limit $2',
      [this.clock.now(), limit],
    );
    return rows.map((r) => ({ id: r.id, name: r.name, source: r.source, beganAt: r.began_at, endsAt: r.ends_at }));
  }
}
