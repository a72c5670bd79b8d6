// Verify end to end: the test plants each kind of difference at Stripe, at the MoR or on the way; verify finds it and
// mends the mendable.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { cli } from '../cli/rig.js';
import { startWorld, type World } from '../support/world.js';

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
  let world: World;

  beforeAll(async () => {
    world = await startWorld();
    await world.startDaemon();
  });
  afterAll(() => world.close());

  type Ran = { code: number; report: Report };

  async function verify(...more: string[]): Promise<Ran> {
    const { code, out, err } = await cli(['verify', '--json', ...more], world.env);
    if (!out.includes('"outcome"')) throw new Error(`${code}: ${out}${err}`);
    return { code, report: JSON.parse(out) as Report };
  }

  /** A run leaving no invoice to the next one because of news still on its way through the books. */
  const verifyAtRest = (): Promise<Ran> =>
    world.until('nothing is under way', verify, ({ report }) => report.compared['under_way'] === undefined);

  /** A paid renewal, and its payment. */
  async function paidRenewal(): Promise<{
    invoiceId: string;
    paymentId: string;
    customerId: string;
    subscriptionId: string;
  }> {
    const s = await world.subscriber();
    await world.invoice(s.firstInvoiceId, 'paid');
    const invoiceId = await world.renew(s.subscriptionId);
    await world.invoice(invoiceId, 'held');
    await world.advance(3_700);
    const paid = await world.invoice(invoiceId, 'paid');
    const [payment] = paid['payments'] as { id: string }[];
    return { ...s, invoiceId, paymentId: payment?.id ?? '' };
  }

  async function refunded(paymentId: string, amount: number): Promise<Record<string, unknown>> {
    const made = await world.api(
      'POST',
      `/v1/payments/${paymentId}/refunds`,
      { amount },
      { 'idempotency-key': `${paymentId}-${amount}` },
    );
    expect(made.status).toBe(201);
    const invoiceId = String((await world.api('GET', `/v1/payments/${paymentId}`)).body['invoice_id']);
    await world.until(
      'the refund is mirrored',
      () => world.stripe.creditNotes.list({ invoice: invoiceId }),
      (notes) => notes.data.length > 0,
    );
    const [note] = (await world.stripe.creditNotes.list({ invoice: invoiceId })).data;
    return { ...made.body, noteId: note?.id ?? '' };
  }

  const about = (report: Report, invoiceId: string): Line[] =>
    report.differences.filter((d) => d.invoice_id === invoiceId);

  it('verify names a fresh object of Stripe without its event at once, and repairs it unasked if nobody can answer', async () => {
    await world.control('POST', '/faults', { target: 'deliveries', side: 'stripe', action: 'lose', times: 1_000 });
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

  it('verify finds nothing where signups, renewals and refunds went well', async () => {
    const { paymentId } = await paidRenewal();
    await refunded(paymentId, 1000);
    const { code, report } = await verify();
    expect(report.differences).toEqual([]);
    expect({ code, outcome: report.outcome }).toEqual({ code: 0, outcome: 'clean' });
    expect(report.compared['invoices']).toBeGreaterThanOrEqual(2);
    expect(report.compared['credit_notes']).toBeGreaterThanOrEqual(1);
  });

  it('verify finds a finalized invoice with lost deliveries, and the repair marks it', async () => {
    const s = await world.subscriber();
    await world.invoice(s.firstInvoiceId, 'paid');
    const invoiceId = await world.renew(s.subscriptionId);
    await world.invoice(invoiceId, 'held');
    await world.control('POST', '/faults', { target: 'deliveries', side: 'stripe', action: 'lose', times: 1_000 });
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

  it('verify finds a never delivered invoice, and backfill takes it in', async () => {
    const s = await world.subscriber();
    await world.invoice(s.firstInvoiceId, 'paid');
    await world.control('POST', '/faults', { target: 'deliveries', action: 'lose', times: 1_000 });
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

  it('verify finds a manually voided credit note', async () => {
    const { paymentId, invoiceId } = await paidRenewal();
    const refund = await refunded(paymentId, 700);
    // Stripe voids notes of open invoices only; whatever removed this one, it does not count any more.
    Object.assign(world.sandbox.stripe.state.creditNotes.get(String(refund['noteId'])) ?? {}, { status: 'void' });
    const { code, report } = await verify();
    expect(code).toBe(3);
    expect(about(report, invoiceId)).toMatchObject([
      { kind: 'refund_not_mirrored', refund_id: refund['id'], repair: 'person' },
    ]);
  });

  it('verify finds an invoice paid by another payment record, and one marked out of band', async () => {
    const s = await world.subscriber();
    await world.invoice(s.firstInvoiceId, 'paid');
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

    const { code, report } = await verifyAtRest();
    expect(code).toBe(3);
    expect(about(report, foreign)).toMatchObject([{ kind: 'marked_not_charged' }]);
    expect(about(report, foreign)[0]?.detail).toContain(record.id);
    expect(about(report, byHand)).toMatchObject([{ kind: 'marked_not_charged' }]);
    expect(about(report, byHand)[0]?.detail).toContain('out of band');
  });

  it("verify finds another amount at Stripe than the ledger's mark, and another on a credit note", async () => {
    const { paymentId, invoiceId } = await paidRenewal();
    const refund = await refunded(paymentId, 900);
    const note = world.sandbox.stripe.state.creditNotes.get(String(refund['noteId']));
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

  it('verify lists waiting money with its review item, and ends with exit code 3 until a person acknowledges it', async () => {
    const s = await world.subscriber();
    await world.invoice(s.firstInvoiceId, 'paid');
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

  it('verify ends with exit code 4 when Stripe does not answer, and goes on when it does', async () => {
    await world.control('POST', '/faults', {
      side: 'stripe',
      path: '/v1/events',
      action: 'status',
      status: 503,
      times: 100,
    });
    const { code, report } = await verify();
    await world.control('DELETE', '/faults');
    expect({ code, outcome: report.outcome }).toEqual({ code: 4, outcome: 'incomplete' });

    const rest = await verify('--resume');
    expect(rest.report.resumed_from).toBe(report.id);
    expect([0, 3]).toContain(rest.code);
    expect(rest.report.compared['events']).toBeGreaterThan(0);
    const anew = await verify('--resume');
    expect(anew.report.resumed_from).toBeNull();
    const told = ({ differences }: Report): string[] => differences.map((d) => JSON.stringify(d)).sort();
    expect({ code: anew.code, told: told(anew.report) }).toEqual({ code: rest.code, told: told(rest.report) });
  });

  it('verify keeps each run, with its findings', async () => {
    const db = new pg.Client({ connectionString: world.databaseUrl });
    await db.connect();
    const runs = await db.query<{ outcome: string; n: string }>(
      'select outcome, count(*) as n from verify_run group by outcome',
    );
    await db.end();
    expect(runs.rows.map((r) => r.outcome).sort()).toEqual(['clean', 'differences', 'incomplete']);
  });
});
