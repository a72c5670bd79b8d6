// Disputes and alerts, a returned debit and a credited loss, end to end.
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { cli, cliJson } from '../cli/rig.js';
import { eventNamed, reviewsOf, stripeStatus } from '../support/rigs/channels.js';
import { type Json, READ_KEY, type Reply, useWorld, refusal, wrongField } from '../support/rigs/world.js';
import { resolve, paidRenewal } from './support/story.js';

// Disputes and pre-chargeback alerts, end to end: stored with their deadline, decided, booked once, never a second refund.
describe('disputes and alerts', () => {
  const world = useWorld();
  let invoiceId: string;
  let paymentId: string;
  let chargeId: string;

  beforeEach(async () => {
    const renewal = await paidRenewal(world);
    ({ invoiceId, paymentId } = renewal);
    chargeId = String(renewal.payment['processor_charge_id']);
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

  it('Crossbill shows an open dispute with its dashboard link in a review item, and leaves the invoice paid', async () => {
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
      { kind: 'dispute', fact: { code: 'evidence-returned', note: 'proof of delivery' } },
    ]);
    await tell('dispute.outcome', { disputeId, outcome: 'won' });
    await becomes('won');
    expect(await openItems()).toEqual([]);
    expect(await lost()).toEqual([]);
    expect(await stripeStatus(world, invoiceId)).toBe('paid');
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
    'a refund and a lost dispute of one payment leave the same ledger balance in either order: %s',
    async (order) => {
      const giveBack = async (): Promise<void> => {
        await world.control('POST', '/mor/refunds', { payment_id: paymentId, amount: 990 });
        await world.shows(`/v1/payments/${paymentId}`, (r) => r['amount_refunded'] === 990);
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

  it('Crossbill refuses to refund a payment lost in a dispute', async () => {
    await tell('dispute.outcome', { disputeId: `dp_${invoiceId}`, paymentId, outcome: 'lost' });
    await world.until('the loss is booked', lost, (entries) => entries.length === 1);
    const key = { 'idempotency-key': `after-loss-${paymentId}` };
    expect(await world.api('POST', `/v1/payments/${paymentId}/refunds`, { amount: 100 }, key)).toMatchObject({
      status: 422,
      body: { code: 'payment_not_refundable', message: expect.stringContaining('a dispute was lost') },
    });
    expect((await world.api('GET', `/v1/payments/${paymentId}`)).body).toMatchObject({ refunds: [] });
  });

  it.each(['the refund event last', 'the refund event first'])(
    'Crossbill books one refund for a pre-chargeback alert in either order of events: %s',
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
      // The payment's row appears when its lane comes to rest.
      const body = await world.shows(`/v1/payments/${paymentId}`, (r) => r['status'] === 'refunded');
      expect(body['refunds']).toHaveLength(1);
      expect(body['amount_refunded']).toBe(2990);
      expect(await disputes()).toMatchObject([{ kind: 'alert', status: 'handled', refunded: true }]);
    },
  );

  it('a dispute of an unknown payment opens a review item, and the operator may dismiss the item', async () => {
    await tell(
      'dispute.action_needed',
      { disputeId: 'dp_unknown', deadline: '2027-03-01T00:00:00Z' },
      'evt_dp_unknown',
    );
    const isOfEvent = ({ fact }: { fact: Json }): boolean => fact['event'] === 'evt_dp_unknown';
    const { data } = await world.shows<{ data: { fact: Json }[] }>('/v1/reviews?status=open&kind=dispute', (r) =>
      r.data.some(isOfEvent),
    );
    const item = data.find(isOfEvent);
    expect(item?.fact).toMatchObject({ code: 'unknown-dispute', until: '2027-03-01T00:00:00.000Z' });
    expect((await eventNamed(world, 'evt_dp_unknown'))?.['status']).toBe('done');
    const closed = await resolve(world, item, 'dismiss', 'seen in the dashboard');
    expect(closed).toMatchObject({ status: 200, body: { status: 'resolved' } });
  });
});

// A debit returned by the bank after its settlement: no event exists, so a person records it at the API or the command
// line.
describe('a returned debit', () => {
  const world = useWorld({ BILLING_DRAFT_POLICY: 'finalize' });
  let invoiceId: string;
  let paymentId: string;
  beforeAll(async () => {
    ({ invoiceId, paymentId } = await paidRenewal(world));
  });

  const post = (path: string, body: object, key: string = randomUUID()): Promise<Reply> =>
    world.api('POST', `/v1/payments/${paymentId}/${path}`, body, { 'Idempotency-Key': key });
  const entries = async (): Promise<unknown[]> => {
    const { body } = await world.api<{ data: Json[] }>('GET', `/v1/ledger?payment_id=${paymentId}`);
    return body.data.map((e) => [e['reason'], e['debit_account'], e['credit_account'], e['amount']]).reverse();
  };
  const items = (): Promise<Json[]> => world.list('/v1/reviews?status=open&kind=debit_returned');
  const onStripe = async () => {
    const { status, post_payment_credit_notes_amount: credited } = await world.stripe.invoices.retrieve(invoiceId);
    return { status, credited };
  };

  it('Crossbill records a returned bank debit once at the request of an ops key, and refuses a read-only key', async () => {
    const denied = await world.api(
      'POST',
      `/v1/payments/${paymentId}/returned`,
      {},
      { authorization: `Bearer ${READ_KEY}` },
    );
    expect(denied.status).toBe(403);
    const bare = await world.api('POST', `/v1/payments/${paymentId}/returned`, {});
    expect(bare).toMatchObject(refusal(400, 'invalid_request'));
    expect((await world.api('GET', `/v1/payments/${paymentId}/returned`)).status).toBe(404);

    const body = { reference: 'bank letter 7' };
    const first = await post('returned', body, 'return-1');
    expect(first).toMatchObject({
      status: 201,
      body: {
        payment_id: paymentId,
        invoice_id: invoiceId,
        amount: 2990,
        currency: 'eur',
        status: 'returned',
        ...body,
      },
    });
    expect((await post('returned', body, 'return-1')).body).toEqual(first.body);
    expect(await post('returned', {}, 'return-1')).toMatchObject(refusal(409, 'idempotency_conflict'));
    expect(await post('returned', {})).toMatchObject(refusal(409, 'payment_already_returned'));
    expect(await post('returned', { reference: 7 })).toMatchObject(wrongField('reference'));
    expect((await world.api('GET', `/v1/payments/${paymentId}/returned`)).body).toEqual(first.body);
    expect(await entries()).toEqual([
      ['payment_collected', 'mor_receivable', 'unmarked_payments', 2990],
      ['payment_marked', 'unmarked_payments', 'settled_invoices', 2990],
      ['debit_returned', 'disputed_payments', 'mor_receivable', 2990],
    ]);
  });

  it('a returned bank debit opens a review item, changes nothing on Stripe, and rules out a refund', async () => {
    const [item, ...others] = await items();
    expect(others).toEqual([]);
    expect(item).toMatchObject({ invoice_id: invoiceId, payment_id: paymentId, actions: ['credit', 'dismiss'] });
    expect(String(item?.['proposal'])).toMatch(/new invoice .* credit note/);
    expect(await onStripe()).toEqual({ status: 'paid', credited: 0 });
    expect(await post('refunds', {})).toMatchObject(refusal(422, 'payment_not_refundable'));
    const story = await cli(['explain', invoiceId], world.env);
    expect(story.out).toContain('ops recorded that the bank returned 29.90 EUR');
  });

  it('undoing a returned bank debit books a reversing ledger entry, and closes the review item', async () => {
    const undone = await post('returned/undo', {}, 'undo-1');
    expect(undone).toMatchObject({ status: 200, body: { status: 'undone', undone_at: expect.any(String) } });
    expect((await post('returned/undo', {}, 'undo-1')).body).toEqual(undone.body);
    expect(await post('returned/undo', {})).toMatchObject(refusal(409, 'payment_not_returned'));
    expect((await entries()).at(-1)).toEqual(['debit_return_reversed', 'mor_receivable', 'disputed_payments', 2990]);
    expect(await items()).toEqual([]);
  });

  it('`crossbill returned` asks for confirmation, then records or undoes a returned bank debit, with audit entries', async () => {
    const asked = await cli(['returned', paymentId], world.env, { reply: 'n' });
    expect(asked).toMatchObject({ code: 1, out: '', err: expect.stringContaining('Nothing was done.') });
    const done = await cliJson(['returned', paymentId, '--reference', 'line 4', '--yes'], world.env);
    expect(done).toMatchObject({ code: 0, body: { status: 'returned', reference: 'line 4', amount: 2990 } });
    expect(await cli(['returned', paymentId, '--yes'], world.env)).toMatchObject({
      code: 1,
      err: expect.stringContaining('already has a recorded return'),
    });
    const undone = await cli(['returned', paymentId, '--undo', '--yes'], world.env);
    expect(undone).toMatchObject({ code: 0, out: expect.stringContaining('29.90 EUR is reversed') });
    expect(await cli(['returned', 'pay_nobody', '--yes'], world.env)).toMatchObject({ code: 1, out: '' });
    expect((await entries()).length).toBe(6);
    const audit = await world.api<{ data: Json[] }>('GET', '/v1/audit?action=payment.returned&limit=100');
    const outcomes = audit.body.data.map((a) => [a['actor'], a['outcome']]);
    expect(outcomes).toEqual(
      expect.arrayContaining([
        ['ops', 'begun'],
        ['ops', 'done'],
        ['cli:ada', 'done'],
        ['cli:ada', 'refused'],
      ]),
    );
  });

  it('`crossbill rebuild` keeps the record of a returned bank debit, and `crossbill verify` reports nothing', async () => {
    const rebuilt = await cli(['rebuild'], world.env);
    expect(rebuilt).toMatchObject({ code: 0 });
    expect((await world.api('GET', `/v1/payments/${paymentId}/returned`)).body['status']).toBe('undone');
    expect((await cli(['verify'], world.env)).code).toBe(0);
  });
});

// A person credits a lost dispute and a returned debit on Stripe, end to end, in both ways of marking.
describe.each(['payment_record', 'out_of_band'] as const)('a credited loss, marked by %s', (mode) => {
  const world = useWorld({ BILLING_MARK_MODE: mode, BILLING_DRAFT_POLICY: 'finalize' });

  const outcome = (disputeId: string, paymentId: string, word: string): Promise<unknown> =>
    world.control('POST', '/events', {
      ...{ type: 'dispute.outcome', id: `evt_${word}_${disputeId}` },
      data: { disputeId, paymentId, outcome: word },
    });
  const notesOf = async (invoiceId: string) => (await world.stripe.creditNotes.list({ invoice: invoiceId })).data;
  const entries = async (invoiceId: string): Promise<Json[]> => {
    const { body } = await world.api('GET', `/v1/ledger?invoice_id=${invoiceId}&limit=100`);
    return (body['data'] as Json[]).toReversed();
  };
  const reasons = async (invoiceId: string): Promise<unknown[]> =>
    (await entries(invoiceId)).map((e) => e['reason']).slice(2);
  const bookedAs = (invoiceId: string, reason: string): Promise<Json[]> =>
    world.until(
      `${reason} is in the ledger`,
      () => entries(invoiceId),
      (all) => all.some((e) => e['reason'] === reason),
    );
  const differences = async (): Promise<unknown> => {
    const { out } = await cli(['verify', '--json'], world.env);
    return (JSON.parse(out) as Json)['differences'];
  };

  it('Crossbill makes one credit note for a lost dispute, and books only a reversing ledger entry after a later win', async () => {
    const { invoiceId, paymentId } = await paidRenewal(world);
    const disputeId = `dp_${invoiceId}`;
    await outcome(disputeId, paymentId, 'lost');
    const [item] = await reviewsOf(world, invoiceId, 'dispute');
    expect(item).toMatchObject({ actions: ['credit', 'dismiss'], proposed: null, fact: { code: 'dispute-lost' } });
    const byReader = { authorization: `Bearer ${READ_KEY}` };
    const path = `/v1/reviews/${String(item?.['id'])}/resolve`;
    expect((await world.api('POST', path, { resolution: 'credit' }, byReader)).status).toBe(403);
    expect(await resolve(world, item, 'refund')).toMatchObject({ body: { code: 'resolution_not_available' } });
    expect(await resolve(world, item, 'credit')).toMatchObject({ status: 200, body: { resolution: 'credit' } });
    expect((await resolve(world, item, 'credit')).status).toBe(200);

    const all = await bookedAs(invoiceId, 'loss_credited');
    const [note, ...more] = await notesOf(invoiceId);
    expect(more).toEqual([]);
    const name = `loss:${disputeId}`;
    expect(note).toMatchObject({ amount: 2990, status: 'issued', metadata: { crossbill: '1', refund_id: name } });
    const link = { payment_record_refund: { refund_group: name } };
    expect(note).toMatchObject(mode === 'payment_record' ? { refunds: [link] } : { out_of_band_amount: 2990 });
    expect(all.at(-1)).toMatchObject({
      ...{ debit_account: 'settled_invoices', credit_account: 'disputed_payments', amount: 2990 },
      credit_note_id: note?.id,
    });
    const { out } = await cli(['explain', disputeId], world.env);
    const [about] = out.split('\n').filter((line) => line.startsWith(`Dispute ${disputeId}`));
    expect(about).toContain(String(note?.id));
    const csv = await cli(['export', 'ledger', '--month', new Date().toISOString().slice(0, 7)], world.env);
    expect(csv.out.split('\n').find((line) => line.includes('loss_credited'))).toContain(note?.id);
    expect(await differences()).toEqual([]);

    await outcome(disputeId, paymentId, 'won');
    await bookedAs(invoiceId, 'loss_credit_reversed');
    expect(await reasons(invoiceId)).toEqual([
      ...['dispute_lost', 'loss_credited'],
      ...['dispute_reversed', 'loss_credit_reversed'],
    ]);
    expect(await reviewsOf(world, invoiceId, 'dispute')).toMatchObject([
      {
        actions: ['dismiss'],
        fact: { code: 'credit-beyond-loss', credit_note: note?.id, credited: { amount: 2990 }, lost: { amount: 0 } },
      },
    ]);
    expect(await notesOf(invoiceId)).toHaveLength(1);
    expect(await differences()).toEqual([]);
  });

  it("Crossbill makes one credit note for a returned debit although Stripe's response to the first request is lost", async () => {
    const { invoiceId, paymentId } = await paidRenewal(world);
    const key = { 'Idempotency-Key': randomUUID() };
    expect((await world.api('POST', `/v1/payments/${paymentId}/returned`, {}, key)).status).toBe(201);
    const [item] = await reviewsOf(world, invoiceId, 'debit_returned');
    const id = String(item?.['id']);
    const fault = { side: 'stripe', method: 'POST', path: '/v1/credit_notes', times: 1, action: 'drop_after' };
    await world.fault(fault);
    const done = await cliJson(['reviews', 'resolve', id, 'credit', '--yes'], world.env);
    expect(done).toMatchObject({ code: 0, body: { id, resolution: 'credit' } });
    const all = await bookedAs(invoiceId, 'loss_credited');
    const notes = await notesOf(invoiceId);
    expect(notes).toMatchObject([{ amount: 2990, id: all.at(-1)?.['credit_note_id'] }]);
    expect(await differences()).toEqual([]);
    const undo = await world.api(
      'POST',
      `/v1/payments/${paymentId}/returned/undo`,
      {},
      { 'Idempotency-Key': randomUUID() },
    );
    expect(undo.status).toBe(200);
    await bookedAs(invoiceId, 'loss_credit_reversed');
    expect(await reviewsOf(world, invoiceId, 'debit_returned')).toMatchObject([
      { fact: { code: 'credit-beyond-loss', credit_note: notes[0]?.id } },
    ]);
    expect((await cli(['rebuild'], world.env)).code).toBe(0);
    expect(await differences()).toEqual([]);
  });

  it("`crossbill verify` reports a manual credit note, but not Crossbill's credit note for a lost dispute", async () => {
    const { invoiceId, paymentId } = await paidRenewal(world);
    const data = { disputeId: `dp_${invoiceId}`, paymentId, outcome: 'lost', amount: '10.00', currency: 'EUR' };
    await world.control('POST', '/events', { type: 'dispute.outcome', data });
    const [item] = await reviewsOf(world, invoiceId, 'dispute');
    await resolve(world, item, 'credit');
    await bookedAs(invoiceId, 'loss_credited');
    const byHand = await world.stripe.creditNotes.create({ invoice: invoiceId, amount: 300, out_of_band_amount: 300 });
    expect(await notesOf(invoiceId)).toHaveLength(2);
    expect(await differences()).toMatchObject([{ kind: 'refunded_by_hand', object_id: byHand.id }]);
  });
});
