// Verify end to end: the test plants each kind of difference at Stripe, at the MoR or on the way; verify finds it and
// mends the mendable.
import { describe, expect, it } from '@jest/globals';
import { cli } from '../cli/rig.js';
import { useWorld } from '../support/rigs/world.js';
import { untilSide } from './support/story.js';
import { paidRenewal } from './support/story.js';
import { refund } from './support/story.js';

type Line = {
  id: string;
  kind: string;
  invoice_id?: string;
  refund_id?: string;
  event_id?: string;
  detail: string;
  repair: string;
};
type Report = {
  id: string;
  outcome: string;
  resumed_from: string | null;
  differences: Line[];
  acknowledged: Line[];
  repaired?: Line[];
  compared: Record<string, number>;
};

describe('verify', () => {
  const world = useWorld();

  type Ran = { code: number; report: Report };

  async function verify(...more: string[]): Promise<Ran> {
    const { code, out, err } = await cli(['verify', '--json', ...more], world.env);
    if (!out.includes('"outcome"')) throw new Error(`${code}: ${out}${err}`);
    return { code, report: JSON.parse(out) as Report };
  }

  /** A run leaving no invoice to the next one because of news still on its way through the books. */
  const verifyWhenIdle = (): Promise<Ran> =>
    world.until('nothing is under way', verify, ({ report }) => report.compared['under_way'] === undefined);

  async function refunded(paymentId: string, amount: number): Promise<Record<string, unknown>> {
    const made = await refund(world, paymentId, { amount });
    expect(made.status).toBe(201);
    const invoiceId = String((await world.api('GET', `/v1/payments/${paymentId}`)).body['invoice_id']);
    await untilSide(world, invoiceId, (side) => side.notes.length > 0);
    const [note] = (await world.stripe.creditNotes.list({ invoice: invoiceId })).data;
    return { ...made.body, noteId: note?.id ?? '' };
  }

  const about = (report: Report, invoiceId: string): Line[] =>
    report.differences.filter((d) => d.invoice_id === invoiceId);

  it('`crossbill verify` reports a new Stripe invoice without a delivered event, and `--repair` fetches the event from Stripe', async () => {
    await world.fault({ target: 'deliveries', side: 'stripe', action: 'lose', times: 1_000 });
    const s = await world.subscriber();
    await world.control('DELETE', '/faults');
    const { code, report } = await verify();
    expect(code).toBe(3);
    expect(about(report, s.firstInvoiceId)).toContainEqual(
      expect.objectContaining({ kind: 'event_never_delivered', repair: 'take-in-event' }),
    );
    const repaired = await verify('--repair');
    expect(repaired.report.repaired?.length).toBeGreaterThan(0);
    expect(repaired.report.differences).toEqual([]);
    expect(repaired.code).toBe(0);
  });

  it('`crossbill verify` finds no difference after ordinary signups, renewals and refunds', async () => {
    const { paymentId } = await paidRenewal(world);
    await refunded(paymentId, 1000);
    const { code, report } = await verify();
    expect(report.differences).toEqual([]);
    expect({ code, outcome: report.outcome }).toEqual({ code: 0, outcome: 'clean' });
    expect(report.compared['invoices']).toBeGreaterThanOrEqual(2);
    expect(report.compared['credit_notes']).toBeGreaterThanOrEqual(1);
  });

  it('`crossbill verify` finds a finalized invoice with lost webhooks, and `--repair` marks the invoice paid', async () => {
    const s = await world.paidSubscriber();
    const invoiceId = await world.renew(s.subscriptionId);
    await world.invoice(invoiceId, 'held');
    await world.fault({ target: 'deliveries', side: 'stripe', action: 'lose', times: 1_000 });
    await world.advance(3_700);
    await world.control('DELETE', '/faults');

    const { code, report } = await verify();
    expect({ code, outcome: report.outcome }).toEqual({ code: 3, outcome: 'differences' });
    expect(about(report, invoiceId).map((d) => d.kind)).toContain('event_never_delivered');
    expect(about(report, invoiceId).every((d) => d.repair === 'take-in-event')).toBe(true);

    const repaired = await verify('--repair', '--yes');
    expect(repaired.report.repaired?.length).toBeGreaterThan(0);
    expect(repaired.report.differences).toEqual([]);
    expect(repaired.code).toBe(0);
    await world.invoice(invoiceId, 'paid');
    expect((await world.stripe.invoices.retrieve(invoiceId)).status).toBe('paid');
  });

  it('`crossbill doctor` warns of undelivered events, and `crossbill backfill` fetches the missing invoice from Stripe', async () => {
    const s = await world.paidSubscriber();
    await world.fault({ target: 'deliveries', action: 'lose', times: 1_000 });
    const invoiceId = await world.renew(s.subscriptionId);
    await world.advance(7_300);
    await world.control('DELETE', '/faults');
    expect((await world.api('GET', `/v1/invoices/${invoiceId}`)).status).toBe(404);

    const looked = await cli(['doctor', '--json'], world.env);
    const { checks } = JSON.parse(looked.out) as { checks: { name: string; state: string; detail: string }[] };
    const arrival = checks.find((c) => c.name.startsWith('arrival'));
    expect(arrival).toMatchObject({
      state: 'warn',
      detail: expect.stringMatching(/^\d+ of the newest \d+ did not come$/),
    });

    const ran = await cli(['backfill', '--since', '2d', '--yes', '--json'], world.env);
    expect({ code: ran.code, err: ran.err.includes('invoice.created') }).toEqual({ code: 0, err: true });
    const there = await world.api('GET', `/v1/invoices/${invoiceId}`);
    expect(there.body).toMatchObject({ stripe_status: 'draft', status: 'expected' });
    // Nobody here knows of the money: only the MoR's own event tells, and it got lost too.
    expect((await verify()).code).toBe(0);
    const again = await cli(['backfill', '--since', '2d', '--yes'], world.env);
    expect(again).toMatchObject({ code: 0, out: 'Nothing was missing.\n' });
  });

  it('`crossbill verify` reports a refund with a voided credit note at Stripe', async () => {
    const { paymentId, invoiceId } = await paidRenewal(world);
    const given = await refunded(paymentId, 700);
    // Stripe voids notes of open invoices only; whatever removed this one, it does not count any more.
    Object.assign(world.sandbox.stripe.state.creditNotes.get(String(given['noteId'])) ?? {}, { status: 'void' });
    const { code, report } = await verify();
    expect(code).toBe(3);
    expect(about(report, invoiceId)).toMatchObject([
      { kind: 'refund_not_mirrored', refund_id: given['id'], repair: 'person' },
    ]);
  });

  it('`crossbill verify` reports an invoice paid by a payment record not from Crossbill, and an invoice marked paid out of band', async () => {
    const s = await world.paidSubscriber();
    await world.control('POST', '/cards', { customer_id: s.customerId, outcome: 'decline' });
    const foreign = await world.renew(s.subscriptionId);
    await world.invoice(foreign, 'open');
    await world.advance(3_700);
    const record = await world.stripe.paymentRecords.reportPayment({
      amount_requested: { value: 2990, currency: 'eur' },
      initiated_at: 1_793_491_200,
      payment_method_details: { type: 'custom', custom: { display_name: 'Card' } },
      outcome: 'guaranteed',
      guaranteed: { guaranteed_at: 1_793_491_200 },
      processor_details: { type: 'custom', custom: { payment_reference: 'ch_of_somebody' } },
    });
    await world.stripe.invoices.attachPayment(foreign, { payment_record: record.id });
    const byHand = await world.renew(s.subscriptionId);
    await world.invoice(byHand, 'open');
    await world.advance(3_700);
    await world.stripe.invoices.pay(byHand, { paid_out_of_band: true });

    const { code, report } = await verifyWhenIdle();
    expect(code).toBe(3);
    expect(about(report, foreign)).toMatchObject([{ kind: 'marked_not_charged' }]);
    expect(about(report, foreign)[0]?.detail).toContain(record.id);
    expect(about(report, byHand)).toMatchObject([{ kind: 'marked_not_charged' }]);
    expect(about(report, byHand)[0]?.detail).toContain('out of band');
  });

  it('`crossbill verify` reports a payment and a credit note with another amount on Stripe than in the ledger', async () => {
    const { paymentId, invoiceId } = await paidRenewal(world);
    const given = await refunded(paymentId, 900);
    const note = world.sandbox.stripe.state.creditNotes.get(String(given['noteId']));
    const attached = [...world.sandbox.stripe.state.invoicePayments.values()].find(
      (p) => p.invoice === invoiceId && p.status === 'paid',
    );
    expect(note).toBeDefined();
    expect(attached).toBeDefined();
    Object.assign(note ?? {}, { amount: 800 });
    Object.assign(attached ?? {}, { amountPaid: 2000 });
    const { report } = await verify();
    expect(about(report, invoiceId).map((d) => d.kind)).toEqual(['amount_differs', 'amount_differs']);
    Object.assign(note ?? {}, { amount: 900 });
    Object.assign(attached ?? {}, { amountPaid: 2990 });
  });

  it('`crossbill verify` exits with code 3 over a payment missing on Stripe until the operator acknowledges the difference', async () => {
    const s = await world.paidSubscriber();
    const invoiceId = await world.renew(s.subscriptionId);
    await world.invoice(invoiceId, 'held');
    await world.control('POST', `/stripe/invoices/${invoiceId}/add`, { amount: 500 }); // the card paid without it
    await world.advance(3_700);
    await world.invoice(invoiceId, 'review');
    const { code, report } = await verify();
    expect({ code, outcome: report.outcome }).toEqual({ code: 3, outcome: 'differences' });
    const [waiting, ...more] = about(report, invoiceId);
    expect(more).toEqual([]);
    expect(waiting).toMatchObject({ kind: 'charged_not_marked', review_id: expect.stringMatching(/^rev_/) });
    const note = { note: 'the customer pays the rest by hand' };
    const done = await world.api('POST', `/v1/verify/differences/${String(waiting?.id)}/acknowledge`, note);
    expect(done.status).toBe(200);
    const next = await verify();
    expect(about(next.report, invoiceId)).toEqual([]);
    expect(next.report.acknowledged.filter((d) => d.invoice_id === invoiceId)).toMatchObject([{ id: waiting?.id }]);
  });

  it('`crossbill verify` exits with code 4 if Stripe does not answer, and `--resume` finishes the run', async () => {
    await world.fault({ side: 'stripe', path: '/v1/events', action: 'status', status: 503, times: 100 });
    const { code, report } = await verify();
    await world.control('DELETE', '/faults');
    expect({ code, outcome: report.outcome }).toEqual({ code: 4, outcome: 'incomplete' });

    const remaining = await verify('--resume');
    expect(remaining.report.resumed_from).toBe(report.id);
    expect([0, 3]).toContain(remaining.code);
    expect(remaining.report.compared['events']).toBeGreaterThan(0);
    const anew = await verify('--resume');
    expect(anew.report.resumed_from).toBeNull();
    const notified = ({ differences }: Report): string[] => differences.map((d) => JSON.stringify(d)).sort();
    expect({ code: anew.code, told: notified(anew.report) }).toEqual({
      code: remaining.code,
      told: notified(remaining.report),
    });
  });

  it('`crossbill verify` stores each run with its outcome', async () => {
    const runs = await world.query('select distinct outcome from verify_run order by 1');
    expect(runs.map((r) => r['outcome'])).toEqual(['clean', 'differences', 'incomplete']);
  });
});
