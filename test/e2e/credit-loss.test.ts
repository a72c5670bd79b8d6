// A lost dispute and a returned debit that a person has credited on Stripe, end to end, in both ways of marking.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { cli, cliJson } from '../cli/rig.js';
import { reviewsOf } from '../support/channels.js';
import { type Json, READ_KEY, startWorld, type World } from '../support/world.js';

describe.each(['payment_record', 'out_of_band'] as const)('a loss that is credited, marked by %s', (mode) => {
  let world: World;

  beforeAll(async () => {
    world = await startWorld({ BILLING_MARK_MODE: mode, BILLING_DRAFT_POLICY: 'finalize' });
    await world.startDaemon();
  });
  afterAll(() => world.close());

  async function paid(): Promise<{ invoiceId: string; paymentId: string }> {
    const s = await world.subscriber();
    await world.invoice(s.firstInvoiceId, 'paid');
    const invoiceId = await world.renew(s.subscriptionId);
    const [payment] = (await world.invoice(invoiceId, 'paid'))['payments'] as Json[];
    return { invoiceId, paymentId: String(payment?.['id']) };
  }
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
  const resolve = (id: unknown, resolution: string, key?: string) =>
    world.api(
      'POST',
      `/v1/reviews/${String(id)}/resolve`,
      { resolution },
      key === undefined ? {} : { authorization: `Bearer ${key}` },
    );
  const differences = async (): Promise<unknown> => {
    const { out } = await cli(['verify', '--json'], world.env);
    return (JSON.parse(out) as Json)['differences'];
  };

  it('shows a lost dispute by one credit note, and a win takes it back in the books alone', async () => {
    const { invoiceId, paymentId } = await paid();
    const disputeId = `dp_${invoiceId}`;
    await outcome(disputeId, paymentId, 'lost');
    const [item] = await reviewsOf(world, invoiceId, 'dispute');
    expect(item).toMatchObject({ actions: ['credit', 'dismiss'], proposed: null, fact: { code: 'dispute-lost' } });
    expect((await resolve(item?.['id'], 'credit', READ_KEY)).status).toBe(403);
    expect(await resolve(item?.['id'], 'refund')).toMatchObject({ body: { code: 'resolution_not_available' } });
    expect(await resolve(item?.['id'], 'credit')).toMatchObject({ status: 200, body: { resolution: 'credit' } });
    expect((await resolve(item?.['id'], 'credit')).status).toBe(200);

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

  it('shows a returned debit from the command line, and once though the answer to the note is lost', async () => {
    const { invoiceId, paymentId } = await paid();
    const key = { 'Idempotency-Key': randomUUID() };
    expect((await world.api('POST', `/v1/payments/${paymentId}/returned`, {}, key)).status).toBe(201);
    const [item] = await reviewsOf(world, invoiceId, 'debit_returned');
    const id = String(item?.['id']);
    const fault = { side: 'stripe', method: 'POST', path: '/v1/credit_notes', times: 1, action: 'drop_after' };
    await world.control('POST', '/faults', fault);
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

  it('names a credit note by hand beside the one for the loss, and only that', async () => {
    const { invoiceId, paymentId } = await paid();
    const data = { disputeId: `dp_${invoiceId}`, paymentId, outcome: 'lost', amount: '10.00', currency: 'EUR' };
    await world.control('POST', '/events', { type: 'dispute.outcome', data });
    const [item] = await reviewsOf(world, invoiceId, 'dispute');
    await resolve(item?.['id'], 'credit');
    await bookedAs(invoiceId, 'loss_credited');
    const byHand = await world.stripe.creditNotes.create({ invoice: invoiceId, amount: 300, out_of_band_amount: 300 });
    expect(await notesOf(invoiceId)).toHaveLength(2);
    expect(await differences()).toMatchObject([{ kind: 'refunded_by_hand', object_id: byHand.id }]);
  });
});
