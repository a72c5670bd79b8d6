// What a feature does for as long as the daemon serves: its timers, and its record of the open endpoints.
import { Injectable } from '@nestjs/common';

export type Served = {
  /** Runs when the endpoints are open. */
  readonly start: () => void;
  /** Waits for the work under way. */
  readonly stop: () => Promise<void>;
  /** How long the daemon's stop waits for it, in milliseconds. It must fit into the 20 seconds after SIGTERM. */
  readonly graceMs: number;
};

@Injectable()
export class Lifecycle {
  private readonly parts: Served[] = [];

  add(part: Served): void {
    this.parts.push(part);
  }

  start(): void {
    for (const { start } of this.parts) start();
  }

  get served(): readonly Served[] {
    return this.parts;
  }
}
