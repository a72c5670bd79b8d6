// Waits for the MoR's reply about an object and turns it into an HTTP response.
import { Injectable } from '@nestjs/common';
import { type MorObjectRow } from '../../shared/domain/mor-object.js';
import { ReadModel } from '../../engine/read-model.js';
import { Clock } from '../../shared/domain/ports/clock.js';
import { morProblem, Problem } from '../../frames/api/http/problem.js';
import { callersField } from './callers-words.js';
import { REPLY_TIMEOUT_MS, replyPauseMs } from '../../shared/policy.js';

@Injectable()
export class ObjectReplies {
  constructor(
    private readonly books: ReadModel,
    private readonly clock: Clock,
  ) {}

  /**
   * Waits for the MoR's reply and returns the object. Throws the MoR's refusal with its status and code, or 502 without
   * a reply.
   */
  async of(asked: MorObjectRow): Promise<MorObjectRow> {
    const start = this.clock.now().getTime();
    let id = asked.id;
    for (;;) {
      const objects = await this.books.objects(asked.invoiceId);
      const found = objects.find((o) => o.id === id);
      if (found === undefined) throw new Error(`object ${id} was stored, but is not in the database`);
      const waited = this.clock.now().getTime() - start;
      const { refusal, replacedBy, unanswered } = found.detail;
      if (found.status === 'REPLACED' && replacedBy !== undefined) {
        id = replacedBy;
        continue;
      }
      if (found.status === 'REFUSED') {
        const why = refusal ?? { status: null, code: null, message: 'refused', errors: [] };
        const none = { retryAfterMs: null, requestId: null, replayed: false };
        throw morProblem({ ok: false, kind: 'refused', ...why, ...none }, callersField);
      }
      // If another integration made the object, only a read shows its status. Wait if the read is due now, but not if
      // the read is due later.
      const isRead = found.readDueAt !== null && found.readDueAt.getTime() <= this.clock.now().getTime();
      if (found.status !== 'REQUESTED' && !isRead) return found;
      if (found.status !== 'REQUESTED' && waited >= REPLY_TIMEOUT_MS) return found;
      const silent = unanswered === true && found.morId === null && found.updatedAt.getTime() >= start;
      if (silent || waited >= REPLY_TIMEOUT_MS) {
        const said = 'The MoR has not answered. Crossbill repeats the request; ask again later for the result.';
        throw new Problem(502, 'mor_unavailable', said);
      }
      await this.clock.sleep(replyPauseMs(waited));
    }
  }
}
