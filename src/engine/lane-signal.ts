// Wakes the workers when a lane becomes due. If a wake-up is lost, the next poll finds the lane.
import { Injectable } from '@nestjs/common';

@Injectable()
export class LaneSignal {
  private readonly listeners = new Set<() => void>();

  /** Wakes all listening workers. Call this method after each commit with a due lane. */
  lanes(): void {
    for (const listener of this.listeners) listener();
  }

  onLanes(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}
