// The first invoice of a second subscription, made without a signup: a person hears of it while it stays open.
import { describe, expect, it } from '@jest/globals';
import { type InvoiceFacts } from '../../../../../src/shared/domain/ports/billing-platform.js';
import { compareWithin } from '../../../../../src/features/verify/rules/compare.js';
import {
  aPaymentSucceeded,
  CUSTOMER_ID,
  INVOICE_ID,
  invoiceEvent,
  START,
} from '../../../../support/builders/events.js';
import { open, openFacts } from '../../../../support/builders/channel-lane.js';
import { LaneHarness, MemoryLaneRepository } from '../../../../support/rigs/lane-harness.js';

const HOUR_MS = 3_600_000;
const FIRST = { status: 'open', billingReason: 'subscription_create', createdAt: START } as const;

/** Stripe makes the first invoice of a customer with a payment method at the MoR, and hours pass. */
async function waited(hours: number, facts: Partial<InvoiceFacts> = {}, leftOut = true): Promise<LaneHarness> {
  const h = LaneHarness.withInvoice({ ...FIRST, ...facts });
  const { repository } = h.backend;
  if (!(repository instanceof MemoryLaneRepository)) throw new Error('the lanes are not in memory');
  if (leftOut) repository.leftOut.add(CUSTOMER_ID);
  await h.take(invoiceEvent('invoice.created', { ...FIRST, ...facts }));
  await h.idle(hours);
  return h;
}
const items = async (harness: LaneHarness) => open(await harness.state(INVOICE_ID));

describe('the first invoice of a customer of the MoR without a signup', () => {
  it('opens an item after 18 hours, with the amount that nobody charges', async () => {
    expect(await items(await waited(17.9))).toEqual([]);
    const h = await waited(18);
    const state = await h.state(INVOICE_ID);
    expect(state.invoice).toMatchObject({ status: 'review', leftOut: true });
    expect(openFacts(state)).toEqual([
      {
        code: 'first-invoice-unpaid',
        customer: CUSTOMER_ID,
        due: { minor: 1000n, currency: 'EUR' },
        since: START.toISOString(),
      },
    ]);
    expect((await items(h))[0]).toMatchObject({ kind: 'signup_overdue', actions: ['dismiss'], invoiceId: INVOICE_ID });
  });

  it('is a line of verify', async () => {
    const h = await waited(18);
    const { invoice, payments, refunds, objects, reviews } = await h.state(INVOICE_ID);
    if (invoice === null) throw new Error('never');
    const ours = { invoice, payments, refunds, objects, openReviews: reviews, sameCharge: [] };
    const found = compareWithin(ours, h.clock.now());
    expect(found).toMatchObject([{ kind: 'no_verdict', invoiceId: INVOICE_ID, reviewId: reviews[0]?.id }]);
  });

  it.each([
    ['Stripe voids it with its subscription', () => invoiceEvent('invoice.voided', { ...FIRST, status: 'void' })],
    ['Stripe shows it paid', () => invoiceEvent('invoice.paid', { ...FIRST, status: 'paid' })],
    ['the MoR takes money for it', () => aPaymentSucceeded()],
  ])('has no open item any more once %s', async (_, event) => {
    const h = await waited(18);
    await h.take(event());
    await h.idle(48);
    expect(await items(h)).toEqual([]);
  });
});

it.each<[string, Partial<InvoiceFacts>, boolean]>([
  ['of a new shopper, or with a signup of its own', {}, false],
  ['with nothing due', { amountDue: 0n }, true],
  ['that is a draft', { status: 'draft' }, true],
  ['that is a renewal', { billingReason: 'subscription_cycle', status: 'void' }, true],
])('an invoice %s opens no item about a missing signup', async (_, facts, leftOut) => {
  const h = await waited(40, facts, leftOut);
  expect((await items(h)).filter((r) => r.topic === 'first-invoice-unpaid')).toEqual([]);
});

it('Crossbill looks once for the signup of an open first invoice', async () => {
  const h = await waited(40, {}, false);
  expect((await h.state(INVOICE_ID)).invoice?.leftOut).toBe(false);
  h.clock.advance(100 * HOUR_MS);
  await h.drain();
  expect(await h.backend.nextDue()).toBeNull();
});
