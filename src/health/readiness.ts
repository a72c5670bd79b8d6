// Whether this process takes traffic: set at its start and stop, shown by /readyz.
import { Injectable } from '@nestjs/common';

@Injectable()
export class Readiness {
  #ready = false;
  #reason = 'starting';

  /** `reason` in one word, for people: `ready`, `starting`, `stopping`. */
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
