// No mark before settlement: a signup by bank debit is known to the MoR for days before its money is there, or not.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startWorld, type World } from '../support/world.js';
import { type Begun, begun, complete, confirmed, paidOnce } from './support/signups.js';
import { requestsOf, reviews, stripeSide } from './support/story.js';

const DAY_SEC = 86_400;

describe('no mark before settlement', () => {
  let world: World;

  beforeAll(async () => {
    world = await startWorld({ BILLING_DRAFT_POLICY: 'finalize' });
    await world.startDaemon();
  });
  afterAll(() => world.close());

  /** A signup by bank debit that the MoR calls processing, completed by the shop and looked up. */
  async function processing(outcome: string | null): Promise<Begun> {
    const b = await begun(world);
    if (outcome === null) await world.control('POST', '/cards', { customer_id: b.customerId, outcome: 'bank_debit' });
    const { chargeId } = await confirmed(world, b, outcome);
    expect(await complete(world, b, chargeId)).toMatchObject({
      status: 202,
      body: { mark: 'proving', payment: { status: 'processing', succeeded_at: null } },
    });
    await world.until(
      'the signup says what it waits for',
      () => world.api('GET', `/v1/signups/${b.id}`),
      (r) => (r.body['proof'] as { status?: string } | undefined)?.status === 'waiting_for_settlement',
    );
    expect((await world.api('GET', `/v1/signups/${b.id}`)).body['status']).toBe('requires_payment_method');
    return b;
  }

  it.each([null, 'bank_debit'])(
    "a bank debit that is processing (%s) leaves the invoice open, however often it is looked up; Stripe ends the subscription first, and the money that settles later is a person's",
    async (outcome) => {
      const b = await processing(outcome);
      const asked = await world.until(
        'the MoR was asked three times',
        () => requestsOf(world, 'side=mor&path=/api/payments/invoice'),
        (seen) => seen.length >= 3,
      );
      expect(asked.at(-1)).toMatchObject({ status: 202 });
      expect(await stripeSide(world, b.invoiceId)).toMatchObject({ status: 'open', records: [] });
      const shown = await world.api('GET', `/v1/invoices/${b.invoiceId}`);
      expect(shown.body).toMatchObject({
        status: 'open',
        payments: [
          {
            status: 'processing',
            proof: { status: 'waiting_for_settlement', since: expect.any(String), next_look_at: expect.any(String) },
          },
        ],
      });
      const ledger = await world.api('GET', `/v1/ledger?invoice_id=${b.invoiceId}`);
      expect(ledger.body['data']).toEqual([]);

      await world.advance(5 * DAY_SEC);
      const [item] = await world.until(
        'a person is asked',
        () => reviews(world, b.invoiceId),
        (items) => items.length === 1,
      );
      expect(item).toMatchObject({ kind: 'invoice_not_payable' });
      expect(await stripeSide(world, b.invoiceId)).toMatchObject({ status: 'void', records: [] });
      const after = await world.api('GET', `/v1/invoices/${b.invoiceId}`);
      expect(after.body).toMatchObject({ status: 'review', payments: [{ status: 'succeeded', amount: 2990 }] });
      expect((after.body['payments'] as object[])[0]).not.toHaveProperty('proof');
    },
  );

  it('a settled bank debit pays its invoice once, when Stripe has not ended the subscription before', async () => {
    const b = await processing('bank_debit');
    const atMor = [...world.sandbox.mor.payments.values()].find((p) => p.merchantCustomerId === b.customerId);
    if (atMor === undefined) throw new Error('the MoR has no such payment');
    world.sandbox.cards.charges.succeed(atMor); // a fast bank: within Stripe's 23 hours
    await paidOnce(world, b.invoiceId);
    expect((await world.api('GET', `/v1/signups/${b.id}`)).body['status']).toBe('completed');
    expect(await reviews(world, b.invoiceId)).toEqual([]);
    await world.advance(5 * DAY_SEC); // the MoR's own clock says it again
    await paidOnce(world, b.invoiceId);
  });

  it('a bank debit that failed is a signup_unproven item; no payment record is made and the invoice is not paid', async () => {
    const b = await processing('bank_debit_failed');
    const atMor = [...world.sandbox.mor.payments.values()].find((p) => p.merchantCustomerId === b.customerId);
    if (atMor === undefined) throw new Error('the MoR has no such payment');
    await world.advance(5 * DAY_SEC);
    expect(atMor.status).toBe('failed');
    // The MoR's own event, where it posts one, ends the proof at once; else the look-up's 404 does, after two hours.
    world.sandbox.cards.events.verdict({ ...atMor, merchantInvoiceId: b.invoiceId });
    const [item] = await world.until(
      'a person is asked',
      () => reviews(world, b.invoiceId),
      (items) => items.length === 1,
    );
    expect(item).toMatchObject({ kind: 'signup_unproven', summary: expect.stringContaining('debit_not_authorized') });
    const side = await stripeSide(world, b.invoiceId);
    expect(side.records).toEqual([]);
    expect(side.status).not.toBe('paid');
    expect((await world.api('GET', `/v1/invoices/${b.invoiceId}`)).body).toMatchObject({
      status: 'review',
      payments: [{ status: 'failed', succeeded_at: null, decline_code: 'debit_not_authorized' }],
    });
    const settled = await world.api('POST', `/v1/reviews/${String(item?.['id'])}/resolve`, { resolution: 'dismiss' });
    expect(settled.status).toBe(200);
    expect((await stripeSide(world, b.invoiceId)).records).toEqual([]);
  });
});
