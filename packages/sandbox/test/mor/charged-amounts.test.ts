// Which amount the MoR charges, how often, and with which tax: answers the documents leave open.
import { expect, it } from '@jest/globals';
import { readOptions } from '../../src/options.js';
import { call, renewed, report, type Rig, rigForEach, subscribe } from '../rig.js';

const HOUR = 3600;

let rig: Rig;
rigForEach((started) => (rig = started));

const choose = (facts: Record<string, string>) => rig.control('POST', '/mor/open-facts', facts);
const charged = (): unknown[] => rig.events('payment.succeeded').map((e) => e.data.object['amount']);

/** A paid subscriber with a saved card at the MoR. */
async function saved(): Promise<string> {
  const { customer, subscription, invoiceId } = await subscribe(rig, 'ada@example.com');
  await rig.stripe.invoices.pay(invoiceId, { paid_out_of_band: true });
  await rig.control('POST', '/cards', { customer_id: customer.id, outcome: 'succeed' });
  return subscription.id;
}

/** Sends an event to the MoR's endpoint for Stripe's events, signed as the merchant's relay signs. */
async function relay(event: { readonly id: string }): Promise<number> {
  const raw = JSON.stringify(event);
  const header = rig.stripe.webhooks.generateTestHeaderString({
    payload: raw,
    secret: rig.sandbox.secrets.relaySecret,
  });
  const sent = await call(rig.sandbox.morUrl, 'POST', '/relay/stripe', raw, { 'stripe-signature': header });
  await rig.advance(2);
  return sent.status;
}

async function created(): Promise<{ id: string; type: string }> {
  await rig.advance(2);
  const event = rig.events('invoice.created').at(-1);
  if (event === undefined) throw new Error('no invoice.created');
  return event;
}

it("the sandbox's MoR charges the amount of the event, or the invoice's present amount, as a test chooses", async () => {
  const subscription = await saved();
  await rig.control('POST', '/mor/hearing', { direct: false });
  for (const [word, amount] of [
    ['event', 2990],
    ['present', 3490],
  ] as const) {
    await choose({ charged_amount: word });
    const id = await renewed(rig, subscription);
    const event = await created();
    await rig.control('POST', `/stripe/invoices/${id}/add`, { amount: 500 });
    await relay(event);
    expect(charged().at(-1)).toBe(amount);
  }
});

it("a MoR that reads the invoice's present amount charges nothing for a draft of 0, and charges the draft once it has an amount", async () => {
  const subscription = await saved();
  await rig.control('POST', '/mor/hearing', { direct: false });
  await choose({ charged_amount: 'present' });
  const renewal = await rig.control('POST', '/stripe/renew', { subscription, amount: 0 });
  const event = await created();
  await relay(event);
  expect(charged()).toEqual([]);
  await rig.control('POST', `/stripe/invoices/${String(renewal.body['id'])}/add`, { amount: 4200 });
  await relay({ ...event, id: 'evt_other' });
  expect(charged()).toEqual([4200]);
});

it("the sandbox's MoR charges an invoice once, for each event, or for each delivery, as a test chooses", async () => {
  const subscription = await saved();
  for (const [word, charges] of [
    ['once', 1],
    ['per_event', 2],
    ['per_delivery', 3],
  ] as const) {
    await choose({ repeats: word });
    const before = charged().length;
    await renewed(rig, subscription);
    const event = await created();
    await relay(event);
    await relay({ ...event, id: `evt_${word}` });
    expect(charged().length - before).toBe(charges);
  }
});

it("the sandbox's MoR charges no invoice twice if it reads the paid invoice first", async () => {
  const subscription = await saved();
  await choose({ repeats: 'per_event', charged_amount: 'present' });
  const id = await renewed(rig, subscription);
  const event = await created();
  expect(charged()).toEqual([2990]);
  await rig.advance(HOUR);
  const record = await report(rig, 2990, 'ch_1');
  await rig.stripe.invoices.attachPayment(id, { payment_record: record.id });
  await relay({ ...event, id: 'evt_again' });
  expect(charged()).toEqual([2990]);
});

it("the sandbox's MoR adds 19 percent of tax to a renewal, if a test chooses so", async () => {
  const subscription = await saved();
  await choose({ renewal_tax: 'added' });
  await renewed(rig, subscription);
  await created();
  expect(charged()).toEqual([3558]);
});

it('the sandbox refuses an open fact it does not know, by its control route and by its setting', async () => {
  expect((await choose({ repeat: 'once' })).status).toBe(400);
  expect(readOptions({ SANDBOX_OPEN_FACTS: 'charged_amount=present, repeats=per_event' }).openFacts).toEqual({
    charged_amount: 'present',
    repeats: 'per_event',
  });
  expect(() => readOptions({ SANDBOX_OPEN_FACTS: 'repeats=twice' })).toThrow(/SANDBOX_OPEN_FACTS.*repeats/);
  expect(() => readOptions({ SANDBOX_GRACE_HOURS: '73' })).toThrow(/SANDBOX_GRACE_HOURS/);
});
