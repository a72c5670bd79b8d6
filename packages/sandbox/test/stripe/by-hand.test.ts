// A person's acts on Stripe's dashboard: credits to the balance, credit notes, payments taken off an invoice.
import { expect, it } from '@jest/globals';
import { type Rig, report, rigForEach, subscribe, renewed } from '../rig.js';

const HOUR = 3600;

let rig: Rig;
rigForEach((started) => (rig = started));

async function paid() {
  const made = await subscribe(rig, 'ada@example.com');
  const record = await report(rig, 2990, 'ch_1');
  await rig.stripe.invoices.attachPayment(made.invoiceId, { payment_record: record.id });
  return { ...made, record };
}

it("a manual credit to a customer balance at the sandbox's Stripe appears as an entry and lowers the next invoice", async () => {
  const { customer, subscription } = await paid();
  const { customers, invoices } = rig.stripe;
  const entry = await customers.createBalanceTransaction(customer.id, {
    amount: -1000,
    currency: 'eur',
    description: 'goodwill',
  });
  expect(entry).toMatchObject({ type: 'adjustment', amount: -1000, ending_balance: -1000, description: 'goodwill' });
  expect(await customers.retrieveBalanceTransaction(customer.id, entry.id)).toMatchObject({ id: entry.id });

  const id = await renewed(rig, subscription.id);
  const draft = await invoices.retrieve(id);
  expect(draft).toMatchObject({ starting_balance: -1000, ending_balance: null, amount_due: 1990, total: 2990 });
  await rig.advance(HOUR + 5);
  expect(await invoices.retrieve(id)).toMatchObject({ starting_balance: -1000, ending_balance: 0, amount_due: 1990 });
  expect(await customers.retrieve(customer.id)).toMatchObject({ balance: 0 });
  const listed = await customers.listBalanceTransactions(customer.id);
  expect(listed.data.map((e) => [e.type, e.amount, e.invoice])).toEqual([
    ['applied_to_invoice', 1000, id],
    ['adjustment', -1000, null],
  ]);
  await invoices.voidInvoice(id);
  expect(await customers.retrieve(customer.id)).toMatchObject({ balance: -1000 });
});

it("a customer balance at the sandbox's Stripe pays a whole invoice, and the remaining balance goes to the next invoice", async () => {
  const { customer, subscription } = await paid();
  await rig.stripe.customers.createBalanceTransaction(customer.id, { amount: -4000, currency: 'eur' });
  const id = await renewed(rig, subscription.id);
  await rig.advance(HOUR + 5);
  expect(await rig.stripe.invoices.retrieve(id)).toMatchObject({
    status: 'paid',
    amount_due: 0,
    amount_paid: 0,
    ending_balance: -1010,
  });
});

it("a manual debit to a customer balance at the sandbox's Stripe raises the next invoice", async () => {
  const { customer, subscription } = await paid();
  await rig.stripe.customers.createBalanceTransaction(customer.id, { amount: 500, currency: 'eur' });
  const id = await renewed(rig, subscription.id);
  await rig.advance(HOUR + 5);
  expect(await rig.stripe.invoices.retrieve(id)).toMatchObject({ amount_due: 3490, ending_balance: 0 });
});

it("an overpayment at the sandbox's Stripe goes to the customer balance", async () => {
  const { customer, invoiceId } = await subscribe(rig, 'ada@example.com');
  const record = await report(rig, 3000, 'ch_1');
  await rig.stripe.invoices.attachPayment(invoiceId, { payment_record: record.id });
  expect(await rig.stripe.customers.retrieve(customer.id)).toMatchObject({ balance: -10 });
});

it("a manual credit note at the sandbox's Stripe credits the customer balance or records an out-of-band refund", async () => {
  const { customer, invoiceId } = await paid();
  const credited = await rig.stripe.creditNotes.create({ invoice: invoiceId, amount: 700, credit_amount: 700 });
  const [entry] = (await rig.stripe.customers.listBalanceTransactions(customer.id)).data;
  expect(credited.customer_balance_transaction).toBe(entry?.id);
  expect(entry).toMatchObject({ type: 'credit_note', amount: -700, credit_note: credited.id, invoice: invoiceId });
  await rig.stripe.creditNotes.create({ invoice: invoiceId, amount: 300, out_of_band_amount: 300 });
  expect(await rig.stripe.customers.retrieve(customer.id)).toMatchObject({ balance: -700 });
  expect(await rig.stripe.invoices.retrieve(invoiceId)).toMatchObject({ post_payment_credit_notes_amount: 1000 });
});

it("detaching a payment at the sandbox's Stripe reopens the invoice, and the payment record may be attached again", async () => {
  const { invoiceId, record } = await paid();
  const body = { payment_record: record.id };
  const reply: unknown = await rig.stripe.rawRequest('POST', `/v1/invoices/${invoiceId}/detach_payment`, body);
  expect(reply).toMatchObject({ id: invoiceId, status: 'open', amount_paid: 0, amount_remaining: 2990 });
  const left = await rig.stripe.invoicePayments.list({ invoice: invoiceId });
  expect(left.data.map((p) => [p.payment.type, p.status])).toEqual([
    ['payment_intent', 'open'],
    ['payment_intent', 'canceled'],
  ]);
  await rig.advance(1);
  expect(rig.events('invoice_payment.detached')).toHaveLength(1);
  expect(await rig.stripe.invoices.attachPayment(invoiceId, { payment_record: record.id })).toMatchObject({
    status: 'paid',
  });
});

it("detaching a payment at the sandbox's Stripe removes the overpayment from the customer balance", async () => {
  const { customer, invoiceId } = await subscribe(rig, 'ada@example.com');
  const record = await report(rig, 3000, 'ch_1');
  await rig.stripe.invoices.attachPayment(invoiceId, { payment_record: record.id });
  await rig.stripe.rawRequest('POST', `/v1/invoices/${invoiceId}/detach_payment`, { payment_record: record.id });
  expect(await rig.stripe.customers.retrieve(customer.id)).toMatchObject({ balance: 0 });
});
