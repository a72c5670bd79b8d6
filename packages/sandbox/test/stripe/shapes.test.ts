// The sandbox's Stripe objects against the types of the `stripe` package: the compiler names missing, null or wrong
// fields.
import { resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import ts from 'typescript';
import { type Rig, idOf, report, startRig, subscribe } from '../rig.js';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.close());

/** The answer as it was on the wire, before the package touches it. */
async function raw(path: string): Promise<unknown> {
  const reply = await fetch(`${rig.sandbox.stripeUrl}/v1${path}`, {
    headers: { authorization: `Bearer ${rig.sandbox.secrets.stripeApiKey}` },
  });
  expect([path, reply.status]).toEqual([path, 200]);
  return reply.json();
}

/** A value as source text. The package hands decimals out as objects; on the wire they are strings. */
function literal(value: unknown, name = ''): string {
  if (name.endsWith('_decimal') && typeof value === 'string') return `decimal(${JSON.stringify(value)})`;
  if (Array.isArray(value)) return `[${value.map((one) => literal(one)).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, one]) => `${JSON.stringify(key)}: ${literal(one, key)}`)
    .join(', ')}}`;
}

type Value = { readonly type: string; readonly value: unknown };

const HEAD = ["import Stripe from 'stripe';", 'declare function decimal(text: string): Stripe.Decimal;'];

/** The compiler's complaints about each `value` as a `Stripe.<type>`; none for the right shape. In one run: each takes seconds. */
function complaints(values: readonly Value[]): string[][] {
  const file = resolve('packages/sandbox/test/stripe/shapes.generated.ts'); // never written: it lives in the compiler's host
  const text = [
    ...HEAD,
    ...values.map(
      ({ type, value }, i) =>
        `const held${i} = ${literal(value)} as const satisfies object; export const checked${i}: Shape<Stripe.${type}> = held${i};`,
    ),
    // Lists of the wire are read-only here, like constants.
    `type Shape<T> = T extends string | number | boolean | null | undefined | Stripe.Decimal
       ? T : { readonly [K in keyof T]: Shape<T[K]> };`,
  ].join('\n');
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: ['node'],
  };
  const host = ts.createCompilerHost(options);
  const disk = ts.createCompilerHost(options);
  host.fileExists = (name) => name === file || disk.fileExists(name);
  host.getSourceFile = (name, ...more) =>
    name === file ? ts.createSourceFile(name, text, ts.ScriptTarget.ES2023, true) : disk.getSourceFile(name, ...more);
  const program = ts.createProgram([file], options, host);
  const source = program.getSourceFile(file);
  const found: string[][] = values.map(() => []);
  for (const d of ts.getPreEmitDiagnostics(program, source)) {
    const line = source?.getLineAndCharacterOfPosition(d.start ?? 0).line ?? 0;
    const said = ts.flattenDiagnosticMessageText(d.messageText, '\n').slice(0, 1500);
    const about = found[line - HEAD.length];
    if (about === undefined) throw new Error(said);
    about.push(said);
  }
  return found;
}

async function everything() {
  const { stripe } = rig;
  const { customer, subscription, invoiceId } = await subscribe(rig, 'ada@example.com');
  await stripe.customers.update(customer.id, { address: { line1: '1 Rue', city: 'Paris', country: 'FR' } });
  const record = await report(rig, 2990, 'ch_1');
  await stripe.invoices.attachPayment(invoiceId, { payment_record: record.id });
  await stripe.paymentRecords.reportRefund(record.id, {
    outcome: 'refunded',
    processor_details: { type: 'custom', custom: { refund_reference: 're_1' } },
    amount: { value: 990, currency: 'eur' },
    refunded: { refunded_at: 1_793_491_300 },
  });
  const refund = { type: 'payment_record_refund', amount_refunded: 990 } as const;
  const note = await stripe.creditNotes.create({
    invoice: invoiceId,
    amount: 1000,
    credit_amount: 10,
    refunds: [{ ...refund, payment_record_refund: { payment_record: record.id, refund_group: 're_1' } }],
  });
  const card = await stripe.paymentMethods.attach('pm_card_visa', { customer: customer.id });
  const oneOff = await stripe.invoices.create({ customer: customer.id, collection_method: 'charge_automatically' });
  await stripe.invoiceItems.create({ customer: customer.id, invoice: oneOff.id, amount: 500, currency: 'eur' });
  const ended = await subscribe(rig, 'bob@example.com');
  await stripe.subscriptions.cancel(ended.subscription.id);
  const [event] = (await stripe.events.list({ type: 'invoice.paid' })).data;
  const [entry] = (await stripe.customers.listBalanceTransactions(customer.id)).data;
  const [attached] = (await stripe.invoicePayments.list({ invoice: invoiceId })).data;
  const custom = idOf(subscription.default_payment_method);
  const made: [string, string][] = [
    ['Invoice', `/invoices/${invoiceId}?expand[]=payments&expand[]=amount_paid_off_stripe`],
    ['Invoice', `/invoices/${oneOff.id}`],
    ['Subscription', `/subscriptions/${subscription.id}?expand[]=latest_invoice`],
    ['Subscription', `/subscriptions/${ended.subscription.id}`],
    ['Customer', `/customers/${customer.id}`],
    ['Price', `/prices/${idOf(subscription.items.data[0]?.price ?? null)}`],
    ['Product', `/products/${idOf(subscription.items.data[0]?.price.product ?? null)}`],
    ['PaymentRecord', `/payment_records/${record.id}`],
    ['CreditNote', `/credit_notes/${note.id}`],
    ['InvoicePaidEvent', `/events/${event?.id ?? ''}`],
    ['InvoicePayment', `/invoice_payments/${attached?.id ?? ''}`],
    ['PaymentMethod', `/payment_methods/${custom}`],
    ['PaymentMethod', `/payment_methods/${card.id}`],
    ['CustomerBalanceTransaction', `/customers/${customer.id}/balance_transactions/${entry?.id ?? ''}`],
  ];
  // The package says a refund's id here; a refund of a payment record has none of Stripe's own, so there is nothing to name.
  expect(note.refunds[0]?.refund).toBeNull();
  const values = await Promise.all(made.map(async ([type, path]) => ({ type, value: await raw(path) })));
  for (const { type, value } of values)
    if (type === 'CreditNote') Object.assign((value as { refunds: object[] }).refunds[0] ?? {}, { refund: 're_1' });
  for (const id of [invoiceId, oneOff.id]) {
    const { data } = (await raw(`/invoices/${id}/lines`)) as { data: unknown[] };
    expect(data).toHaveLength(1);
    values.push({ type: 'InvoiceLineItem', value: data[0] });
  }
  return values;
}

it("each object of the sandbox's Stripe has the fields the stripe package declares", async () => {
  const wrong = [
    { type: 'Customer', value: { id: 'cus_1', object: 'customer' } },
    { type: 'InvoicePayment', value: { id: null } },
  ];
  const [customer = [], payment = [], ...ours] = complaints([...wrong, ...(await everything())]);
  expect(ours.flat()).toEqual([]);
  expect(customer.join()).toContain('balance');
  expect(payment).toHaveLength(1);
});

it("a customer of the sandbox's Stripe has the fields Stripe always sends, though the package calls them optional", async () => {
  const { customer } = await subscribe(rig, 'eve@example.com');
  expect(await raw(`/customers/${customer.id}`)).toMatchObject({
    discount: null,
    invoice_prefix: expect.stringMatching(/^[A-Z0-9]+$/),
    next_invoice_sequence: 2, // the first one has a number
    preferred_locales: [],
  });
});
