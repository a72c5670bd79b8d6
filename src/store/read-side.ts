// Which server a read goes to: the ports that only read are made twice, and whoever reads says for which work the standby will do.
import { AsyncLocalStorage } from 'node:async_hooks';
import { Injectable } from '@nestjs/common';
import { ReadSide, type StandbyStanding } from '../domain/ports/read-side.js';
import { Database, isUnavailable } from './database.js';

@Injectable()
export class PgReadSide extends ReadSide {
  /** The database of the work that is under way; nothing: the primary. */
  private readonly place = new AsyncLocalStorage<Database>();

  constructor(private readonly db: Database) {
    super();
  }

  async read<T>(work: () => Promise<T>, mayRepeat = () => true): Promise<T> {
    const { standby } = this.db;
    if (standby === null || this.place.getStore() !== undefined) return work();
    const reading = await standby.caughtUp();
    if (reading === null) return work();
    try {
      return await this.place.run(reading, work);
    } catch (e) {
      if (!isUnavailable(e) || !mayRepeat()) throw e;
      standby.failed(e);
      return work();
    }
  }

  async standing(): Promise<StandbyStanding | null> {
    const news = await this.db.standby?.standing();
    return news === undefined ? null : { used: news.state === 'used', detail: news.detail };
  }

  /** A port that reads where the work under way reads. Without a standby it is the port itself. */
  routed<T extends object>(make: (db: Database) => T): T {
    const onPrimary = make(this.db);
    if (this.db.standby === null) return onPrimary;
    const made = new WeakMap<Database, T>();
    const here = (): T => {
      const reading = this.place.getStore();
      if (reading === undefined) return onPrimary;
      const own = made.get(reading) ?? make(reading);
      made.set(reading, own);
      return own;
    };
    return new Proxy(onPrimary, {
      get: (_, name) => {
        const target = here();
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
  }
}
