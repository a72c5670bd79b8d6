// The database returns to an older state (a restored backup, or a standby without the last commits). Stripe and the MoR
// keep their state. Then an operator follows docs/backups.md.
import { signatureHeader } from '@crossbill/sandbox/kernel/signature.js';
import { type Copied, GAP_MARGIN_MS, type Gap } from './facts.js';
import { type People } from './people.js';
import { type World } from '../machine/world.js';

const MINUTE = 60_000;
/** The longest lag of a standby: it takes over after this time even without further steps. */
const LAG_MOST_MS = MINUTE;
const TRY_AGAIN_MS = 10 * MINUTE;
const TRIES = 150; // enough tries if Stripe or the MoR is down for a day

type Marks = {
  readonly at: number;
  readonly heard: number;
  readonly namings: number;
  readonly returns: ReadonlyMap<string, 'returned' | 'undone'>;
};

export class SetBack {
  private marks: Marks | null = null;
  /** Endpoint and body → the last delivery of this body from the MoR. */
  private readonly notified = new Map<string, Copied>();

  constructor(
    private readonly world: World,
    private readonly people: People,
    /** Minutes from the restore to the repeated refund requests. The MoR repeats its events after 20 minutes. */
    private readonly asksAgainAfter = 10,
  ) {
    world.onSent = (delivery) => {
      if (delivery.source === 'stripe') return;
      this.notified.set(`${delivery.source} ${delivery.body.toString('utf8')}`, delivery);
    };
  }

  async backUp(): Promise<void> {
    const { world } = this;
    await world.repository.keep();
    world.mayBeLost = true;
    this.marks = {
      at: world.now,
      heard: world.heard.length,
      namings: world.planted.namings.length,
      returns: new Map(world.planted.returns),
    };
    world.scheduler.tell('the database is copied');
  }

  /** Stops all replicas and restores the copy with its sequences. */
  async restore(): Promise<void> {
    if (this.marks === null) return;
    this.world.stopAll();
    await this.putBack(true);
  }

  /**
   * After the next `steps` database steps a standby without them takes over, and the replicas keep running. Its
   * sequences are ahead, because PostgreSQL logs more sequence numbers than it uses.
   */
  async failOver(steps: number): Promise<void> {
    const { scheduler } = this.world;
    await this.backUp();
    const [upTo, latest] = [scheduler.stored + steps, this.world.now + LAG_MOST_MS];
    scheduler.between = async () => {
      if (scheduler.stored < upTo && this.world.now < latest) return;
      scheduler.between = null;
      await this.putBack(false);
    };
  }

  private async putBack(numbers: boolean): Promise<void> {
    const { world, marks } = this;
    if (marks === null) return;
    const written = await world.repository.notificationIds();
    await world.repository.putBack(numbers);
    const left = new Set(await world.repository.notificationIds());
    for (const id of written) if (!left.has(id)) world.forgotten.add(id);
    world.scheduler.storeIsOther();
    this.marks = null;
    const gap = { from: marks.at, to: world.now };
    world.gaps.push(gap);
    world.mayBeLost = false;
    world.scheduler.tell(`the database is as it was ${(gap.to - gap.from) / 1_000} s ago`);
    // The rules compare with the restored database, so forget everything since the backup.
    world.heard.length = marks.heard;
    world.planted.namings.length = marks.namings;
    world.planted.returns.clear();
    for (const [id, act] of marks.returns) world.planted.returns.set(id, act);
    this.recover(
      gap,
      [...this.notified.values()].filter((d) => d.at >= gap.from - GAP_MARGIN_MS),
    );
  }

  /** The operator follows docs/backups.md. */
  private recover(gap: Gap, notified: readonly Copied[]): void {
    const { world } = this;
    const after = (minutes: number, what: string, act: () => void): void =>
      world.scheduler.plan(world.now + minutes * MINUTE, what, act);
    after(3, 'verify repairs', () => void this.repair(gap));
    // The merchant's backend repeats its refund requests of the lost time under the same keys.
    after(this.asksAgainAfter, 'refunds are asked for again', () => void this.people.askAgain(gap.from));
    after(20, 'the MoR sends its events again', () => {
      for (const delivery of notified) void this.sendAgain(delivery);
    });
    after(60, 'verify repairs again', () => void this.repair(gap));
  }

  private async repair({ from }: Gap): Promise<void> {
    const { world } = this;
    for (let n = 0; n < TRIES; n++) {
      const whole = await world.ask('verify', async (r) => {
        const report = await r.verify.run({ since: new Date(from - GAP_MARGIN_MS) });
        if (report.outcome === 'differences') await r.verify.repair(report);
        return report.outcome !== 'incomplete';
      });
      if (whole === true) return;
      await world.sleep(TRY_AGAIN_MS);
    }
  }

  /** Sends a delivery again, signed with a new timestamp, until Crossbill answers 200. */
  private async sendAgain({ source, headers, body }: Copied): Promise<void> {
    const { world } = this;
    const { paymentWebhookSecret, eventWebhookSecret } = world.sandbox.secrets;
    const secret = source === 'mor_payments' ? paymentWebhookSecret : eventWebhookSecret;
    const name = Object.keys(headers).find((h) => h.endsWith('-signature')) ?? '';
    for (let n = 0; n < TRIES; n++) {
      const stamped = { ...headers, [name]: signatureHeader(body, secret, Math.floor(world.now / 1_000)) };
      const status = await world.deliver(`http://daemon/${source}`, stamped, body, 10_000);
      if (status === 200) return;
      await world.sleep(TRY_AGAIN_MS);
    }
  }
}
