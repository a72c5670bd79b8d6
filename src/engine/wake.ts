// A tap on the workers' shoulder: something is due now. Losing one costs nothing but the next poll.
import { Injectable } from '@nestjs/common';

@Injectable()
export class Wake {
  private readonly listeners = new Set<() => void>();

  /** Called after each commit that made something due. */
  lanes(): void {
    for (const listener of this.listeners) listener();
  }

  onLanes(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}
