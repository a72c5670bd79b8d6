// Traces: what the daemon's parts report becomes spans, when a collector is configured; otherwise nothing happens at all.

/** Milliseconds since 1970, with fractions. */
export type SpanTime = { readonly startedAt: number; readonly endedAt: number };

/** An event of the inbox. `lane`: what it is about, usually the invoice id. */
export type TracedEvent = {
  readonly source: string;
  readonly eventId: string;
  readonly type: string;
  readonly lane: string;
};

/** One claim of a lane; each has a new `fence`. */
export type TracedWork = { readonly lane: string; readonly fence: bigint; readonly events: readonly TracedEvent[] };

export type TracedCall = {
  readonly name: string;
  readonly status: number | null;
  readonly requestId: string | null;
  /** Null: it was answered. Otherwise the kind of failure. */
  readonly failure: string | null;
};

/**
 * Everything about one lane is one trace, whichever process or replica did it and when: the trace's id is made of the lane's name.
 * Reports come after the fact, so nothing is carried along on the way. No method throws or waits, but `close`.
 */
export abstract class Tracer {
  /** A delivery was answered at its door. `outcome`: as the inbox said. */
  abstract webhook(event: TracedEvent, outcome: string, time: SpanTime): void;
  /** One transaction of a claim; `decided`: the events it decided. */
  abstract decision(work: TracedWork, decided: readonly TracedEvent[], time: SpanTime): void;
  /** One call to Stripe or the MoR within a claim. */
  abstract call(work: TracedWork, call: TracedCall, time: SpanTime): void;
  /** A claim is over. */
  abstract work(work: TracedWork, time: SpanTime): void;
  /** Sends what is left, within `ms`. Never rejects. */
  abstract close(ms: number): Promise<void>;
}

/** The one name of an event in every log line and trace, from the door to the last call: its sender and its id there. */
export function eventName(e: { readonly source: string; readonly eventId: string }): string {
  return `${e.source}:${e.eventId}`;
}
