// Ports for time, waiting, random numbers and ids. A test or a simulation can replace them.

export abstract class Clock {
  /** The time now, in UTC. */
  abstract now(): Date;
  /** Resolves after `ms` milliseconds, or at once when `signal` aborts. Never rejects. */
  abstract sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export abstract class Rng {
  /** A number in [0, 1), only for jitter, never for secrets. */
  abstract next(): number;
}

export abstract class Ids {
  /** A new, unguessable id with this prefix, for example `sup_0192f…`. */
  abstract next(prefix: string): string;
}
