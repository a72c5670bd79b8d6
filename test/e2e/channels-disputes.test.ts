// Disputes and pre-chargeback alerts, end to end: stored with their deadline, decided, booked once, never a second refund.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Json, startWorld, type World } from '../support/world.js';
import { eventNamed, reviewsOf, stripeStatus } from '../support/channels.js';

describe('disputes and alerts', () => {
  let world: World;
  let invoiceId: string;
  let paymentId: string;
  let chargeId: string;

  beforeAll(async () => {
    world = await startWorld();
    await world.startDaemon();
  });
  afterAll(() => world.close());

  beforeEach(async () => {
    const s = await world.subscriber();
    await world.invoice(s.firstInvoiceId, 'paid');
    invoiceId = await world.renew(s.subscriptionId);
    await world.invoice(invoiceId, 'held');
    await world.advance(3_700);
    const paid = await world.invoice(invoiceId, 'paid');
    const [payment] = paid['payments'] as Json[];
    paymentId = String(payment?.['id']);
    chargeId = String(payment?.['processor_charge_id']);
  });

  const tell = (type: string, data: Json, id?: string): Promise<unknown> =>
    world.control('POST', '/events', { type, data, ...(id === undefined ? {} : { id }) });
  const disputes = async (): Promise<Json[]> =>
    (await world.api('GET', `/v1/invoices/${invoiceId}`)).body['disputes'] as Json[];
  const openItems = async (): Promise<Json[]> => {
    const { body } = await world.api('GET', `/v1/invoices/${invoiceId}`);
    return (body['reviews'] as Json[]).filter((r) => r['status'] === 'open');
  };
  const becomes = (status: string): Promise<Json[]> =>
    world.until(`the dispute is ${status}`, disputes, (d) => d[0]?.['status'] === status);
  const lost = async (): Promise<Json[]> => {
    const { body } = await world.api('GET', `/v1/ledger?invoice_id=${invoiceId}&limit=100`);
    return (body['data'] as Json[]).filter((e) => e['reason'] === 'dispute_lost');
  };

  it('shows a dispute with its deadline and dashboard while the invoice stays paid', async () => {
    const disputeId = `dp_${invoiceId}`;
    await tell('dispute.action_needed', {
      disputeId,
      pspReference: chargeId,
      evidenceDueBy: '2027-01-15T12:00:00Z',
      deadline: undefined,
      dashboardUrl: 'https://dashboard.example/disputes/1',
    });
    const [item] = await reviewsOf(world, invoiceId, 'dispute');
    expect(item).toMatchObject({ payment_id: paymentId });
    expect(await disputes()).toMatchObject([
      {
        id: disputeId,
        kind: 'dispute',
        status: 'action_needed',
        payment_id: paymentId,
        dashboard_url: 'https://dashboard.example/disputes/1',
      },
    ]);
    expect(await stripeStatus(world, invoiceId)).toBe('paid');
    await tell('dispute.revision_requested', {
      disputeId,
      deadline: '2027-02-01T00:00:00Z',
      reviewerNote: 'proof of delivery',
    });
    await becomes('revision_requested');
    expect(await openItems()).toMatchObject([
      { kind: 'dispute', summary: expect.stringContaining('proof of delivery') },
    ]);
    await tell('dispute.outcome', { disputeId, outcome: 'won' });
    await becomes('won');
    expect(await openItems()).toEqual([]);
    expect(await lost()).toEqual([]);
    expect(await stripeStatus(world, invoiceId)).toBe('paid');
  });

  it('books a lost dispute once, however often its outcome is told', async () => {
    const disputeId = `dp_${invoiceId}`;
    await tell('dispute.outcome', { disputeId, paymentId, outcome: 'lost' }, `evt_a_${invoiceId}`);
    await tell('dispute.outcome', { disputeId, paymentId, outcome: 'lost' }, `evt_b_${invoiceId}`);
    // Made after the outcome: the loss stands, and the evidence is asked for beside it.
    await tell('dispute.action_needed', { disputeId, paymentId }, `evt_more_${invoiceId}`);
    await world.until(
      'the event after the outcome is decided',
      () => eventNamed(world, `evt_more_${invoiceId}`),
      (e) => e?.['status'] === 'done',
    );
    expect(await lost()).toMatchObject([
      { debit_account: 'disputed_payments', credit_account: 'mor_receivable', amount: 2990 },
    ]);
    const items = await openItems();
    expect(items.map((r) => r['kind'])).toEqual(['dispute', 'dispute']);
    expect(items.map((r) => r['summary'])).toEqual(
      expect.arrayContaining([
        expect.stringContaining('was lost'),
        expect.stringMatching(/evidence is needed by .*, after the outcome "lost"$/),
      ]),
    );
    expect(await disputes()).toMatchObject([{ status: 'lost' }]);
    expect((await world.api('GET', `/v1/invoices/${invoiceId}`)).body['status']).toBe('paid');
  });

  const balances = async (): Promise<Record<string, number>> => {
    const { body } = await world.api('GET', `/v1/ledger?invoice_id=${invoiceId}&limit=100`);
    const sums: Record<string, number> = {};
    for (const e of body['data'] as Json[]) {
      const [debit, credit, amount] = [String(e['debit_account']), String(e['credit_account']), Number(e['amount'])];
      sums[debit] = (sums[debit] ?? 0) + amount;
      sums[credit] = (sums[credit] ?? 0) - amount;
    }
    return sums;
  };

  it.each(['the refund first', 'the loss first'])(
    'a refund booked before a lost dispute leaves the same balance as one booked after: %s',
    async (order) => {
      const giveBack = async (): Promise<void> => {
        await world.control('POST', '/mor/refunds', { payment_id: paymentId, amount: 990 });
        await world.until(
          'the refund is booked',
          () => world.api('GET', `/v1/payments/${paymentId}`),
          (r) => r.body['amount_refunded'] === 990,
        );
      };
      const lose = async (): Promise<void> => {
        await tell('dispute.outcome', { disputeId: `dp_${invoiceId}`, paymentId, outcome: 'lost' });
        await world.until('the loss is booked', lost, (entries) => entries.length > 0);
      };
      if (order === 'the refund first') await giveBack();
      await lose();
      if (order === 'the loss first') await giveBack();
      await world.until('the books are at rest', balances, (b) => b['unmirrored_refunds'] === 0);
      expect(await balances()).toMatchObject({ mor_receivable: 0, disputed_payments: 2000, settled_invoices: -2000 });
    },
  );

  it('a payment that was lost in a dispute is not refunded on top of it', async () => {
    await tell('dispute.outcome', { disputeId: `dp_${invoiceId}`, paymentId, outcome: 'lost' });
    await world.until('the loss is booked', lost, (entries) => entries.length === 1);
    const key = { 'idempotency-key': `after-loss-${paymentId}` };
    expect(await world.api('POST', `/v1/payments/${paymentId}/refunds`, { amount: 100 }, key)).toMatchObject({
      status: 422,
      body: { code: 'payment_not_refundable', message: expect.stringContaining('a dispute was lost') },
    });
    expect((await world.api('GET', `/v1/payments/${paymentId}`)).body).toMatchObject({ refunds: [] });
  });

  it('a dispute that is lost and then won takes the loss back with an entry', async () => {
    const disputeId = `dp_${invoiceId}`;
    await tell('dispute.outcome', { disputeId, paymentId, outcome: 'lost' }, `evt_lost_${invoiceId}`);
    await world.until('the loss is booked', lost, (entries) => entries.length === 1);
    await tell('dispute.outcome', { disputeId, paymentId, outcome: 'won' }, `evt_won_${invoiceId}`);
    await becomes('won');
    const { body } = await world.api('GET', `/v1/ledger?invoice_id=${invoiceId}&reason=dispute_reversed`);
    expect(body['data']).toMatchObject([
      { debit_account: 'mor_receivable', credit_account: 'disputed_payments', amount: 2990 },
    ]);
    expect(await balances()).toMatchObject({ mor_receivable: 2990, disputed_payments: 0 });
    expect(await openItems()).toEqual([]);
  });

  it.each(['the refund event last', 'the refund event first'])(
    'has one refund after an alert, with %s',
    async (order) => {
      const alertId = `alert_${invoiceId}`;
      await tell('pre_chargeback_alert.received', { alertId, pspReference: chargeId, dueBy: 1_800_000_000 });
      await world.until('the alert is known', disputes, (d) => d.length === 1);
      expect(await openItems()).toHaveLength(1);
      const refund = (): Promise<unknown> =>
        world.control('POST', '/mor/refunds', { payment_id: paymentId, reason: 'fraudulent' });
      const outcome = (): Promise<unknown> =>
        tell('pre_chargeback_alert.outcome', { alertId, refunded: true, refundId: 'unknown-to-us' });
      if (order === 'the refund event first') await refund();
      await outcome();
      if (order === 'the refund event last') {
        await world.until('the outcome is taken in', openItems, (r) => JSON.stringify(r).includes('same refund'));
        await refund();
      }
      await world.until('all items are closed', openItems, (r) => r.length === 0);
      // The payment's row is written when its lane comes to rest.
      const { body } = await world.until(
        'the payment is refunded',
        () => world.api('GET', `/v1/payments/${paymentId}`),
        (r) => r.body['status'] === 'refunded',
      );
      expect(body['refunds']).toHaveLength(1);
      expect(body['amount_refunded']).toBe(2990);
      expect(await disputes()).toMatchObject([{ kind: 'alert', status: 'handled', refunded: true }]);
    },
  );

  it('asks a person about a dispute of a payment that is not known', async () => {
    await tell(
      'dispute.action_needed',
      { disputeId: 'dp_unknown', deadline: '2027-03-01T00:00:00Z' },
      'evt_dp_unknown',
    );
    const { body } = await world.until(
      'there is an item',
      () => world.api('GET', '/v1/reviews?status=open&kind=dispute'),
      (r) => JSON.stringify(r.body).includes('evt_dp_unknown'),
    );
    const item = (body['data'] as Json[]).find((r) => JSON.stringify(r).includes('evt_dp_unknown'));
    expect(String(item?.['summary'])).toContain('2027-03-01');
    expect((await eventNamed(world, 'evt_dp_unknown'))?.['status']).toBe('done');
    const closed = await world.api('POST', `/v1/reviews/${String(item?.['id'])}/resolve`, {
      resolution: 'dismiss',
      note: 'seen in the dashboard',
    });
    expect(closed).toMatchObject({ status: 200, body: { status: 'resolved' } });
  });
});
