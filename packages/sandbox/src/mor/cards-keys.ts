// The idempotency keys of Document 3: the sandbox keeps the first reply. The same key with another body is a conflict.
import { type OpenFacts } from './open-facts.js';
import { Refusal, type Reply, type SandboxRequest, morError } from '../kernel/http.js';

type Kept = { readonly raw: string; readonly reply: Reply };

export class KeptReplies {
  private readonly replies = new Map<string, Kept>();

  constructor(private readonly facts: OpenFacts) {}

  /**
   * Runs `work`, or replays the reply kept for this path and key. Keeps no refusal: a refused request changed nothing.
   */
  once(request: SandboxRequest, work: () => Reply): Reply {
    const key = request.idempotencyKey;
    if (key === null || key === '' || this.facts.is('keys', 'forgotten')) return work();
    const name = `${request.method} ${request.path} ${key}`;
    const raw = request.raw.toString('utf8');
    const kept = this.replies.get(name);
    if (kept !== undefined) {
      if (kept.raw !== raw) throw new Refusal(morError(409, 'idempotency_conflict'));
      return { ...kept.reply, headers: { ...kept.reply.headers, 'idempotent-replayed': 'true' } };
    }
    const reply = work();
    if (reply.status === 200) this.replies.set(name, { raw, reply });
    return reply;
  }
}
