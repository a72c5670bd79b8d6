// The database goes back, both peers do not: a restored backup, or a standby without the last commits. Then an operator
// follows docs/operating.md.
import { signatureHeader } from '@crossbill/sandbox/kernel/signature.js';
import { type Copied, GAP_MARGIN_MS, type Gap } from './facts.js';
import { type People } from './people.js';
import { type World } from './world.js';

const MINUTE = 60_000;
/** A standby further behind than this has caught up meanwhile. */
const LAG_MOST_MS = MINUTE;
const TRY_AGAIN_MS = 10 * MINUTE;
const TRIES = 150; // a peer may be out for a day

type Marks = {
  readonly at: number;
  readonly heard: number;
  readonly namings: number;
  readonly returns: ReadonlyMap<string, 'returned' | 'undone'>;
};

export class SetBack {
  private marks: Marks | null = null;
  /** The MoR's deliveries, by their bytes, each as last delivered. */
  private readonly told = new Map<string, Copied>();

  constructor(
    private readonly world: World,
    private readonly people: People,
    /** Time of the repeated refund requests, in minutes after the loss. The MoR's events are back after 20. */
    private readonly asksAgainAfter = 10,
  ) {
    world.onSent = (delivery) => {
      if (delivery.source === 'stripe') return;
      this.told.set(`${delivery.source} ${delivery.body.toString('utf8')}`, delivery);
    };
  }

  async backUp(): Promise<void> {
    const { world } = this;
    await world.store.keep();
    world.mayBeLost = true;
    this.marks = {
      at: world.now,
      heard: world.heard.length,
      namings: world.planted.namings.length,
      returns: new Map(world.planted.returns),
    };
    world.scheduler.tell('the database is copied');
  }

  /** Stops everybody and puts the copy back, its sequences too. */
  async restore(): Promise<void> {
    if (this.marks === null) return;
    this.world.stopAll();
    await this.putBack(true);
  }

  /**
   * A standby without the last `steps` steps takes over. Replicas go on with their plans. Its sequences are ahead: the
   * server logs more numbers than it gives.
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
    const written = await world.store.notificationIds();
    await world.store.putBack(numbers);
    const left = new Set(await world.store.notificationIds());
    for (const id of written) if (!left.has(id)) world.forgotten.add(id);
    world.scheduler.storeIsOther();
    this.marks = null;
    const gap = { from: marks.at, to: world.now };
    world.gaps.push(gap);
    world.mayBeLost = false;
    world.scheduler.tell(`the database is as it was ${(gap.to - gap.from) / 1_000} s ago`);
    // All news since then is forgotten.
    world.heard.length = marks.heard;
    world.planted.namings.length = marks.namings;
    world.planted.returns.clear();
    for (const [id, act] of marks.returns) world.planted.returns.set(id, act);
    this.recover(
      gap,
      [...this.told.values()].filter((d) => d.at >= gap.from - GAP_MARGIN_MS),
    );
  }

  /** The steps of docs/operating.md, "Backups and restore". */
  private recover(gap: Gap, told: readonly Copied[]): void {
    const { world } = this;
    const after = (minutes: number, what: string, act: () => void): void =>
      world.scheduler.plan(world.now + minutes * MINUTE, what, act);
    after(3, 'verify repairs', () => void this.repair(gap));
    // A backend without an answer to its refund request asks again, under the same key.
    after(this.asksAgainAfter, 'refunds are asked for again', () => void this.people.askAgain(gap.from));
    after(20, 'the MoR sends its events again', () => {
      for (const delivery of told) void this.sendAgain(delivery);
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

  /** With a new stamp, until accepted. */
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
