// A debit that a bank returned after it was settled: no event tells of it, so a person records it at the API or the command line.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { cli, cliJson } from '../cli/rig.js';
import { type Json, READ_KEY, type Reply, startWorld, type World } from '../support/world.js';

describe('a returned debit', () => {
  let world: World;
  let invoiceId: string;
  let paymentId: string;

  beforeAll(async () => {
    world = await startWorld({ BILLING_DRAFT_POLICY: 'finalize' });
    await world.startDaemon();
    const s = await world.subscriber();
    await world.invoice(s.firstInvoiceId, 'paid');
    invoiceId = await world.renew(s.subscriptionId);
    const invoice = await world.invoice(invoiceId, 'paid');
    paymentId = String((invoice['payments'] as Json[])[0]?.['id']);
  });
  afterAll(() => world.close());

  const post = (path: string, body: object, key: string = randomUUID()): Promise<Reply> =>
    world.api('POST', `/v1/payments/${paymentId}/${path}`, body, { 'Idempotency-Key': key });
  const entries = async (): Promise<unknown[]> => {
    const { body } = await world.api<{ data: Json[] }>('GET', `/v1/ledger?payment_id=${paymentId}`);
    return body.data.map((e) => [e['reason'], e['debit_account'], e['credit_account'], e['amount']]).reverse();
  };
  const items = async (): Promise<Json[]> =>
    (await world.api<{ data: Json[] }>('GET', '/v1/reviews?status=open&kind=debit_returned')).body.data;
  const onStripe = async () => {
    const { status, post_payment_credit_notes_amount: credited } = await world.stripe.invoices.retrieve(invoiceId);
    return { status, credited };
  };

  it('is recorded by ops only, with a key, and books the loss once however often it is sent', async () => {
    const denied = await world.api(
      'POST',
      `/v1/payments/${paymentId}/returned`,
      {},
      { authorization: `Bearer ${READ_KEY}` },
    );
    expect(denied.status).toBe(403);
    const bare = await world.api('POST', `/v1/payments/${paymentId}/returned`, {});
    expect(bare).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
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
    expect(await post('returned', {}, 'return-1')).toMatchObject({
      status: 409,
      body: { code: 'idempotency_conflict' },
    });
    expect(await post('returned', {})).toMatchObject({ status: 409, body: { code: 'payment_already_returned' } });
    expect(await post('returned', { reference: 7 })).toMatchObject({
      status: 400,
      body: { errors: [{ field: 'reference' }] },
    });
    expect((await world.api('GET', `/v1/payments/${paymentId}/returned`)).body).toEqual(first.body);
    expect(await entries()).toEqual([
      ['payment_collected', 'mor_receivable', 'unmarked_payments', 2990],
      ['payment_marked', 'unmarked_payments', 'settled_invoices', 2990],
      ['debit_returned', 'disputed_payments', 'mor_receivable', 2990],
    ]);
  });

  it('asks a person what becomes of the invoice, changes nothing on Stripe, and refuses a refund', async () => {
    const [item, ...others] = await items();
    expect(others).toEqual([]);
    expect(item).toMatchObject({ invoice_id: invoiceId, payment_id: paymentId, actions: ['credit', 'dismiss'] });
    expect(String(item?.['proposal'])).toMatch(/new invoice .* credit note/);
    expect(await onStripe()).toEqual({ status: 'paid', credited: 0 });
    expect(await post('refunds', {})).toMatchObject({ status: 422, body: { code: 'payment_not_refundable' } });
    const story = await cli(['explain', invoiceId], world.env);
    expect(story.out).toContain('ops recorded that the bank returned 29.90 EUR');
  });

  it('is undone by a further entry, and the item closes', async () => {
    const undone = await post('returned/undo', {}, 'undo-1');
    expect(undone).toMatchObject({ status: 200, body: { status: 'undone', undone_at: expect.any(String) } });
    expect((await post('returned/undo', {}, 'undo-1')).body).toEqual(undone.body);
    expect(await post('returned/undo', {})).toMatchObject({ status: 409, body: { code: 'payment_not_returned' } });
    expect((await entries()).at(-1)).toEqual(['debit_return_reversed', 'mor_receivable', 'disputed_payments', 2990]);
    expect(await items()).toEqual([]);
  });

  it('is recorded and undone from the command line, which asks first, and is audited', async () => {
    const asked = await cli(['returned', paymentId], world.env, { answer: 'n' });
    expect(asked).toMatchObject({ code: 1, out: '', err: expect.stringContaining('Nothing was done.') });
    const done = await cliJson(['returned', paymentId, '--reference', 'line 4', '--yes'], world.env);
    expect(done).toMatchObject({ code: 0, body: { status: 'returned', reference: 'line 4', amount: 2990 } });
    expect(await cli(['returned', paymentId, '--yes'], world.env)).toMatchObject({
      code: 1,
      err: expect.stringContaining('recorded already'),
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

  it('leaves verify clean, and survives a rebuild of the read rows', async () => {
    const rebuilt = await cli(['rebuild'], world.env);
    expect(rebuilt).toMatchObject({ code: 0 });
    expect((await world.api('GET', `/v1/payments/${paymentId}/returned`)).body['status']).toBe('undone');
    expect((await cli(['verify'], world.env)).code).toBe(0);
  });
});
