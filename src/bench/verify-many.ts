// Verify over many invoices against a Stripe that answers at once: what it costs and what it keeps in memory.
import { FlowContext } from '../flows/flow-context.js';
import { VerifyFlow } from '../flows/verify.flow.js';
import { Wake } from '../flows/wake.js';
import { Database } from '../store/database.js';
import { PgInbox } from '../store/inbox-store.js';
import { PgLaneStore } from '../store/lane-store.js';
import { PgVerifyBooks } from '../store/pg-verify-books.js';
import { StripeBillingPlatform } from '../stripe/stripe-billing-platform.js';
import { StripeBillingReader } from '../stripe/stripe-billing-reader.js';
import { SystemClock, SystemIds, SystemRng } from '../system/system-ports.js';
import { NoGateway } from './peers.js';
import { memoryOf, type Rig, withPeer } from './rig.js';
import { BENCH_SETTINGS, seenBy, stripeOf } from './whole-path.js';

export async function verifyMany(rig: Rig): Promise<void> {
  const count = Math.round(1_000_000 * rig.scale);
  await rig.fresh((url) =>
    withPeer(rig, { delayMs: 0, listed: count }, async (peerUrl) => {
      const db = await Database.open({ url, poolSize: 10, onError: (e) => console.error(e.message) });
      await rig.fill(db, count);
      const flow = verifyFlow(db, peerUrl);
      const memory: number[] = [];
      let compared = 0;
      const began = performance.now();
      const report = await flow.run({
        since: new Date('2020-01-01'),
        onProgress: (n) => {
          const done = n['invoices'] ?? 0;
          if (done === compared || done % (count / 10) !== 0) return;
          compared = done;
          memory.push(Math.round(process.memoryUsage().rss / 1_048_576));
        },
      });
      const seconds = (performance.now() - began) / 1000;
      const { calls } = await seenBy(peerUrl);
      const { most } = await memoryOf(undefined);
      rig.table(`Verify of ${count} invoices`, [
        { what: 'outcome', seen: report.outcome },
        { what: 'invoices a second', seen: Math.round(count / seconds) },
        { what: 'requests to Stripe', seen: calls },
        { what: 'seconds at 20 requests a second', seen: Math.round(calls / 20) },
        { what: 'memory MB at each tenth', seen: memory.join(' ') },
      ]);
      rig.found['verify'] = { count, outcome: report.outcome, seconds, calls, memory, most };
      await db.close();
    }),
  );
}

function verifyFlow(db: Database, peerUrl: string): VerifyFlow {
  const [clock, ids, gateway] = [new SystemClock(), new SystemIds(), new NoGateway()];
  const stripe = stripeOf(db, peerUrl, 4);
  const platform = new StripeBillingPlatform(stripe, null);
  const context = new FlowContext(BENCH_SETTINGS, clock, new SystemRng(), ids, platform, gateway);
  const [books, lanes, inbox] = [new PgVerifyBooks(db, clock), new PgLaneStore(db, clock), new PgInbox(db, ids)];
  return new VerifyFlow(
    books,
    new StripeBillingReader(stripe),
    platform,
    gateway,
    inbox,
    lanes,
    context,
    new Wake(),
    ids,
  );
}
