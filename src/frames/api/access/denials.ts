// Records refused callers in the audit log: every known caller, but only a limited number of unknown callers, since
// they could fill the database.
import { Inject, Injectable } from '@nestjs/common';
import { Clock } from '../../../shared/domain/ports/clock.js';
import { AuditLog } from '../../../shared/domain/ports/audit-log.js';
import { LOG, type Logger, MinuteLimit } from '../../../shared/observe/index.js';

/**
 * The most rows a minute for one address without a known key. Crossbill only counts further refusals of this address.
 * The address's next row, in a later minute, contains the count.
 */
const ROWS_OF_ONE = 100;
/** The most rows a minute for all addresses together: an IPv6 network has endless addresses. */
const ROWS_OF_ALL = 1_500;
const MAX_ADDRESSES = 10_000;
/** The longest time an unknown caller's reply waits for the row in the audit log, in milliseconds. */
const TIMEOUT_MS = 2_000;

export type Denial = {
  readonly actor: string;
  readonly role: string | null;
  readonly action: string;
  readonly target: string | null;
  readonly source: string;
  readonly status: 401 | 403;
};

@Injectable()
export class Denials {
  private readonly byAddress = new Map<string, MinuteLimit>();
  private readonly ofAll = new MinuteLimit(ROWS_OF_ALL);

  constructor(
    private readonly audit: AuditLog,
    private readonly clock: Clock,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  /**
   * Records a refusal. Resolves as soon as the audit log has the row, or after TIMEOUT_MS. Resolves immediately if the
   * refusal gets no row. Never rejects.
   */
  async record(denial: Denial): Promise<void> {
    const unwritten = denial.status === 401 ? this.admit(denial.source) : 0;
    if (unwritten === null) return;
    const detail = unwritten === 0 ? null : { more_not_written: unwritten };
    const written = this.audit
      .write({ ...denial, outcome: 'denied', detail })
      .catch((err: unknown) => this.log.error({ event: 'audit.denial_lost', err }, "Couldn't audit a refused request"));
    const timeout = new AbortController();
    await Promise.race([written, this.clock.sleep(TIMEOUT_MS, timeout.signal)]);
    timeout.abort();
  }

  /**
   * True if the rows of this minute are used up, for this address or for all addresses together. The refusal then gets
   * no row, and the method counts the refusal.
   */
  full(source: string): boolean {
    const now = this.clock.now().getTime();
    const full = this.ofAll.isFull(now) || this.byAddress.get(source)?.isFull(now) === true;
    if (full) this.admit(source);
    return full;
  }

  /**
   * Decides whether a refusal gets a row in the audit log. Returns the number of earlier refusals without a row. Null:
   * this refusal gets no row.
   */
  private admit(source: string): number | null {
    const now = this.clock.now().getTime();
    let limit = this.byAddress.get(source);
    if (limit === undefined) {
      if (this.byAddress.size >= MAX_ADDRESSES) this.forgetAddresses();
      limit = new MinuteLimit(ROWS_OF_ONE);
      this.byAddress.set(source, limit);
    }
    // If all addresses together have used up the rows of this minute, this address keeps its count for a later row.
    const own = this.ofAll.isFull(now) ? 0 : limit.admit(now);
    if (own === null) return null;
    const others = this.ofAll.admit(now);
    return others === null ? null : own + others;
  }

  private forgetAddresses(): void {
    for (const limit of this.byAddress.values()) this.ofAll.absorb(limit);
    this.byAddress.clear();
  }
}
