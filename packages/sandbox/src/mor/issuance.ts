// Runs slow work of the MoR after some seconds, or later if a control route holds it back.
import { Fields } from '../kernel/json.js';
import { type Kernel } from '../kernel/kernel.js';

export class Issuance {
  private held = false;
  private waiting: (() => void)[] = [];

  constructor(private readonly kernel: Kernel) {
    kernel.control('POST', '/_sandbox/issuance', 'documents stay pending while held: {hold: boolean}', (request) => {
      this.hold(new Fields(request.body).optionalBoolean('hold') ?? true);
      return { status: 200, body: { hold: this.held, waiting: this.waiting.length } };
    });
  }

  /** Runs `work` after `ms` of virtual time, or later when a control route releases it. */
  after(ms: number, label: string, work: () => void): void {
    this.kernel.clock.after(ms, label, () => {
      if (this.held) this.waiting.push(work);
      else work();
    });
  }

  private hold(hold: boolean): void {
    this.held = hold;
    if (hold) return;
    const due = this.waiting;
    this.waiting = [];
    for (const work of due) work();
  }
}
