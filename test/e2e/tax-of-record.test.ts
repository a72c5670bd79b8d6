// MOR_PRODUCT=tor, end to end: a marked invoice commits its tax, a refund gives its share back, and nothing of it holds up the mark.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { compareWithin } from '../../src/verify/rules/compare.js';
import { ServerTime } from '../../src/store/database-time.js';
import { Database } from '../../src/store/database.js';
import { PgVerifyBooks } from '../../src/store/pg-verify-books.js';
import { cli } from '../cli/rig.js';
import { copyDatabase } from '../support/database.js';
import { newPaid, tellRefunded, tellSucceeded, untilReviews } from './support/story.js';
import { callsOf } from '../support/lane-log.js';
import { type Json, SIGNUP_KEY, type Subscriber, startWorld, type World } from '../support/world.js';

describe('with MOR_PRODUCT=tor', () => {
  let world: World;
  let db: pg.Pool;
  const booksAt = (connectionString: string): pg.Pool => {
    const pool = new pg.Pool({ connectionString, max: 1, pipeline: true });
    pool.on('error', () => undefined); // a connection may still be closing when its database is dropped
    return pool;
  };
  beforeAll(async () => {
    world = await startWorld({ MOR_PRODUCT: 'tor', BILLING_DRAFT_POLICY: 'finalize' });
    await world.startDaemon();
    db = booksAt(world.databaseUrl);
  });
  afterEach(async () => {
    await world.control('DELETE', '/faults');
  });
  afterAll(async () => {
    await db.end();
    await world.close();
  });

  const transactions = async (reference: string): Promise<Json[]> => {
    const found = await world.api('GET', `/v1/tax/transactions?merchantTransactionReference=${reference}`);
    return found.body['transactions'] as Json[];
  };
  const committed = (reference: string): Promise<Json[]> =>
    world.until(
      `the tax of ${reference} is committed`,
      () => transactions(reference),
      (t) => t.length > 0,
    );
  const stage = async (reference: string): Promise<string | undefined> => {
    const query = 'select stage from tax_record where reference = $1 or refund_id = $1';
    const found = await db.query<{ stage: string }>(query, [reference]);
    return found.rows[0]?.stage;
  };
  const staged = (reference: string, wanted: string) =>
    world.until(
      `${reference} is ${wanted}`,
      () => stage(reference),
      (s) => s === wanted,
    );
  const knowsAll = (s: Subscriber, over: Json = {}): Promise<unknown> =>
    world.stripe.customers.update(s.customerId, {
      address: { line1: '1 Rue', city: 'Paris', postal_code: '75001', country: 'FR' },
      metadata: { ip_address: '203.0.113.7' },
      ...over,
    });
  const reviewOf = async (invoiceId: string): Promise<Json> => {
    const found = await world.until(
      `a review of ${invoiceId} is open`,
      () => world.api<{ data: Json[] }>('GET', `/v1/reviews?invoice_id=${invoiceId}&status=open`),
      (r) => r.body.data.length > 0,
    );
    return found.body.data[0] ?? {};
  };
  async function renewal(over: Json = {}): Promise<{ s: Subscriber; invoice: string; paid: Json }> {
    const s = await world.subscriber();
    await world.invoice(s.firstInvoiceId, 'paid');
    await knowsAll(s, over);
    const invoice = await world.renew(s.subscriptionId);
    return { s, invoice, paid: await world.invoice(invoice, 'paid') };
  }
  /** A renewal that is final and open: its card was declined. */
  async function declinedRenewal(): Promise<{ s: Subscriber; invoice: string }> {
    const s = await world.subscriber();
    await world.invoice(s.firstInvoiceId, 'paid');
    await knowsAll(s);
    await world.control('POST', '/cards', { customer_id: s.customerId, outcome: 'decline' });
    const invoice = await world.renew(s.subscriptionId);
    await world.invoice(invoice, 'open');
    await world.stripe.invoices.finalizeInvoice(invoice, { auto_advance: false });
    return { s, invoice };
  }
  const refund = (payment: string, amount: number, key: string) =>
    world.api('POST', `/v1/payments/${payment}/refunds`, { amount }, { 'idempotency-key': key });

  /** The MoR's own names of a payment and a refund of it. */
  const nameAtMor = (payment: Json | undefined, made: Json): string =>
    `${String(payment?.['id'])}:${String(made['mor_refund_id'])}`;

  it('commits the tax of a renewal and gives its share back with each refund', async () => {
    const { invoice, paid } = await renewal();
    const [tax] = await committed(invoice);
    const [payment] = paid['payments'] as Json[];
    expect(tax).toMatchObject({
      merchantTransactionReference: invoice,
      currency: 'EUR',
      totalAmount: '29.90',
      payment: { processor: 'cardpsp', paymentReference: payment?.['processor_charge_id'] },
    });
    await staged(invoice, 'committed');
    // The customer's address is not kept.
    expect(await callsOf(db, invoice, 'calculate_tax')).toMatchObject([{ status: 'done', wire: { body: null } }]);
    const kept = await db.query('select count(*) as n from lane_log where lane = $1 and bodies::text like $2', [
      invoice,
      '%billingAddress%',
    ]);
    expect(kept.rows).toEqual([{ n: '0' }]);
    const first = await refund(String(payment?.['id']), 1001, `${invoice}-1`);
    await staged(String(first.body['id']), 'committed');
    const second = await refund(String(payment?.['id']), 1989, `${invoice}-2`);
    await staged(String(second.body['id']), 'committed');
    const [after] = await transactions(invoice);
    expect(after).toMatchObject({
      refunded: true,
      refundsOnTransaction: [
        { merchantRefundReference: nameAtMor(payment, first.body), totalAmount: '10.01' },
        { merchantRefundReference: nameAtMor(payment, second.body), totalAmount: '19.89' },
      ],
    });
    const story = (await world.api('GET', `/v1/invoices/${invoice}`)).body['timeline'] as Json[];
    const told = story.map((line) => String(line['text'] ?? line['summary'])).join('\n');
    expect(told).toContain('calculate_tax done');
    expect(told).toContain('commit_tax done');
    expect(told).toContain('refund_tax done');
    const explained = await cli(['explain', invoice], world.env);
    expect(explained.out).toMatch(/Tax of the invoice at the MoR: committed as \S+\./);
    expect(explained.out).toContain(`Tax of refund ${String(first.body['id'])} at the MoR: committed`);
  });

  it('commits what was paid where a part was credited before the payment', async () => {
    const { s, invoice } = await declinedRenewal();
    await world.stripe.creditNotes.create({ invoice, amount: 990, email_type: 'none' });
    await tellSucceeded(world, newPaid(), { customerId: s.customerId, invoiceId: invoice, amount: 2000 });
    await world.invoice(invoice, 'paid');
    const [tax] = await committed(invoice);
    expect(tax).toMatchObject({ totalAmount: '20.00' });
  });

  it('commits the whole sale where the customer’s balance paid a part of it, and gives back what was refunded', async () => {
    const s = await world.subscriber();
    await world.invoice(s.firstInvoiceId, 'paid');
    await knowsAll(s);
    await world.stripe.customers.createBalanceTransaction(s.customerId, { amount: -990, currency: 'eur' });
    const invoice = await world.renew(s.subscriptionId);
    const [payment] = (await world.invoice(invoice, 'paid'))['payments'] as Json[];
    expect(payment).toMatchObject({ amount: 2000 });
    expect((await committed(invoice))[0]).toMatchObject({ totalAmount: '29.90' });
    await staged(invoice, 'committed');
    const given = await refund(String(payment?.['id']), 2000, `${invoice}-1`);
    await staged(String(given.body['id']), 'committed');
    expect((await transactions(invoice))[0]).toMatchObject({ refundsOnTransaction: [{ totalAmount: '20.00' }] });
  });

  it('commits the calculation that the signup was bound to', async () => {
    const s = await world.stripe.customers.create({ email: 'b@example.com' });
    const price = await world.stripe.prices.create({
      product: (await world.stripe.products.create({ name: 'Oak' })).id,
      currency: 'eur',
      unit_amount: 1200,
      recurring: { interval: 'month' },
    });
    const subscription = await world.stripe.subscriptions.create({
      customer: s.id,
      items: [{ price: price.id }],
      payment_behavior: 'default_incomplete',
    });
    const latest = subscription.latest_invoice;
    const invoice = typeof latest === 'string' ? latest : (latest?.id ?? '');
    const headers = { authorization: `Bearer ${SIGNUP_KEY}` };
    const made = await world.api(
      'POST',
      '/v1/signups',
      {
        kind: 'payment',
        customer: { id: s.id },
        amount: 1200,
        currency: 'eur',
        tax: {
          currency: 'EUR',
          taxBehavior: 'INCLUSIVE',
          customer: { billingAddress: { line1: '1', city: 'Paris', postalCode: '75001', country: 'FR' } },
          lineItems: [{ merchantLineItemReference: 'l', productCode: 'oak', unitPrice: '12.00' }],
          evidence: { billingCountry: 'FR', ipAddress: '203.0.113.9' },
        },
      },
      headers,
    );
    expect(made.status).toBe(201);
    const confirmed = await world.control('POST', `/intents/${String(made.body['payment_intent_id'])}/confirm`, {});
    const body = { charge_id: confirmed.body['charge_id'], invoice_id: invoice, amount: 1200, currency: 'eur' };
    await world.api('POST', `/v1/signups/${String(made.body['id'])}/complete`, body, headers);
    await world.invoice(invoice, 'paid');
    const [tax] = await committed(invoice);
    expect(tax).toMatchObject({ totalAmount: '12.00', lineItems: [{ productCode: 'oak' }] });
    // The row is written once the lane rests, a moment after the MoR answered.
    const { rows } = await world.until(
      'the tax of record is in the books',
      () => db.query('select tax_calculation_id from tax_record where reference = $1', [invoice]),
      (kept) => kept.rows.length > 0,
    );
    expect(rows).toEqual([{ tax_calculation_id: made.body['tax_calculation_id'] }]);
  });

  it('marks the invoice and names what is missing for its tax; supplied, it is committed on retry', async () => {
    const { s, invoice } = await renewal({ metadata: { ip_address: '' } });
    const review = await reviewOf(invoice);
    expect(review).toMatchObject({ kind: 'effect_failed', summary: expect.stringContaining('IP address') });
    expect((await world.api('GET', `/v1/invoices/${invoice}`)).body['status']).toBe('paid');
    expect(await transactions(invoice)).toEqual([]);
    await knowsAll(s);
    const retried = await world.api('POST', `/v1/reviews/${String(review['id'])}/resolve`, {
      resolution: 'retry',
      note: 'known now',
    });
    expect(retried.status).toBe(200);
    await committed(invoice);
    await staged(invoice, 'committed');
  });

  it('calculates once more when the calculation has expired or was used', async () => {
    const used = {
      status: 400,
      code: 'invalid_state',
      body: { code: 'invalid_state', errors: [{ field: 'taxCalculationId', message: 'has expired' }] },
    };
    await world.control('POST', '/faults', {
      side: 'mor',
      method: 'POST',
      path: '/api/tax/transactions',
      action: 'status',
      ...used,
    });
    const { invoice } = await renewal();
    await world.until(
      'both invoices are committed',
      () => stage(invoice),
      (s) => s === 'committed',
    );
    expect(await transactions(invoice)).toHaveLength(1);
    const kept = await world.until(
      'both calculations are in the books',
      () => db.query('select calculations from tax_record where reference = $1', [invoice]),
      ({ rows: [row] }) => (row as { calculations: number } | undefined)?.calculations === 2,
    );
    expect(kept.rows).toEqual([{ calculations: 2 }]);
  });

  it('commits one transaction whatever answers are lost on the way', async () => {
    for (const path of ['/api/tax/calculations', '/api/tax/transactions']) {
      await world.control('POST', '/faults', { side: 'mor', method: 'POST', path, action: 'drop_after', times: 2 });
    }
    const { invoice, paid } = await renewal();
    await staged(invoice, 'committed');
    expect(await transactions(invoice)).toHaveLength(1);
    const [payment] = paid['payments'] as Json[];
    const path = '/api/tax/transactions/*/refunds';
    await world.control('POST', '/faults', { side: 'mor', method: 'POST', path, action: 'drop_after', times: 2 });
    const back = await refund(String(payment?.['id']), 500, `${invoice}-lost`);
    await staged(String(back.body['id']), 'committed');
    const [tax] = await transactions(invoice);
    expect(tax?.['refundsOnTransaction']).toHaveLength(1);
  });

  it('opens an item for a refusal with the fields it names, and verify shows what is not committed', async () => {
    const { invoice } = await renewal({
      address: { line1: '1 Weg', city: 'Berlin', postal_code: '10115', country: 'DE' }, // the MoR's own product covers DE
    });
    const review = await reviewOf(invoice);
    expect(review).toMatchObject({ kind: 'effect_failed', summary: expect.stringContaining('invalid_state') });
    expect((await world.api('GET', `/v1/invoices/${invoice}`)).body['status']).toBe('paid');
    const own = await Database.open({ url: world.databaseUrl, poolSize: 2, onError: () => undefined });
    try {
      const ends = await new PgVerifyBooks(own, new ServerTime()).openEnds(new Date(), 0n, 100);
      const ours = ends.find((o) => o.invoice.invoiceId === invoice);
      const found = ours === undefined ? [] : compareWithin(ours, new Date());
      expect(found).toMatchObject([{ kind: 'tax_not_committed', invoiceId: invoice, reviewId: review['id'] }]);
    } finally {
      await own.close();
    }
    const dismissed = await world.api('POST', `/v1/reviews/${String(review['id'])}/resolve`, {
      resolution: 'dismiss',
      note: 'by hand',
    });
    expect(dismissed.status).toBe(200);
    expect(await stage(invoice)).toBe('closed');
  });

  it('commits the whole sale once its second part is paid, and gives back what is refunded of that part', async () => {
    const { s, invoice } = await declinedRenewal();
    const said = { customerId: s.customerId, invoiceId: invoice };
    await tellSucceeded(world, newPaid(), { ...said, amount: 1000 });
    const [item] = await untilReviews(world, invoice, ['amount_mismatch']);
    const applied = { resolution: 'apply', note: 'a part' };
    await world.api('POST', `/v1/reviews/${String(item?.['id'])}/resolve`, applied);
    await staged(invoice, 'waiting');
    const rest = newPaid();
    await tellSucceeded(world, rest, { ...said, amount: 1990 });
    await world.invoice(invoice, 'paid');
    await staged(invoice, 'committed');
    const refunded = { refundId: 'rfnd_of_the_rest', total: 990, of: 1990 };
    await tellRefunded(world, rest, { ...said, amount: 990 }, refunded);
    await staged(`${rest.paymentId}:rfnd_of_the_rest`, 'committed');
    const [tax, ...more] = await transactions(invoice);
    expect(more).toEqual([]);
    expect(tax).toMatchObject({ totalAmount: '29.90', refundsOnTransaction: [{ totalAmount: '9.90' }] });
  });

  it('is taken up by another daemon where a dead one left it', async () => {
    const down = {
      side: 'mor',
      method: 'POST',
      path: '/api/tax/transactions',
      action: 'status',
      status: 503,
      times: 1_000,
    };
    await world.control('POST', '/faults', down);
    const { invoice } = await renewal();
    await staged(invoice, 'committing');
    const [before] = await callsOf(db, invoice, 'commit_tax');
    await world.daemons[0]?.stop();
    await world.control('DELETE', '/faults');
    const next = await world.startDaemon();
    await staged(invoice, 'committed');
    const [after] = await callsOf(db, invoice, 'commit_tax');
    expect(before?.key).toContain('commit_tax');
    expect([after?.key, after?.wire]).toEqual([before?.key, before?.wire]); // the same bytes under the same key
    expect(next.url).toMatch(/^http/);
  });

  it('gives the tax of a refund back once, also where a backup from before it is restored and its event comes again', async () => {
    const restart = async (url = world.databaseUrl): Promise<void> => {
      await Promise.all(world.daemons.splice(0).map((d) => d.stop()));
      const daemon = await world.startDaemon({ DATABASE_URL: url });
      const { stripe, cards, secrets } = world.sandbox;
      stripe.state.addEndpoint(`${daemon.url}/webhooks/stripe`, secrets.stripeWebhookSecret);
      cards.events.sendTo(`${daemon.url}/webhooks/mor/payments`, secrets.paymentWebhookSecret);
    };
    await restart();
    const { s, invoice, paid } = await renewal();
    await staged(invoice, 'committed');
    await Promise.all(world.daemons.splice(0).map((d) => d.stop()));
    await db.end(); // nobody may be in a database that is copied
    const copy = await copyDatabase(world.databaseUrl);
    db = booksAt(world.databaseUrl);
    await restart();
    const [payment] = paid['payments'] as Json[];
    const made = await refund(String(payment?.['id']), 990, `${invoice}-restored`);
    await staged(String(made.body['id']), 'committed');
    const restored = booksAt(copy.url);
    try {
      await restart(copy.url);
      const ids = {
        paymentId: String(payment?.['id']),
        chargeId: String(payment?.['processor_charge_id']),
        intentId: 'pi_restored',
      };
      const again = { refundId: String(made.body['mor_refund_id']), total: 990, of: 2990 };
      await tellRefunded(world, ids, { customerId: s.customerId, invoiceId: invoice, amount: 990 }, again);
      const query = `select stage, refund_id from tax_record where kind = 'refund' and invoice_id = $1`;
      const { rows } = await world.until(
        'the restored books have the tax refund',
        () => restored.query<{ stage: string; refund_id: string }>(query, [invoice]),
        (found) => found.rows[0]?.stage === 'committed',
      );
      expect(rows[0]?.refund_id).not.toBe(made.body['id']); // another id of ours for the same refund
      const [tax] = await transactions(invoice);
      expect(tax?.['refundsOnTransaction']).toHaveLength(1);
    } finally {
      await Promise.all(world.daemons.splice(0).map((d) => d.stop()));
      await restored.end();
      await copy.drop();
    }
  });
});
