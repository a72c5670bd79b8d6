// Waits for the MoR's reply to a refund request.
import { Injectable } from '@nestjs/common';
import { type ListedRefund, ReadModel } from '../../engine/read-model.js';
import { Clock } from '../../shared/domain/ports/clock.js';
import { replyPauseMs } from '../../shared/policy.js';

@Injectable()
export class RefundReplies {
  constructor(
    private readonly books: ReadModel,
    private readonly clock: Clock,
  ) {}

  /** Waits for the MoR's reply, or for a try without a reply, at most `timeoutMs`. Then returns the refund. */
  async of(id: string, timeoutMs: number): Promise<ListedRefund> {
    const start = this.clock.now().getTime();
    for (;;) {
      const found = await this.books.refund(id);
      if (found === null) throw new Error(`refund ${id} was stored, but is not in the database`);
      const waited = this.clock.now().getTime() - start;
      if (found.refund.status !== 'requested' || waited >= timeoutMs) return found;
      await this.clock.sleep(replyPauseMs(waited));
    }
  }
}
