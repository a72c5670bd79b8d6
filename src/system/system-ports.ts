// The machine's own clock, chance and names, behind the domain's ports.
import { randomBytes } from 'node:crypto';
import { Global, Module } from '@nestjs/common';
import { Clock, Ids, Rng } from '../domain/ports/clock.js';

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

/** 16 random bytes behind the prefix, with the time in front so that new rows lie beside each other in an index. */
export class SystemIds extends Ids {
  next(prefix: string): string {
    return `${prefix}_${Date.now().toString(16).padStart(12, '0')}${randomBytes(10).toString('hex')}`;
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
