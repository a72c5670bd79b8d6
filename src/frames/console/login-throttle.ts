// Slows down guesses at API keys: after five wrong keys, each further wrong key makes its IP address wait longer. A
// right key never waits.
import { Injectable } from '@nestjs/common';
import { Clock } from '../../shared/domain/ports/clock.js';

const FREE_TRIES = 5;
const LONGEST_WAIT_SEC = 60;
const FORGET_MS = 15 * 60_000;
const MAX_ADDRESSES = 10_000;

type Tries = { failed: number; last: number; closedUntil: number };

@Injectable()
export class LoginThrottle {
  readonly #tries = new Map<string, Tries>();

  constructor(private readonly clock: Clock) {}

  /** The remaining wait of this address, in seconds. 0: no wait. */
  waitSec(address: string): number {
    const now = this.clock.now().getTime();
    const wait = (this.#tries.get(address)?.closedUntil ?? 0) - now;
    return Math.min(LONGEST_WAIT_SEC, Math.max(0, Math.ceil(wait / 1000)));
  }

  failed(address: string): void {
    const now = this.clock.now().getTime();
    const before = this.#tries.get(address);
    const failed = before === undefined || Math.abs(now - before.last) > FORGET_MS ? 1 : before.failed + 1;
    const waitSec = failed < FREE_TRIES ? 0 : Math.min(LONGEST_WAIT_SEC, 2 ** (failed - FREE_TRIES));
    if (this.#tries.size >= MAX_ADDRESSES) this.#tries.clear();
    this.#tries.set(address, { failed, last: now, closedUntil: now + waitSec * 1000 });
  }

  succeeded(address: string): void {
    this.#tries.delete(address);
  }
}
