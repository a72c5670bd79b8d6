// Backfill: what Stripe has and this database has not, taken in by verify's own repair.
import { type Difference, isRepairable } from '../domain/difference.js';
import { type Repaired } from './verify-repair.js';
import { type VerifyFlow, type VerifyOptions, type VerifyReport } from './verify.flow.js';

export type Found = { readonly report: VerifyReport; readonly missing: readonly Difference[] };

export class BackfillFlow {
  constructor(private readonly verify: VerifyFlow) {}

  /** Compares, and picks what never came. A run that is `incomplete` gives what it found so far, and says so. */
  async find(options: VerifyOptions): Promise<Found> {
    const report = await this.verify.run(options);
    return { report, missing: report.differences.filter((d) => d.kind === 'event_never_delivered' && isRepairable(d)) };
  }

  /** Begins to take it in; the workers decide it like anything that was delivered. */
  takeIn({ report, missing }: Found): Promise<Repaired> {
    return this.verify.repair(report, [...missing]);
  }
}
