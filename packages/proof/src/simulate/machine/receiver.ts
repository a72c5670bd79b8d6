// The merchant's receiver of notifications, simulated. It may be unreachable, and its answer may get lost.
import { type Delivery, type DeliveryResult, Receiver } from '#src/shared/domain/ports/receiver.js';
import { type FaultKind } from './faults.js';
import { type Owner, type Scheduler } from './scheduler.js';

const LEGAL: readonly FaultKind[] = ['refuse', 'lose_request', 'lose_answer', 'status_503', 'effect_then_500'];
const NOT_HEARD: readonly (FaultKind | null)[] = ['refuse', 'lose_request', 'status_503'];

export class SimReceiver extends Receiver {
  constructor(
    readonly enabled: boolean,
    private readonly scheduler: Scheduler,
    private readonly owner: Owner,
    private readonly hear: (delivery: Delivery) => void,
  ) {
    super();
  }

  override async send(delivery: Delivery): Promise<DeliveryResult> {
    if (this.scheduler.inDatabase) this.scheduler.broken.push('a notification is sent inside a transaction');
    let fault: FaultKind | null = null;
    await this.scheduler.step(this.owner, 'receiver POST', LEGAL, (f) => {
      fault = f;
      if (!NOT_HEARD.includes(f)) this.hear(delivery);
      return Promise.resolve(delivery.id);
    });
    const why = fault as FaultKind | null;
    const outcome = why === null ? 'delivered' : 'failed';
    return { outcome, status: why === null ? 200 : null, why, retryAfterMs: null, elapsedMs: 0 };
  }
}
