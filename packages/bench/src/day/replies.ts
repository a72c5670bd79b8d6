// Response times and statuses in the day benchmark: by kind of request, and by part of the daemon in each minute.
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';

export type Part = 'endpoints' | 'api' | 'refunds' | 'console' | 'exports' | 'metrics';

const LONGEST_US = 600_000_000;
const MINUTE_MS = 60_000;

const histogram = (): RecordableHistogram => createHistogram({ lowest: 1, highest: LONGEST_US, figures: 3 });

export type Percentiles = {
  readonly n: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly mostMs: number;
};

const NONE: Percentiles = { n: 0, p50Ms: 0, p99Ms: 0, mostMs: 0 };

export function percentilesOf(recordableHistogram: RecordableHistogram | undefined): Percentiles {
  if (recordableHistogram === undefined || recordableHistogram.count === 0) return NONE;
  const ms = (us: number): number => us / 1_000;
  return {
    n: recordableHistogram.count,
    p50Ms: ms(recordableHistogram.percentile(50)),
    p99Ms: ms(recordableHistogram.percentile(99)),
    mostMs: ms(recordableHistogram.max),
  };
}

export type KindSeen = Percentiles & {
  readonly part: Part;
  readonly kind: string;
  /** The number of responses by status. 0: no response came. */
  readonly statuses: Readonly<Record<number, number>>;
};

type Kind = { readonly part: Part; readonly took: RecordableHistogram; readonly statuses: Record<number, number> };

export class Replies {
  private readonly kinds = new Map<string, Kind>();
  private readonly minutes = new Map<string, RecordableHistogram>();
  /** The text of the first unexpected responses. */
  readonly wrong: string[] = [];
  wrongCount = 0;

  /**
   * @param tookMs measured from the due time, not from the send: waiting behind a slow response counts too
   * @param atMs the due time, in milliseconds since the day began
   */
  note(part: Part, kind: string, tookMs: number, status: number, atMs: number): void {
    const us = Math.min(LONGEST_US, Math.max(1, Math.round(tookMs * 1_000)));
    let of = this.kinds.get(kind);
    if (of === undefined) this.kinds.set(kind, (of = { part, took: histogram(), statuses: {} }));
    of.took.record(us);
    of.statuses[status] = (of.statuses[status] ?? 0) + 1;
    const minute = `${part} ${Math.floor(atMs / MINUTE_MS)}`;
    let so = this.minutes.get(minute);
    if (so === undefined) this.minutes.set(minute, (so = histogram()));
    so.record(us);
  }

  unexpected(what: string): void {
    if (this.wrongCount++ < 20) this.wrong.push(what);
  }

  ofMinute(part: Part, minute: number): Percentiles {
    return percentilesOf(this.minutes.get(`${part} ${minute}`));
  }

  all(): readonly KindSeen[] {
    return [...this.kinds].map(([kind, { part, took, statuses }]) => ({
      part,
      kind,
      ...percentilesOf(took),
      statuses,
    }));
  }

  /** All kinds of one part together. */
  whole(part: Part): Percentiles {
    const sum = histogram();
    for (const of of this.kinds.values()) if (of.part === part) sum.add(of.took);
    return percentilesOf(sum);
  }
}
