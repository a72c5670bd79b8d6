// The Stripe side, driven with the real `stripe` package: the life of invoices, records, refunds and credit notes.
import { expect, it } from '@jest/globals';
import { type Rig, report, rigForEach, subscribe, renewed } from '../rig.js';

const HOUR = 3600;
const DAY = 24 * HOUR;

let rig: Rig;
rigForEach((started) => (rig = started));

async function paidSignup(email = 'ada@example.com') {
  const made = await subscribe(rig, email);
  const record = await report(rig, 2990, 'ch_1');
  const invoice = await rig.stripe.invoices.attachPayment(made.invoiceId, {
    payment_record: record.id,
    expand: ['payments'],
  });
  return { ...made, record, invoice };
}

it("the sandbox's Stripe marks the first invoice paid after an attached payment record of the exact amount", async () => {
  const { subscription, invoiceId, invoice } = await paidSignup();
  expect(subscription.status).toBe('incomplete');
  expect(invoice).toMatchObject({ id: invoiceId, status: 'paid', amount_paid: 2990, amount_remaining: 0 });
  expect(invoice.payments?.data.map((p) => p.status)).toEqual(['canceled', 'paid']);
  expect((await rig.stripe.subscriptions.retrieve(subscription.id)).status).toBe('active');
  const read = await rig.stripe.invoices.retrieve(invoiceId, { expand: ['amount_paid_off_stripe'] });
  expect(read.amount_paid_off_stripe).toBe(2990);
  expect(read.parent?.subscription_details?.subscription).toBe(subscription.id);
  expect(read).not.toHaveProperty('paid_out_of_band');
});

it("the sandbox's Stripe expires an unpaid subscription after 23 hours and voids its invoice", async () => {
  const { subscription, invoiceId } = await subscribe(rig, 'ada@example.com');
  await rig.advance(23 * HOUR + 1);
  expect((await rig.stripe.subscriptions.retrieve(subscription.id)).status).toBe('incomplete_expired');
  expect((await rig.stripe.invoices.retrieve(invoiceId)).status).toBe('void');
  expect(rig.events('invoice.voided')).toHaveLength(1);
});

it("the sandbox's Stripe makes a paid invoice of amount zero at a trial's start, and a renewal invoice at the trial's end", async () => {
  const { customer, invoiceId } = await subscribe(rig, 'ada@example.com', { trial_period_days: 14 });
  expect(await rig.stripe.invoices.retrieve(invoiceId)).toMatchObject({ status: 'paid', amount_due: 0 });
  await rig.advance(14 * DAY + 10);
  const [newest] = (await rig.stripe.invoices.list({ customer: customer.id })).data;
  expect(newest).toMatchObject({ billing_reason: 'subscription_cycle', amount_due: 2990, status: 'draft' });
});

it("the sandbox's Stripe keeps a renewal as a draft for an hour, refuses payments meanwhile, and then finalizes the draft", async () => {
  const { subscription } = await paidSignup();
  const id = await renewed(rig, subscription.id);
  const record = await report(rig, 2990, 'ch_2');
  await expect(rig.stripe.invoices.attachPayment(id, { payment_record: record.id })).rejects.toMatchObject({
    statusCode: 400,
    code: 'invoice_not_open',
  });
  await expect(rig.stripe.invoices.pay(id, { paid_out_of_band: true })).rejects.toMatchObject({ statusCode: 400 });
  await rig.advance(HOUR + 5);
  expect((await rig.stripe.invoices.retrieve(id)).status).toBe('open');
  const types = rig.received.map((r) => (JSON.parse(r.body) as { type: string }).type);
  expect(types.indexOf('invoice.finalized')).toBeLessThan(types.indexOf('invoice.payment_attempt_required'));
  expect(await rig.stripe.invoices.attachPayment(id, { payment_record: record.id })).toMatchObject({ status: 'paid' });
});

it("the sandbox's Stripe renews a subscription each month on the day of its anchor", async () => {
  const { customer } = await paidSignup();
  await rig.advance(95 * DAY);
  const invoices = await rig.stripe.invoices.list({ customer: customer.id, limit: 2 }).autoPagingToArray({ limit: 50 });
  expect(invoices.map((i) => i.billing_reason)).toEqual([
    'subscription_cycle',
    'subscription_cycle',
    'subscription_cycle',
    'subscription_create',
  ]);
  const days = invoices.map((i) => new Date(i.created * 1000).getUTCDate());
  expect(new Set(days).size).toBeLessThanOrEqual(2); // short months end earlier
});

it("the sandbox's Stripe keeps a draft up to 72 hours while an endpoint has not answered invoice.created", async () => {
  const { subscription } = await paidSignup();
  rig.reply = () => 500;
  const id = await renewed(rig, subscription.id);
  await rig.advance(71 * HOUR);
  expect((await rig.stripe.invoices.retrieve(id)).status).toBe('draft');
  await rig.advance(HOUR + 10);
  expect((await rig.stripe.invoices.retrieve(id)).status).toBe('open');
});

it("the sandbox's Stripe keeps an invoice open after a partial payment, and marks it paid after the remaining payment", async () => {
  const { invoiceId } = await subscribe(rig, 'ada@example.com');
  const part = await report(rig, 1000, 'ch_1');
  const open = await rig.stripe.invoices.attachPayment(invoiceId, { payment_record: part.id });
  expect(open).toMatchObject({ status: 'open', amount_remaining: 1990 });
  await expect(rig.stripe.invoices.attachPayment(invoiceId, { payment_record: part.id })).rejects.toMatchObject({
    statusCode: 400,
    code: 'resource_already_exists',
  });
  const remaining = await report(rig, 1990, 'ch_2');
  expect(await rig.stripe.invoices.attachPayment(invoiceId, { payment_record: remaining.id })).toMatchObject({
    status: 'paid',
  });
  const listed = await rig.stripe.invoicePayments.list({ invoice: invoiceId, payment: { type: 'payment_record' } });
  expect(listed.data.map((p) => p.amount_paid)).toEqual([1990, 1000]);
});

it("the sandbox's Stripe reports an overpaid invoice after a payment above the amount due", async () => {
  const { invoiceId } = await subscribe(rig, 'ada@example.com');
  const record = await report(rig, 3000, 'ch_1');
  const paid = await rig.stripe.invoices.attachPayment(invoiceId, { payment_record: record.id });
  expect(paid).toMatchObject({ status: 'paid', amount_overpaid: 10 });
  await rig.advance(1);
  expect(rig.events('invoice.overpaid')).toHaveLength(1);
});

it("the sandbox's Stripe accepts a payment for an uncollectible invoice, and refuses a payment for a void invoice", async () => {
  const first = await subscribe(rig, 'ada@example.com');
  await rig.stripe.invoices.markUncollectible(first.invoiceId);
  expect((await rig.stripe.invoices.pay(first.invoiceId, { paid_out_of_band: true })).status).toBe('paid');
  const second = await subscribe(rig, 'bob@example.com');
  await rig.stripe.invoices.voidInvoice(second.invoiceId);
  await expect(rig.stripe.invoices.pay(second.invoiceId, { paid_out_of_band: true })).rejects.toMatchObject({
    statusCode: 400,
  });
});

it("the sandbox's Stripe records a reported refund once for each reference", async () => {
  const { record, invoiceId } = await paidSignup();
  const refund = {
    outcome: 'refunded',
    processor_details: { type: 'custom', custom: { refund_reference: 're_1' } },
    amount: { value: 990, currency: 'eur' },
    refunded: { refunded_at: 1_793_491_300 },
  } as const;
  expect((await rig.stripe.paymentRecords.reportRefund(record.id, refund)).amount_refunded.value).toBe(990);
  await expect(rig.stripe.paymentRecords.reportRefund(record.id, refund)).rejects.toMatchObject({
    code: 'resource_already_exists',
  });
  const note = {
    invoice: invoiceId,
    amount: 990,
    email_type: 'none',
    refunds: [
      {
        type: 'payment_record_refund',
        amount_refunded: 990,
        payment_record_refund: { payment_record: record.id, refund_group: 're_1' },
      },
    ],
  } as const;
  const made = await rig.stripe.creditNotes.create({ ...note, refunds: [...note.refunds] });
  expect(made).toMatchObject({ type: 'post_payment', post_payment_amount: 990 });
  await expect(rig.stripe.creditNotes.create({ ...note, refunds: [...note.refunds] })).rejects.toMatchObject({
    statusCode: 400,
  });
  expect((await rig.stripe.invoices.retrieve(invoiceId)).post_payment_credit_notes_amount).toBe(990);
  expect((await rig.stripe.creditNotes.list({ invoice: invoiceId })).data).toHaveLength(1);
});

it("the sandbox's Stripe refuses a reported refund above the amount of its payment record", async () => {
  const { record } = await paidSignup();
  await expect(
    rig.stripe.paymentRecords.reportRefund(record.id, {
      outcome: 'refunded',
      processor_details: { type: 'custom', custom: { refund_reference: 're_1' } },
      amount: { value: 2991, currency: 'eur' },
    }),
  ).rejects.toMatchObject({ code: 'amount_too_large' });
});

it("the sandbox's Stripe lowers an open invoice by its credit note, and refuses a paid invoice's credit note without a refund", async () => {
  const { invoiceId } = await subscribe(rig, 'ada@example.com');
  await rig.stripe.creditNotes.create({ invoice: invoiceId, amount: 990 });
  expect(await rig.stripe.invoices.retrieve(invoiceId)).toMatchObject({ amount_remaining: 2000, status: 'open' });
  await rig.stripe.invoices.pay(invoiceId, { paid_out_of_band: true });
  await expect(rig.stripe.creditNotes.create({ invoice: invoiceId, amount: 500 })).rejects.toMatchObject({
    statusCode: 400,
  });
  const note = await rig.stripe.creditNotes.create({ invoice: invoiceId, amount: 500, out_of_band_amount: 500 });
  expect(note.out_of_band_amount).toBe(500);
  await expect(
    rig.stripe.creditNotes.create({ invoice: invoiceId, amount: 1501, out_of_band_amount: 1501 }),
  ).rejects.toMatchObject({ code: 'amount_too_large' });
});

it("the sandbox's Stripe signs its events correctly for the stripe package, and lists them by type and by delivery success", async () => {
  await subscribe(rig, 'ada@example.com');
  await rig.advance(1);
  const [first] = rig.received;
  if (first === undefined) throw new Error('nothing was delivered');
  const header = String(first.headers['stripe-signature']);
  const event = rig.stripe.webhooks.constructEvent(first.body, header, rig.sandbox.secrets.stripeWebhookSecret);
  expect(event.object).toBe('event');
  const created = await rig.stripe.events.list({ types: ['invoice.created', 'invoice.finalized'] });
  expect(created.data.map((e) => e.type)).toEqual(['invoice.finalized', 'invoice.created']);
  expect((await rig.stripe.events.list({ delivery_success: false })).data).toHaveLength(0);
  await rig.advance(31 * DAY);
  await expect(rig.stripe.events.retrieve(event.id)).rejects.toMatchObject({ statusCode: 404 });
});
