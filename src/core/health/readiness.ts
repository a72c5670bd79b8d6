// Knows if this process accepts traffic. The daemon sets this at start and stop, and /readyz shows it.
import { Injectable } from '@nestjs/common';

@Injectable()
export class Readiness {
  #ready = false;
  #reason = 'starting';

  /** `reason` is one word for people: `ready`, `starting`, `stopping`. */
  set(ready: boolean, reason: string): void {
    this.#ready = ready;
    this.#reason = reason;
  }

  get ready(): boolean {
    return this.#ready;
  }

  get reason(): string {
    return this.#reason;
  }
}
