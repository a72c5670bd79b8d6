// The machine's clock, random numbers and ids, behind the domain's ports.
import { randomUUID } from 'node:crypto';
import { Global, Module } from '@nestjs/common';
import { Clock, Ids, Rng } from '../shared/domain/ports/clock.js';

export class SystemClock extends Clock {
  now(): Date {
    return new Date();
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted === true) return resolve();
      const end = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      signal?.addEventListener('abort', end, { once: true });
    });
  }
}

export class SystemRng extends Rng {
  next(): number {
    return Math.random();
  }
}

/**
 * The id begins with the time, so new rows stand together in an index. Then come 80 random bits from a UUID, because
 * Node keeps random bytes for UUIDs ready.
 */
export class SystemIds extends Ids {
  next(prefix: string): string {
    const uuid = randomUUID();
    return `${prefix}_${Date.now().toString(16).padStart(12, '0')}${uuid.slice(0, 8)}${uuid.slice(24)}`;
  }
}

@Global()
@Module({
  providers: [
    { provide: Clock, useClass: SystemClock },
    { provide: Rng, useClass: SystemRng },
    { provide: Ids, useClass: SystemIds },
  ],
  exports: [Clock, Rng, Ids],
})
export class SystemModule {}
