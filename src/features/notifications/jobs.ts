// The two timers of notifications. The first timer delivers the stored notifications. The second timer makes the
// notifications that no lane makes, for example about a near deadline.
import { type Lookout } from './lookout.js';
import { type Notifier } from './notifier.js';

export class NotificationJobs {
  /** `lookout` is null in shadow mode. Crossbill then still delivers the stored notifications. */
  constructor(
    private readonly notifier: Notifier,
    private readonly lookout: Lookout | null,
  ) {}

  start(): void {
    this.notifier.start();
    this.lookout?.start();
  }

  async stop(): Promise<void> {
    await Promise.all([this.notifier.stop(), this.lookout?.stop()]);
  }
}
