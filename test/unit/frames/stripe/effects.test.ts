// Which requests each piece of work makes, and when a refused or unanswered call counts as done.
import { expect, it } from '@jest/globals';
import {
  aList,
  aNote,
  anInvoice,
  aRecord,
  calls,
  paidInvoice,
  payments,
  refusal,
  reply,
  stubs,
  stored,
} from '../../../support/fakes/stripe-stub.js';

const stub = stubs();
const route = ({ method, path }: { method: string; path: string }) => `${method} ${path}`;

it('Crossbill marks a renewal paid with three requests to Stripe: read, report and attach', async () => {
  const attached = paidInvoice({ payments: payments({ status: 'canceled' }, { record: 'pr_1' }) });
  const { platform, seen, budget, reports } = await stub(
    reply(200, anInvoice()),
    reply(200, aRecord()),
    reply(200, attached),
  );
  expect(await platform.readInvoice('in_1')).toMatchObject({
    ok: true,
    value: { status: 'open', amountDue: 2990n, subscriptionId: 'sub_1' },
  });
  const report = await platform.send(stored(platform, calls.report));
  expect(report).toMatchObject({ ok: true, status: 200, requestId: 'req_1', value: { paymentRecordId: 'pr_1' } });
  expect(await platform.send(stored(platform, calls.attach))).toMatchObject({
    ok: true,
    value: { invoice: { status: 'paid' } },
  });
  expect(seen.map(route)).toEqual([
    'GET /v1/invoices/in_1',
    'POST /v1/payment_records/report_payment',
    'POST /v1/invoices/in_1/attach_payment',
  ]);
  expect(budget.taken).toEqual(['invoices.retrieve', 'payment_records.report_payment', 'invoices.attach_payment']);
  expect(reports.map(({ name, outcome, requestId }) => [name, outcome, requestId])).toEqual(
    budget.taken.map((name) => [name, 'ok', 'req_1']),
  );
});

it('every try of a report sends Stripe the same bytes under the same idempotency key', async () => {
  const { platform, seen } = await stub(
    refusal(500, { type: 'api_error' }),
    (response) => response.destroy(),
    reply(200, aRecord()),
  );
  const call = stored(platform, calls.report, 'mark:pay_1:1');
  for (const kind of ['unknown', 'unknown', undefined]) {
    const outcome = await platform.send(call);
    expect(outcome.ok ? undefined : outcome.kind).toBe(kind);
  }
  expect(new Set(seen.map(({ body }) => body)).size).toBe(1);
  expect(seen.map(({ headers }) => headers['idempotency-key'])).toEqual(Array(3).fill('mark:pay_1:1'));
  expect(seen[0]?.body).toBe(
    'amount_requested[value]=2990&amount_requested[currency]=eur&initiated_at=1793491205&payment_method_details[type]=custom' +
      '&payment_method_details[custom][display_name]=Merchant%20of%20Record&outcome=guaranteed&guaranteed[guaranteed_at]=1793491209' +
      '&processor_details[type]=custom&processor_details[custom][payment_reference]=ch_psp_1&customer_details[customer]=cus_1' +
      '&customer_presence=off_session&metadata[crossbill]=1&metadata[payment_id]=pay_1&metadata[invoice_id]=in_1',
  );
});

it('a refused attach call counts as done if the invoice shows the record; without the record the call counts as refused', async () => {
  const no = refusal(400, { code: 'resource_already_exists' });
  const { platform, seen, more } = await stub(no, reply(200, paidInvoice({ payments: payments({ record: 'pr_1' }) })));
  const call = stored(platform, calls.attach);
  expect(await platform.send(call)).toMatchObject({
    ok: true,
    value: { kind: 'attach_payment', invoice: { status: 'paid' } },
  });
  expect(seen.map(route)[1]).toBe('GET /v1/invoices/in_1?expand[0]=payments');
  more(no, reply(200, paidInvoice({ payments: payments({ record: 'pr_other' }) })));
  expect(await platform.send(call)).toMatchObject({ kind: 'refused', code: 'resource_already_exists' });
  more(no, reply(200, anInvoice({ payments: payments({ record: 'pr_1', status: 'canceled' }) })));
  expect(await platform.send(call)).toMatchObject({ kind: 'refused' });
  more(no, refusal(500, { type: 'api_error' }));
  expect(await platform.send(call)).toMatchObject({ kind: 'unknown', code: 'resource_already_exists' });
  expect(seen).toHaveLength(8);
});

it('Crossbill reads the invoice again if Stripe’s reply to an attach call lacks the record', async () => {
  const { platform, more } = await stub(
    reply(200, anInvoice()),
    reply(200, anInvoice()),
    reply(200, payments({ record: 'pr_1' })),
  );
  expect(await platform.send(stored(platform, calls.attach))).toMatchObject({ ok: true });
  more(reply(200, anInvoice({ id: 'in_2' })), reply(200, anInvoice({ payments: payments() })));
  expect(await platform.send(stored(platform, calls.attach))).toMatchObject({ kind: 'unknown' });
});

it('Crossbill accepts a short reply of Stripe unless the reply contradicts the call', async () => {
  const { platform, seen, more } = await stub(
    reply(200, { id: 'pr_1' }),
    reply(200, { id: 'in_1', customer: 'cus_1', status: 'paid', amount_due: 2990, currency: 'eur' }),
    reply(200, { id: 'pr_1', object: 'payment_record' }),
    reply(200, { id: 'cn_1' }),
  );
  expect(await platform.send(stored(platform, calls.report))).toMatchObject({ value: { paymentRecordId: 'pr_1' } });
  expect(await platform.send(stored(platform, calls.attach))).toMatchObject({ value: { invoice: { status: 'paid' } } });
  expect(await platform.send(stored(platform, calls.refund))).toMatchObject({ ok: true });
  expect(await platform.send(stored(platform, calls.note))).toMatchObject({ value: { creditNoteId: 'cn_1' } });
  expect(seen).toHaveLength(4);
  more(reply(200, { id: 'pr_1', amount_requested: { value: 1, currency: 'eur' } }), reply(200, { object: 'refund' }));
  expect(await platform.send(stored(platform, calls.report))).toMatchObject({ kind: 'unknown' });
  expect(await platform.send(stored(platform, calls.report))).toMatchObject({ kind: 'unknown' });
});

it('if Stripe lists no payments, an accepted attach call counts as done, and a refused attach call as unknown', async () => {
  const gone = refusal(404, { message: 'Unrecognized request URL' });
  const { platform, more } = await stub(reply(200, {}), reply(200, paidInvoice()), gone);
  expect(await platform.send(stored(platform, calls.attach))).toMatchObject({ value: { invoice: { status: 'paid' } } });
  more(refusal(400, { message: 'Already paid' }), reply(200, paidInvoice()), gone);
  expect(await platform.send(stored(platform, calls.attach))).toMatchObject({ ok: false, kind: 'unknown' });
});

it('an idempotency key reused with other parameters counts as refused, without a search', async () => {
  const { platform, seen } = await stub(refusal(400, { type: 'idempotency_error' }));
  expect(await platform.send(stored(platform, calls.attach))).toMatchObject({
    kind: 'refused',
    code: 'idempotency_error',
  });
  expect(seen).toHaveLength(1);
});

it('Crossbill treats an unknown or deleted invoice as missing, but a 404 for a wrong route as an error', async () => {
  const { platform } = await stub(
    refusal(404, { code: 'resource_missing' }),
    reply(200, { id: 'in_1', object: 'invoice', deleted: true }),
    refusal(404, { message: 'Unrecognized request URL' }),
    reply(200, anInvoice({ id: 'in_2' })),
  );
  expect(await platform.readInvoice('in_1')).toMatchObject({ ok: true, value: null });
  expect(await platform.readInvoice('in_1')).toMatchObject({ ok: true, value: null });
  expect(await platform.readInvoice('in_1')).toMatchObject({ ok: false, kind: 'refused' });
  expect(await platform.readInvoice('in_1')).toMatchObject({ ok: false, kind: 'unknown' });
});

it('Crossbill finds a reported payment on the invoice, or else among newer payment records by its id or charge', async () => {
  const { platform, seen, more } = await stub(reply(200, payments({}, { record: 'pr_1' })), reply(200, aRecord()));
  const call = stored(platform, calls.report);
  const found = { ok: true, value: { done: true, reply: { kind: 'report_payment', paymentRecordId: 'pr_1' } } };
  expect(await platform.check(call.asked)).toMatchObject(found);
  const firstPage = { ...aList(aRecord({ id: 'pr_9', metadata: {}, processor_details: {} })), has_more: true };
  more(reply(200, payments()), reply(200, firstPage), reply(200, aList(aRecord({ metadata: {} }))));
  expect(await platform.check(call.asked)).toMatchObject(found);
  expect(seen.map(route).slice(2)).toEqual([
    'GET /v1/invoice_payments?invoice=in_1&limit=100',
    `GET /v1/payment_records?created_after=${1793491205 - 3600}&limit=100`,
    `GET /v1/payment_records?created_after=${1793491205 - 3600}&limit=100&starting_after=pr_9`,
  ]);
});

it('Crossbill never accepts a payment record of another invoice or amount as its own', async () => {
  const others = aList(
    aRecord({ metadata: { payment_id: 'pay_1', invoice_id: 'in_2' } }),
    aRecord({ amount_requested: { value: 1, currency: 'eur' } }),
  );
  const { platform } = await stub(reply(200, payments()), reply(200, others));
  expect(await platform.check(calls.report)).toMatchObject({ ok: true, value: { done: false } });
});

it('if a payment record is unreadable, the search for a reported payment counts as failed, and not as empty', async () => {
  const odd = { ...aRecord({ metadata: {} }), amount_requested: undefined };
  const { platform, more } = await stub(
    reply(200, payments()),
    reply(200, aList(aRecord({ metadata: {}, processor_details: {} }), odd)),
  );
  expect(await platform.check(calls.report)).toMatchObject({ ok: false, kind: 'unknown' });
  more(reply(200, payments({ record: 'pr_1' })), reply(200, odd));
  expect(await platform.check(calls.report)).toMatchObject({ ok: false, kind: 'unknown' });
  more(reply(200, payments()), reply(200, aList({ ...odd, processor_details: {} })));
  expect(await platform.check(calls.report)).toMatchObject({ ok: true, value: { done: false } });
  more(reply(200, payments()), reply(200, aList(odd, aRecord())));
  expect(await platform.check(calls.report)).toMatchObject({ ok: true, value: { done: true } });
});

it('if Stripe does not list the payment records, the search for a reported payment counts as failed', async () => {
  const { platform } = await stub(reply(200, payments()), refusal(500, { type: 'api_error' }));
  expect(await platform.check(calls.report)).toMatchObject({ ok: false, kind: 'unknown' });
});

const refunded = (value: number, change = {}) => aRecord({ amount_refunded: { value, currency: 'eur' }, ...change });

it('Crossbill accepts a reported refund only if the payment record shows at least its amount', async () => {
  const { platform } = await stub(reply(200, refunded(1000)), reply(200, refunded(0)), reply(200, refunded(0)));
  const call = stored(platform, calls.refund);
  expect(await platform.send(call)).toMatchObject({ ok: true, value: { paymentRecordId: 'pr_1' } });
  expect(await platform.send(call)).toMatchObject({ kind: 'unknown' });
});

it('a refund reference already used on Stripe counts as done if the record shows the refund; any other refusal counts as refused', async () => {
  const taken = refusal(400, { param: 'processor_details[custom][refund_reference]', message: 'Must be unique' });
  const { platform, more } = await stub(taken, reply(200, refunded(1000)));
  const call = stored(platform, calls.refund);
  expect(await platform.send(call)).toMatchObject({ ok: true });
  more(refusal(400, { message: 'Amount exceeds what is left' }), reply(200, refunded(2500)));
  expect(await platform.send(call)).toMatchObject({ kind: 'refused' });
  more(taken, reply(200, refunded(0)));
  expect(await platform.send(call)).toMatchObject({ kind: 'refused' });
});

it('a refund with a used idempotency key counts as done only if the payment record shows the amount', async () => {
  const used = refusal(400, { type: 'idempotency_error', message: 'Keys for idempotent requests' });
  const { platform, seen, more } = await stub(used, reply(200, refunded(1000)));
  const call = stored(platform, calls.refund);
  expect(await platform.send(call)).toMatchObject({ ok: true, value: { paymentRecordId: 'pr_1' } });
  expect(seen.map(route)).toEqual(['POST /v1/payment_records/pr_1/report_refund', 'GET /v1/payment_records/pr_1']);
  more(used, reply(200, refunded(999)));
  expect(await platform.send(call)).toMatchObject({ kind: 'refused', code: 'idempotency_error' });
  more(used, refusal(500, { type: 'api_error' }));
  expect(await platform.send(call)).toMatchObject({ kind: 'unknown', code: 'idempotency_error' });
});

it('a credit note with a used idempotency key counts as done only if the invoice has the note', async () => {
  const used = refusal(400, { type: 'idempotency_error' });
  const { platform, more } = await stub(used, reply(200, aList(aNote({ amount: 700 }))));
  const call = stored(platform, calls.note);
  expect(await platform.send(call)).toMatchObject({ ok: true, value: { creditNoteId: 'cn_1' } });
  more(used, reply(200, aList()));
  expect(await platform.send(call)).toMatchObject({ kind: 'refused', code: 'idempotency_error' });
});

it('a payment record’s refunded total proves a refund only if the refund is full or the record carries the refund’s id', async () => {
  const { platform } = await stub(
    reply(200, refunded(1000)),
    reply(200, refunded(1000, { metadata: { refund_id: 'rf_1' } })),
    reply(200, refunded(2990)),
  );
  const call = stored(platform, calls.refund);
  expect(await platform.check(call.asked)).toMatchObject({ ok: true, value: { done: false } });
  expect(await platform.check(call.asked)).toMatchObject({ ok: true, value: { done: true } });
  const whole = { ...calls.refund, amount: { minor: 2990n, currency: 'EUR' } };
  expect(await platform.check(whole)).toMatchObject({ ok: true, value: { done: true } });
});

it('Crossbill finds a credit note by its refund id or by the linked refund reference', async () => {
  const linked = aNote({ metadata: {}, refunds: [{ payment_record_refund: { refund_group: 're_psp_1' } }] });
  const { platform, more } = await stub(
    reply(200, aNote()),
    refusal(400, {}),
    reply(200, aList(aNote({ id: 'cn_2' }))),
  );
  const call = stored(platform, calls.note);
  expect(await platform.send(call)).toMatchObject({ ok: true, value: { creditNoteId: 'cn_1' } });
  expect(await platform.send(call)).toMatchObject({ ok: true, value: { creditNoteId: 'cn_2' } });
  more(reply(200, aList(aNote({ metadata: { refund_id: 'rf_2' } }), linked)));
  expect(await platform.check(call.asked)).toMatchObject({ ok: true, value: { done: true } });
  more(reply(200, aList(aNote({ metadata: {} }))));
  expect(await platform.check(call.asked)).toMatchObject({ ok: true, value: { done: false } });
});

it('a page of Stripe invoices names the unreadable invoices and the start of the next page', async () => {
  const page = { ...aList(anInvoice(), anInvoice({ id: 'in_odd', currency: 7 })), has_more: true };
  const { reader, seen } = await stub(reply(200, page));
  const createdAfter = new Date(1793491200_000);
  expect(await reader.listInvoices({ createdAfter, limit: 2 })).toMatchObject({
    ok: true,
    value: { items: [{ invoiceId: 'in_1' }], unreadable: ['in_odd'], next: 'in_odd' },
  });
  expect(decodeURIComponent(seen[0]?.path ?? '')).toBe(
    '/v1/invoices?created[gte]=1793491200&limit=2&expand[0]=data.payments',
  );
});

it('Crossbill stops reading a Stripe list that makes no progress', async () => {
  const page = reply(200, { ...aList({ object: 'invoice', id: 'in_x' }), has_more: true });
  const { reader, seen } = await stub(page, page, page, page);
  const createdAfter = new Date('2026-11-01T00:00:00Z');
  expect(await reader.listInvoices({ createdAfter })).toMatchObject({ ok: true, value: { next: 'in_x' } });
  const again = await reader.listInvoices({ createdAfter, startingAfter: 'in_x' });
  expect(again).toMatchObject({ ok: false, kind: 'unknown', code: 'unreadable_answer' });
  expect(await reader.listCreditNotes('in_1')).toMatchObject({ ok: false, kind: 'unknown' });
  expect(seen).toHaveLength(4);
});

it('if Stripe lists no invoice lines, Crossbill still reads the amount due for a proforma invoice', async () => {
  const { reader } = await stub(reply(200, anInvoice()), refusal(404, { message: 'Unrecognized request URL' }));
  expect(await reader.readInvoiceForProforma('in_1')).toMatchObject({
    ok: true,
    value: { lines: [], invoice: { amountDue: 2990n } },
  });
});

it('Crossbill reads events, customers, webhook endpoints, credit notes, payment records and the account from Stripe', async () => {
  const event = {
    id: 'evt_1',
    object: 'event',
    type: 'invoice.paid',
    created: 1793491200,
    data: { object: anInvoice() },
  };
  const endpoint = {
    id: 'we_1',
    object: 'webhook_endpoint',
    url: 'https://a.example/',
    status: 'enabled',
    api_version: null,
    enabled_events: ['*'],
  };
  const customer = {
    id: 'cus_1',
    object: 'customer',
    email: 'a@example.com',
    invoice_settings: { default_payment_method: 'pm_1' },
  };
  const { reader, seen } = await stub(
    reply(200, aList(event)),
    reply(200, customer),
    reply(200, aList(endpoint)),
    reply(200, aList(aNote())),
    reply(200, aRecord()),
    reply(200, { id: 'acct_1', object: 'account', country: 'DE', default_currency: 'eur' }),
  );
  const events = await reader.listEvents({
    types: ['invoice.paid', 'invoice.voided'],
    createdAfter: new Date(1793491200_000),
  });
  if (!events.ok) throw new Error(events.message);
  expect(JSON.parse(events.value.items[0]?.body.toString() ?? '')).toEqual(event);
  expect(decodeURIComponent(seen[0]?.path ?? '')).toContain('types[0]=invoice.paid&types[1]=invoice.voided');
  expect(await reader.readCustomer('cus_1')).toMatchObject({ value: { defaultPaymentMethodId: 'pm_1' } });
  expect(await reader.listWebhookEndpoints()).toMatchObject({
    value: [{ enabled: true, apiVersion: null, events: ['*'] }],
  });
  expect(await reader.listCreditNotes('in_1')).toMatchObject({ value: [{ refundId: 'rf_1', amount: 1000n }] });
  expect(await reader.readPaymentRecord('pr_1')).toMatchObject({
    value: { amountGuaranteed: 2990n, reference: 'ch_psp_1' },
  });
  expect(await reader.readAccount()).toMatchObject({ value: { accountId: 'acct_1', country: 'DE' } });
});
