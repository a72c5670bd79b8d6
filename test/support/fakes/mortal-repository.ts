// A lane store whose process dies just before a chosen transaction.
import { type Claim, LaneRepository, type LaneWork } from '../../../src/engine/lane.repository.js';

/** Thrown where the process dies. The last reply is lost. */
export class Crash extends Error {}

/** Passes every call on, and dies just before the given transaction. */
export class MortalRepository extends LaneRepository {
  transactions = 0;
  dieBefore: number | null = null;

  constructor(private readonly inner: LaneRepository) {
    super();
  }

  override time(): Promise<Date> {
    return this.inner.time();
  }

  override claim(owner: string, limit: number, leaseMs: number): Promise<readonly Claim[]> {
    return this.inner.claim(owner, limit, leaseMs);
  }

  override renew(...args: Parameters<LaneRepository['renew']>): ReturnType<LaneRepository['renew']> {
    return this.inner.renew(...args);
  }

  override transact<T>(work: LaneWork<T>): Promise<T> {
    if (work.fence !== null && ++this.transactions === this.dieBefore) throw new Crash();
    return this.inner.transact(work);
  }

  override release(...args: Parameters<LaneRepository['release']>): Promise<void> {
    return this.inner.release(...args);
  }

  override postpone(...args: Parameters<LaneRepository['postpone']>): Promise<boolean> {
    return this.inner.postpone(...args);
  }

  override tell(...args: Parameters<LaneRepository['tell']>): Promise<void> {
    return this.inner.tell(...args);
  }
}
