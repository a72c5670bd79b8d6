// One sandbox and one daemon for the commands of all pages, and the pages' suppositions: a paid payment, an open
// invoice.
import pg from 'pg';
import { openInvoice } from '../../support/rigs/channels.js';
import { monthlyPrice, OPS_KEY, SIGNUP_KEY, startWorld, type Json, type World } from '../../support/rigs/world.js';

const QUIET_LOOKS = 2;
const POLL_MS = 100;

export type Paid = { readonly invoiceId: string; readonly paymentId: string; readonly customerId: string };

export class Rig {
  /** The environment of a page's shell: the daemon's settings, and the pages' own names. */
  readonly env: Readonly<Record<string, string>>;

  private constructor(
    readonly world: World,
    private readonly db: pg.Client,
  ) {
    const { sandbox, daemons } = world;
    this.env = {
      ...world.env,
      ...Rig.more(world),
      CROSSBILL: daemons[0]?.url ?? '',
      MOR: sandbox.morUrl,
      OPS_KEY,
      SIGNUP_KEY,
    };
  }

  static async start(): Promise<Rig> {
    const world = await startWorld();
    await world.startDaemon(Rig.more(world));
    const db = new pg.Client({ connectionString: world.databaseUrl });
    await db.connect();
    return new Rig(world, db);
  }

  private static more({ sandbox }: World): Record<string, string> {
    return {
      MOR_RELAY_URL: `${sandbox.morUrl}/relay/stripe`,
      MOR_RELAY_SECRET: sandbox.secrets.relaySecret,
      RETRY_SCHEDULE: 'default',
      RECOVERY_LINK_JURISDICTION: 'GB',
      RECOVERY_LINK_RETURN_URL: 'https://shop.example/thanks',
      NOTIFY_URL: `${sandbox.morUrl}/backend/notifications`,
      NOTIFY_SECRETS: sandbox.secrets.notifySecret,
    };
  }

  /** A page's addresses are those of a machine where nothing else runs. */
  onOurPorts(command: string): string {
    const { morUrl, stripeUrl } = this.world.sandbox;
    return command
      .replaceAll('http://127.0.0.1:3000', this.env['CROSSBILL'] ?? '')
      .replaceAll('http://127.0.0.1:4010', stripeUrl)
      .replaceAll('http://127.0.0.1:4020', morUrl);
  }

  /** As `npm run sandbox` prints them. */
  settingsFile(): string {
    return Object.entries({ ...this.world.env, ...Rig.more(this.world) })
      .map(([name, value]) => `${name}='${value}'\n`)
      .join('');
  }

  async paid(): Promise<Paid> {
    const { world } = this;
    const s = await world.subscriber();
    await world.invoice(s.firstInvoiceId, 'paid');
    const invoiceId = await world.renew(s.subscriptionId);
    await world.invoice(invoiceId, 'held');
    await world.advance(3_700);
    const invoice = await world.invoice(invoiceId, 'paid');
    return { ...s, invoiceId, paymentId: String((invoice['payments'] as Json[])[0]?.['id']) };
  }

  /** A subscription with a first invoice waiting for its signup. */
  async unpaid(): Promise<{ readonly customerId: string; readonly invoiceId: string }> {
    const { stripe } = this.world;
    const customer = await stripe.customers.create({ email: 'ada@example.com' });
    const price = await monthlyPrice(stripe, 2_990);
    const subscription = await stripe.subscriptions.create({
      customer: customer.id,
      items: [{ price: price.id }],
      payment_behavior: 'default_incomplete',
    });
    const invoice = subscription.latest_invoice;
    return { customerId: customer.id, invoiceId: typeof invoice === 'string' ? invoice : (invoice?.id ?? '') };
  }

  openInvoice(): Promise<string> {
    return openInvoice(this.world);
  }

  /**
   * Replaces every wait of a page: moves the sandbox's clock by so long, then delivers and decides its events, also
   * retries within seconds: on a busy machine the MoR's answer may come a look later.
   */
  async idle(seconds: number): Promise<void> {
    const { world } = this;
    await world.advance(seconds);
    for (let quiet = 0; quiet < QUIET_LOOKS;) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      const sent = (await world.control('GET', '/deliveries')).body['data'] as Json[];
      const lanes = await this.db.query<{ n: number }>(
        `select (select count(*) from lane
                  where key not like 'job:%' and (due_at <= now() + interval '5 seconds' or lease_until > now()))::int
              + (select count(*) from notification
                  where status = 'pending' and next_try_at <= now() + interval '5 seconds')::int as n`,
      );
      const underWay = sent.filter((d) => d['state'] === 'sending').length + (lanes.rows[0]?.n ?? 0);
      quiet = underWay === 0 ? quiet + 1 : 0;
    }
  }

  async close(): Promise<void> {
    await this.db.end();
    await this.world.close();
  }
}

/** The present month, UTC. */
export const MONTH = new Date().toISOString().slice(0, 7);
