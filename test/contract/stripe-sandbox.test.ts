// The adapter against the sandbox's Stripe over real HTTP: effects happen once, and a look finds lost answers again.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type BillingReply, type BillingCall } from '../../src/shared/domain/ports/billing-platform.js';
import { form } from '../../src/frames/stripe/encode.js';
import { Kernel } from '@crossbill/sandbox/kernel/kernel.js';
import { listen, type RunningServer } from '@crossbill/sandbox/kernel/server.js';
import { addStripe } from '@crossbill/sandbox/stripe/stripe.js';
import { adapterFor, calls, stored } from '../support/fakes/stripe-stub.js';

let kernel: Kernel;
let server: RunningServer;
let stripe: ReturnType<typeof adapterFor>;

beforeAll(async () => {
  kernel = new Kernel({ seed: 'stripe-contract' });
  const { state } = addStripe(kernel);
  server = await listen(kernel, 'stripe', 0, '127.0.0.1');
  stripe = adapterFor(server.url, { apiKey: state.apiKey });
});

afterAll(async () => {
  stripe.client.close();
  kernel.clock.close();
  await server.close();
});

let count = 0;
async function create(path: string, params: object): Promise<string> {
  const wire = { method: 'POST', path, body: form(params) } as const;
  const made = await stripe.client.request('setup', wire, `setup-${++count}`);
  if (!made.ok) throw new Error(made.message);
  return String(made.value['id']);
}

/** A draft of 29.90 EUR for a new customer. */
async function aDraft(): Promise<{ invoiceId: string; customerId: string }> {
  const customerId = await create('/v1/customers', { name: 'Ada Example' });
  await create('/v1/invoiceitems', { customer: customerId, amount: 2990, currency: 'eur' });
  const params = { customer: customerId, currency: 'eur', pending_invoice_items_behavior: 'include' };
  return { invoiceId: await create('/v1/invoices', params), customerId };
}

async function done(call: BillingCall, key: string): Promise<BillingReply> {
  const outcome = await stripe.platform.send(stored(stripe.platform, call, key));
  if (!outcome.ok) throw new Error(`${call.kind}: ${outcome.kind} ${outcome.code} ${outcome.message}`);
  return outcome.value;
}

async function paidByRecord() {
  const { invoiceId, customerId } = await aDraft();
  await done({ ...calls.finalize, invoiceId }, `fin-${invoiceId}`);
  const now = new Date();
  const call = { ...calls.report, invoiceId, customerId, paymentId: `pay_${invoiceId}`, reference: `ch_${invoiceId}` };
  const report = { ...call, initiatedAt: now, guaranteedAt: now };
  const made = await done(report, `report-${invoiceId}`);
  if (made.kind !== 'report_payment') throw new Error(made.kind);
  const attach = { ...calls.attach, invoiceId, paymentRecordId: made.paymentRecordId };
  return { invoiceId, report, attach, paymentRecordId: made.paymentRecordId };
}

it('Stripe marks an invoice paid after Crossbill reports and attaches a payment record', async () => {
  const { invoiceId, attach, paymentRecordId } = await paidByRecord();
  expect(await done(attach, `attach-${invoiceId}`)).toMatchObject({
    invoice: { status: 'paid', amountRemaining: 0n },
  });
  const listed = await stripe.platform.listInvoicePayments(invoiceId);
  expect(listed).toMatchObject({ ok: true });
  expect(listed.ok && listed.value).toContainEqual({
    paymentRecordId,
    status: 'paid',
    amountPaid: 2990n,
    byPlatform: false,
  });
});

it('if Crossbill repeats calls under new keys, Stripe keeps one finalization, one payment record, one refund and one credit note', async () => {
  const { invoiceId, attach, paymentRecordId } = await paidByRecord();
  const refund = {
    ...calls.refund,
    invoiceId,
    paymentRecordId,
    refundId: `rf_${invoiceId}`,
    reference: `re_${invoiceId}`,
  };
  const { refundId, reference } = refund;
  const note = { ...calls.note, invoiceId, refundId, refunded: { paymentRecordId, reference } };
  const issued: BillingReply[] = [];
  for (const key of ['first', 'second']) {
    await done({ ...calls.finalize, invoiceId }, `fin-${key}-${invoiceId}`);
    await done(attach, `attach-${key}-${invoiceId}`);
    await done(refund, `refund-${key}-${invoiceId}`);
    if (key === 'first') issued.push(await done(note, `note-${key}-${invoiceId}`));
  }
  expect(await stripe.platform.check(note)).toMatchObject({
    value: { done: true, reply: issued[0] },
  });
  expect(await stripe.reader.readPaymentRecord(paymentRecordId)).toMatchObject({ value: { amountRefunded: 1000n } });
  expect(await stripe.reader.listCreditNotes(invoiceId)).toMatchObject({ value: [{ refundId, amount: 1000n }] });
});

it('Crossbill finds a reported payment on Stripe before and after its attachment to the invoice', async () => {
  const { report, attach, paymentRecordId, invoiceId } = await paidByRecord();
  const found = { ok: true, value: { done: true, reply: { paymentRecordId } } };
  expect(await stripe.platform.check(report)).toMatchObject(found);
  await done(attach, `attach-${invoiceId}`);
  expect(await stripe.platform.check(report)).toMatchObject(found);
  const other = { ...report, paymentId: 'pay_none', reference: 'ch_none' };
  expect(await stripe.platform.check(other)).toMatchObject({ ok: true, value: { done: false } });
});

it('on Stripe an invoice marked paid out of band twice stays paid, and gets a credit note', async () => {
  const { invoiceId } = await aDraft();
  await done({ ...calls.finalize, invoiceId }, `fin-${invoiceId}`);
  await done({ ...calls.reference, invoiceId }, `ref-${invoiceId}`);
  expect(await done({ ...calls.pay, invoiceId }, `pay-${invoiceId}`)).toMatchObject({ invoice: { status: 'paid' } });
  expect(await done({ ...calls.pay, invoiceId }, `pay-again-${invoiceId}`)).toMatchObject({
    invoice: { status: 'paid' },
  });
  await done({ ...calls.note, invoiceId, refunded: null }, `note-${invoiceId}`);
});

it('Stripe refuses other bytes under a used idempotency key, and the Stripe reader returns null for an unknown invoice', async () => {
  const { report, invoiceId } = await paidByRecord();
  const changed = stored(stripe.platform, { ...report, reference: 'ch_other' }, `report-${invoiceId}`);
  expect(await stripe.platform.send(changed)).toMatchObject({ kind: 'refused', code: 'idempotency_error' });
  expect(await stripe.platform.readInvoice('in_nowhere')).toMatchObject({ ok: true, value: null });
});

it('if Crossbill sends a refund or credit note again with another time or amount, Stripe keeps one of each', async () => {
  const { invoiceId, attach, paymentRecordId } = await paidByRecord();
  await done(attach, `attach-${invoiceId}`);
  const [refundId, reference] = [`rf_${invoiceId}`, `re_${invoiceId}`];
  const refund = { ...calls.refund, invoiceId, paymentRecordId, refundId, reference };
  const note = { ...calls.note, invoiceId, refundId, refunded: { paymentRecordId, reference } };
  await done(refund, `refund-${invoiceId}`);
  await done(note, `note-${invoiceId}`);
  const later = { ...refund, refundedAt: new Date(refund.refundedAt.getTime() + 2_000) };
  expect(await done(later, `refund-${invoiceId}`)).toMatchObject({ paymentRecordId });
  const less = { ...note, amount: { ...note.amount, minor: note.amount.minor - 100n } };
  expect(await done(less, `note-${invoiceId}`)).toMatchObject({ kind: 'issue_credit_note' });
  expect(await stripe.reader.readPaymentRecord(paymentRecordId)).toMatchObject({ value: { amountRefunded: 1000n } });
  expect(await stripe.reader.listCreditNotes(invoiceId)).toMatchObject({ value: [{ refundId, amount: 1000n }] });
});

it('Stripe refuses to attach a payment record to a draft', async () => {
  const { paymentRecordId } = await paidByRecord();
  const { invoiceId } = await aDraft();
  const call = stored(stripe.platform, { ...calls.attach, invoiceId, paymentRecordId }, `draft-${invoiceId}`);
  expect(await stripe.platform.send(call)).toMatchObject({ ok: false, kind: 'refused' });
});

it.each(['drop_after', 'garble', 'store_500'])(
  'a Stripe call with a lost answer (%s) takes effect once, and Crossbill finds the effect on Stripe',
  async (kind) => {
    const { invoiceId, customerId } = await aDraft();
    await done({ ...calls.finalize, invoiceId }, `fin-${invoiceId}`);
    const now = new Date();
    const names = { invoiceId, customerId, paymentId: `pay_${invoiceId}`, reference: `ch_${invoiceId}` };
    const call = { ...calls.report, ...names, initiatedAt: now, guaranteedAt: now };
    kernel.faults.add({ side: 'stripe', method: 'POST', path: '/v1/payment_records', action: kind, effect: true });
    const lost = stored(stripe.platform, call, `lost-${invoiceId}`);
    expect(await stripe.platform.send(lost)).toMatchObject({ ok: false, kind: 'unknown' });
    const check = await stripe.platform.check(call);
    expect(check).toMatchObject({ ok: true, value: { done: true } });
    const again = await stripe.platform.send(lost);
    if (kind === 'store_500') expect(again).toMatchObject({ kind: 'unknown', replayed: true });
    else expect(again).toMatchObject({ ok: true, value: check.ok && check.value.done ? check.value.reply : {} });
  },
);

it('the Stripe reader lists invoices, events, the account and webhook endpoints of the sandbox', async () => {
  const createdAfter = new Date(Date.now() - 3_600_000);
  const invoices = await stripe.reader.listInvoices({ createdAfter, limit: 2 });
  expect(invoices).toMatchObject({ ok: true, value: { unreadable: [] } });
  const events = await stripe.reader.listEvents({ types: ['invoice.paid', 'invoice.finalized'], createdAfter });
  expect(events).toMatchObject({ ok: true, value: { unreadable: [] } });
  expect(events.ok && new Set(events.value.items.map(({ type }) => type))).toEqual(
    new Set(['invoice.paid', 'invoice.finalized']),
  );
  expect(await stripe.reader.readAccount()).toMatchObject({ ok: true });
  expect(await stripe.reader.listWebhookEndpoints()).toMatchObject({ ok: true });
});
