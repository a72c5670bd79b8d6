// An outage that the MoR did not wait out: what was lost is named, looked up, and mended where the MoR can be asked.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { cli } from '../cli/rig.js';
import { openInvoice } from '../support/channels.js';
import { changeByHand } from '../support/lane-log.js';
import { type Json, startWorld, type World } from '../support/world.js';

const OUTAGE_HOURS = 6;

describe('a daemon that was down for longer than the MoR tries', () => {
  let world: World;
  let paidLater: string;
  let unpaid: string;
  let refused: string;

  /** The books keep real time: an outage is made by moving what they remember into the past. */
  async function hoursPass(hours: number): Promise<void> {
    const db = new pg.Pool({ connectionString: world.databaseUrl, max: 1, pipeline: true });
    const by = `interval '${hours} hours'`;
    await db.query(`update doors_open set opened_at = opened_at - ${by}, seen_at = seen_at - ${by}`);
    await db.query(`update installation set began_at = began_at - ${by}`);
    const before = (at: Date): Date => new Date(at.getTime() - hours * 3_600_000);
    const lanes = await db.query<{ lane: string }>('select distinct lane from lane_log');
    for (const { lane } of lanes.rows) {
      await changeByHand(db, lane, (s) => ({
        ...s,
        invoice: s.invoice === null ? null : { ...s.invoice, firstSeenAt: before(s.invoice.firstSeenAt) },
        payments: s.payments.map((p) => ({
          ...p,
          verdictAt: p.verdictAt === null ? null : before(p.verdictAt),
        })),
        objects: s.objects.map((o) => ({ ...o, createdAt: before(o.createdAt) })),
      }));
    }
    await db.end();
  }

  async function report(): Promise<{ code: number; body: Json }> {
    const { code, out } = await cli(['verify', '--json'], world.env);
    return { code, body: JSON.parse(out) as Json };
  }

  beforeAll(async () => {
    world = await startWorld();
    const first = await world.startDaemon();
    // One invoice with a payment link that will be paid during the outage, one renewal whose verdict will be lost.
    paidLater = await openInvoice(world);
    const link = await world.api('POST', `/v1/invoices/${paidLater}/payment-link`, {
      jurisdiction: 'GB',
      return_url: 'https://shop.example/thanks',
    });
    expect(link.status).toBe(201);
    const s = await world.subscriber();
    await world.invoice(s.firstInvoiceId, 'paid');
    // And one whose card is refused before the outage: whether it was paid since, nobody here has heard.
    const other = await world.subscriber({ email: 'bo@example.com' });
    await world.invoice(other.firstInvoiceId, 'paid');
    await world.control('POST', '/cards', { customer_id: other.customerId, outcome: 'requires_action' });
    refused = await world.renew(other.subscriptionId);
    await world.invoice(refused, 'open');
    await world.advance(7_200); // what is younger than two minutes counts as on its way
    expect((await report()).body).toMatchObject({ outcome: 'clean', loss_windows: [] }); // quiet while nothing happened
    await world.control('POST', '/faults', { target: 'deliveries', side: 'mor', action: 'lose', times: 100 });
    unpaid = await world.renew(s.subscriptionId);
    await world.invoice(unpaid, 'expected');
    await first.stop();
    world.daemons.length = 0;
    await world.control('POST', `/payment-links/${String(link.body['id'])}/pay`, {});
    await world.advance(OUTAGE_HOURS * 3_600); // every try of the event fell on closed doors
    await world.control('DELETE', '/faults');
    await hoursPass(OUTAGE_HOURS);
  });
  afterAll(() => world.close());

  it('finds the lost payment after its start without a request, and marks the invoice', async () => {
    await world.startDaemon();
    const invoice = await world.invoice(paidLater, 'paid');
    expect(invoice['payments']).toMatchObject(
      expect.arrayContaining([expect.objectContaining({ origin: 'payment_link', mark: 'confirmed' })]),
    );
    expect((await world.stripe.invoices.retrieve(paidLater)).status).toBe('paid');
  });

  it('names the window, and the renewals whose verdict, or whose success after a refusal, may be lost, to whoever asks', async () => {
    const { code, body } = await report();
    expect([code, body['outcome']]).toEqual([3, 'differences']);
    const [window] = body['loss_windows'] as Record<string, string>[];
    const lengthMin = (Date.parse(window?.['events_to'] ?? '') - Date.parse(window?.['events_from'] ?? '')) / 60_000;
    expect(Math.floor(lengthMin / 60)).toBe(OUTAGE_HOURS - 4); // six hours less three hours and two minutes, and what the test took
    const named = (body['differences'] as Json[]).filter(
      (d) => d['invoice_id'] === unpaid && d['kind'] === 'no_verdict',
    );
    expect(named).toMatchObject([{ repair: 'person' }]);
    expect(String(named[0]?.['detail'])).toContain('ask the MoR to send it again');

    // The MoR does not find it by its payment intent, which says nothing.
    const asked = (body['differences'] as Json[]).filter((d) => d['invoice_id'] === refused);
    expect(asked).toMatchObject([{ kind: 'no_verdict', repair: 'person', review_id: null }]);
    expect(String(asked[0]?.['detail'])).toContain('the last verdict is a refusal');

    const text = await cli(['verify'], world.env);
    expect(text.out).toContain('events that the MoR made between');
    expect((await cli(['status'], world.env)).out).toContain('may be lost for good');
    expect((await cli(['doctor'], world.env)).out).toMatch(/WARN {2}outages .*may be lost for good/);
  });
});
