// The acts on an invoice's page: by the API's own services, once per form, on record, and closed to a viewer.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { deliver } from '../e2e/support/endpoint.js';
import { deafMor, draftRenewal, newPaid, paymentObject } from '../e2e/support/story.js';
import { cli, cliJson } from '../cli/rig.js';
import { freshDatabase } from '../support/rigs/database.js';
import { type Json, OPS_KEY, READ_KEY, startWorld, type World } from '../support/rigs/world.js';
import { conflictingEvents, parkedEvent } from './standing.js';
import { fieldsOf, type Seen, Visitor } from './visitor.js';

let world: World;
let url: string;
let refusedId: string;
let paidId: string;
let paymentId: string;
let ops: Visitor;
let viewer: Visitor;

beforeAll(async () => {
  world = await startWorld({ BILLING_DRAFT_POLICY: 'finalize' });
  const relay = {
    MOR_RELAY_URL: `${world.sandbox.morUrl}/relay/stripe`,
    MOR_RELAY_SECRET: world.sandbox.secrets.relaySecret,
  };
  url = (await world.startDaemon(relay)).url;
  await deafMor(world);
  const s = await world.subscriber();
  await world.invoice(s.firstInvoiceId, 'paid');
  paidId = await draftRenewal(world, s);
  await world.morActs();
  const paid = await world.invoice(paidId, 'paid');
  paymentId = String((paid['payments'] as Json[])[0]?.['id']);
  await world.control('POST', '/cards', { customer_id: s.customerId, outcome: 'decline' });
  refusedId = await draftRenewal(world, s);
  await world.morActs();
  await world.invoice(refusedId, 'open');
  await world.stripe.invoices.finalizeInvoice(refusedId, { auto_advance: false });
  await world.until(
    'Crossbill has heard that it is finalized',
    () => invoice(refusedId),
    (i) => i['stripe_status'] === 'open',
  );
  ops = await new Visitor(url).login(OPS_KEY);
  viewer = await new Visitor(url).login(READ_KEY);
});
afterAll(() => world.close());

const invoice = async (id: string): Promise<Json> => (await world.api('GET', `/v1/invoices/${id}`)).body;
const audit = async (action: string): Promise<Json[]> =>
  (await world.api<{ data: Json[] }>('GET', `/v1/audit?action=${action}`)).body.data;
const page = (id: string): string => `/console/invoices/${id}`;
const open = (kind: string): Promise<Json[]> =>
  world.api<{ data: Json[] }>('GET', `/v1/reviews?status=open&kind=${kind}&limit=100`).then((r) => r.body.data);

it("the console's page of an unpaid invoice gives the reason, links to Stripe, and offers a retry, a link and a proforma invoice", async () => {
  const { text } = await ops.get(page(refusedId));
  expect(text).toContain('Not paid: ');
  for (const act of ['Retry the charge now', 'Create a payment link…', 'Issue a proforma invoice…'])
    expect(text).toContain(act);
  expect(text).not.toContain('Refund…');
  expect(text).toContain(`https://dashboard.stripe.com/test/invoices/${refusedId}`);
  const paid = (await ops.get(page(paidId))).text;
  for (const act of ['Refund…', 'Record a returned debit…']) expect(paid).toContain(act);
  for (const act of ['Retry', 'Create a payment link']) expect(paid).not.toContain(act);
});

it('a viewer reads the reason for an unpaid invoice in the console, and may change nothing', async () => {
  const { text } = await viewer.get(page(refusedId));
  expect(text).toContain('Not paid: ');
  expect(text).not.toMatch(/Retry the charge|Create a payment link…|Issue a proforma/);
  const token = fieldsOf(text, '/console/logout');
  const paths = [`${page(refusedId)}/retry`, `${page(refusedId)}/payment-link`, `${page(refusedId)}/proforma`];
  paths.push(`/console/payments/${paymentId}/returned`, '/console/reviews/bulk', '/console/events/bulk');
  for (const path of paths) expect([path, (await viewer.post(path, token)).status]).toEqual([path, 403]);
  for (const path of paths.slice(0, 4)) expect((await viewer.get(path)).status).toBe(403);
  const seen = await invoice(refusedId);
  expect([seen['payment_links'], seen['proformas']]).toEqual([[], []]);
  expect((await audit('invoice.retry')).filter((a) => a['outcome'] !== 'denied')).toEqual([]);
});

it("if the console's retry form arrives twice, the MoR charges the refused renewal one more time", async () => {
  const action = `${page(refusedId)}/retry`;
  const { text } = await ops.get(page(refusedId));
  expect([text.includes(`href="${action}"`), text.includes(`action="${action}"`)]).toEqual([true, false]);
  expect((await ops.get(action)).text).toContain('29.90 EUR'); // the page with the question charges nothing
  expect((await invoice(refusedId))['retries']).toMatchObject({ made: [] });
  const fields = await ops.form(action, action);
  const [first, second] = [await ops.post(action, fields), await ops.post(action, fields)];
  expect([first.status, second.status, first.headers.get('location')]).toEqual([303, 303, page(refusedId)]);
  const made = ((await invoice(refusedId))['retries'] as Json)['made'];
  expect(made).toMatchObject([{ number: 1, by: 'ops', means: 'charge' }]);
  expect((await audit('invoice.retry'))[0]).toMatchObject({
    actor: 'ops',
    target: refusedId,
    outcome: 'done',
    detail: { via: 'console' },
  });
});

it('the console refuses to retry a paid invoice and gives the reason', async () => {
  const fields = { ...(await ops.form('/console', '/console/logout')), key: 'con-retry-1' };
  const seen = await ops.post(`${page(paidId)}/retry`, fields);
  const why = 'You cannot retry this invoice: the invoice is paid.';
  expect([seen.status, seen.text.includes(why)]).toEqual([409, true]);
  expect((await ops.get(`${page(paidId)}/retry`)).text).toContain(why);
});

it('the console refuses a retry and a payment link in shadow mode', async () => {
  const database = await freshDatabase();
  const relay = {
    MOR_RELAY_URL: `${world.sandbox.morUrl}/relay/stripe`,
    MOR_RELAY_SECRET: world.sandbox.secrets.relaySecret,
  };
  const daemon = await world.startDaemon({ ...relay, CROSSBILL_SHADOW: 'true', DATABASE_URL: database.url });
  const shadow = await new Visitor(daemon.url).login(OPS_KEY);
  const { customer_id: customerId } = await invoice(refusedId);
  const failed = paymentObject(newPaid(), 'failed', {
    customerId: String(customerId),
    invoiceId: refusedId,
    amount: 2990,
  });
  const event = { id: 'evt_shadow_failed', type: 'payment.failed', created: Math.floor(Date.now() / 1000) };
  await deliver(world, 'mor_payments', JSON.stringify({ ...event, data: { object: failed } }), { base: daemon.url });
  await world.until(
    'the daemon in shadow mode knows the refusal',
    () => shadow.get(page(refusedId)),
    (seen) => seen.text.includes('Not paid: '),
  );
  const fields = { ...(await shadow.form('/console', '/console/logout')), key: 'con-shadow-1' };
  const link = { jurisdiction: 'GB', return_url: 'https://shop.example/thanks', days: '7' };
  const asked = [
    await shadow.post(`${page(refusedId)}/retry`, fields),
    await shadow.post(`${page(refusedId)}/payment-link`, { ...fields, ...link }),
  ];
  expect(asked.map((a) => [a.status, a.text.includes('shadow_mode')])).toEqual(asked.map(() => [409, true]));
  await world.daemons.pop()?.stop();
  await database.drop();
  expect((await invoice(refusedId))['payment_links']).toEqual([]);
});

it("the console creates one payment link for the amount due and shows the link on the invoice's page", async () => {
  await world.morActs();
  await world.until(
    'the retry was refused',
    () => invoice(refusedId),
    (i) => (i['retries'] as Json)['waiting_since'] === null,
  );
  const action = `${page(refusedId)}/payment-link`;
  const fields = { ...(await ops.form(action, action)), return_url: 'https://shop.example/thanks', days: '3' };
  const wrong = await ops.post(action, { ...fields, jurisdiction: 'Britain' });
  expect([wrong.status, wrong.text.includes('jurisdiction')]).toEqual([400, true]);
  const right = { ...fields, jurisdiction: 'gb' };
  expect((await ops.post(action, right)).status).toBe(303);
  expect((await ops.post(action, right)).status).toBe(303);
  const links = (await invoice(refusedId))['payment_links'] as Json[];
  expect(links).toMatchObject([{ status: 'PAYABLE', pricedAmount: { amount: '29.90', currency: 'EUR' } }]);
  const { text } = await ops.get(page(refusedId));
  expect(text).toContain('Payment link for the customer');
  expect(text).toContain('the customer can pay by link until');
  expect(text).not.toContain('Create a payment link…');
  expect(text).toContain('You cannot retry this invoice now: a payment link can be paid');
});

it('when the console refuses an action, the error page links back only to a page of the console', async () => {
  const fields = { ...(await ops.form('/console', '/console/logout')), key: 'con-retry-1' };
  const from = (referer: string): Promise<Seen> => ops.post(`${page(paidId)}/retry`, fields, { referer });
  expect((await from(`${url}${page(paidId)}`)).text).toContain(`<a href="${page(paidId)}">Back to where you were</a>`);
  for (const other of ['https://evil.example/console', `${url}/v1/invoices`, 'nonsense'])
    expect((await from(other)).text).not.toContain('Back to where you were');
});

it('the console refuses a proforma invoice without a recipient or with a wrong due date', async () => {
  const action = `${page(refusedId)}/proforma`;
  const fields = { ...(await ops.form(action, action)), jurisdiction: 'GB', due_date: '2099-12-31' };
  const bare = await ops.post(action, fields);
  expect([bare.status, /recipient/i.test(bare.text)]).toEqual([400, true]);
  expect((await invoice(refusedId))['proformas']).toEqual([]);
  expect((await ops.post(action, { ...fields, due_date: 'soon' })).status).toBe(400);
});

const action = (): string => `/console/payments/${paymentId}/returned`;

it("an operator records a returned debit in the console once, sees it on the invoice's page, and undoes it", async () => {
  const fields = { ...(await ops.form(action(), action())), reference: 'bank letter 7' };
  const replies = [await ops.post(action(), fields), await ops.post(action(), fields)];
  expect(replies.map((a) => a.headers.get('location'))).toEqual([page(paidId), page(paidId)]);
  const recorded = await world.api('GET', `/v1/payments/${paymentId}/returned`);
  expect(recorded.body).toMatchObject({ amount: 2990, status: 'returned', reference: 'bank letter 7' });
  const { text } = await ops.get(page(paidId));
  expect(text).toContain('the bank took the debit back');
  expect(text).not.toContain('Refund…');
  const undo = await ops.post(`${action()}/undo`, fieldsOf(text, `${action()}/undo`));
  expect(undo.status).toBe(303);
  expect((await world.api('GET', `/v1/payments/${paymentId}/returned`)).body).toMatchObject({ status: 'undone' });
  expect((await audit('payment.returned.undo'))[0]).toMatchObject({ actor: 'ops', outcome: 'done' });
});

const made = async (amount: string): Promise<Seen> => {
  const action = `/console/payments/${paymentId}/refund`;
  const step = await ops.post(action, { ...(await ops.form(action, action)), amount, reason: '' });
  const sent = await ops.post(`${action}s`, fieldsOf(step.text, `${action}s`));
  return ops.get(sent.headers.get('location') ?? '');
};

it('after a refund in the console, the next page already shows the refund as finished', async () => {
  const { text } = await made('2,50');
  expect(text).toContain('Refunded 2.50 EUR');
  expect(text).toContain(`https://dashboard.stripe.com/test/invoices/${paidId}`);
  expect(text).not.toContain('role="alert"');
});

it('the console reports a refund as requested, without an alarm, while the MoR does not answer', async () => {
  const fault = {
    side: 'mor',
    method: 'POST',
    path: '/api/payments/*/refund',
    times: 1,
    action: { delay_ms: 8_000 },
  };
  const set = await world.control('POST', '/faults', fault);
  expect(set.status).toBeLessThan(300);
  const { text } = await made('3.00');
  expect(text).toContain('Requested: the MoR has not confirmed the refund of 3.00 EUR yet.');
  expect(text).not.toMatch(/role="alert"|answer bad/);
});

it('an operator settles several review items with one console form, and sees the reason for each refusal', async () => {
  for (const n of [1, 2]) await conflictingEvents(world, `evt_twice${n}`);
  const [first, second] = await world.until(
    'both are there',
    () => open('conflicting_event'),
    (r) => r.length === 2,
  );
  const fields = await ops.form('/console/reviews', '/console/reviews/bulk');
  const ids = { [`pick-${String(first?.['id'])}`]: 'on', [`pick-${String(second?.['id'])}`]: 'on' };
  const wrong = await ops.post('/console/reviews/bulk', { ...fields, ...ids, act: 'retry' });
  expect(wrong.text).toContain('0 of 2 done; 2 could not be done');
  expect(wrong.text).toContain('can be resolved by: dismiss');
  const done = await ops.post('/console/reviews/bulk', {
    ...fields,
    kind: 'conflicting_event',
    all: 'yes',
    act: 'dismiss',
    note: 'asked',
  });
  expect(done.text).toContain('2 of 2 done.');
  expect(await open('conflicting_event')).toEqual([]);
  const rows = (await audit('review.resolve')).filter((a) => a['target'] === first?.['id']);
  expect(rows.map((a) => a['outcome'])).toEqual(['done', 'begun', 'refused', 'begun']);
});

it('the console settles 53 review items of one kind, 50 in the first step and 3 in the second, and shows the total', async () => {
  await Promise.all(Array.from({ length: 53 }, (_, n) => conflictingEvents(world, `evt_many${n}`)));
  const fields = await ops.form('/console/reviews', '/console/reviews/bulk');
  const asked = { ...fields, kind: 'conflicting_event', all: 'yes', act: 'dismiss', note: 'one cause' };
  const first = await ops.post('/console/reviews/bulk', asked);
  expect(first.text).toContain('50 of 50 done.');
  const second = await ops.post('/console/reviews/bulk', fieldsOf(first.text, '/console/reviews/bulk'));
  expect(second.text).toContain('3 of 3 done. 53 so far, with the earlier steps.');
  expect(second.text).not.toContain('Go on with the rest');
  expect(await open('conflicting_event')).toEqual([]);
});

it("a review item's refund button in the console refunds the amount shown, or nothing if the amount changed meanwhile", async () => {
  const s = await world.subscriber({ email: 'edsger@example.com' });
  await world.invoice(s.firstInvoiceId, 'paid');
  await world.control('POST', '/cards', { customer_id: s.customerId, outcome: 'bank_debit' });
  const renewal = await draftRenewal(world, s);
  await world.morActs();
  // If the operator marked the invoice paid now, Crossbill would not relay it, and only one payment would exist.
  await world.until(
    'the MoR debits the bank account',
    () => world.control('GET', `/mor/payments?invoice=${renewal}`),
    (r) => (r.body['data'] as Json[]).length === 1,
  );
  await world.advance(3_700);
  await world.stripe.invoices.pay(renewal, { paid_out_of_band: true });
  await world.advance(5 * 86_400);
  const [item] = await world.until(
    'it is there',
    () => open('double_payment'),
    (r) => r.length === 1,
  );
  const action = `/console/reviews/${String(item?.['id'])}/resolve`;
  const seen = await ops.get(`/console/reviews/${String(item?.['id'])}`);
  for (const said of ['What happened', 'What is at stake', 'What is proposed', 'Refund 29.90 EUR'])
    expect(seen.text).toContain(said);
  const fields = { ...fieldsOf(seen.text, action), resolution: 'refund' };
  const other = await ops.post(action, { ...fields, seen: '100' });
  expect([other.status, other.text.includes('amount_changed')]).toEqual([409, true]);
  expect(await open('double_payment')).toHaveLength(1);
  expect((await viewer.get(`/console/reviews/${String(item?.['id'])}`)).text).not.toContain('<textarea');
  expect((await ops.post(action, fields)).status).toBe(303);
  expect((await invoice(renewal))['refunds']).toMatchObject([{ amount: 2990 }]);
});

it("two clicks on the console's button for a lost dispute write one credit note on Stripe, and a viewer has no such button", async () => {
  const s = await world.subscriber({ email: 'barbara@example.com' });
  await world.invoice(s.firstInvoiceId, 'paid');
  const renewal = await draftRenewal(world, s);
  await world.morActs();
  const [payment] = (await world.invoice(renewal, 'paid'))['payments'] as Json[];
  const data = { disputeId: `dp_${renewal}`, paymentId: payment?.['id'], outcome: 'lost' };
  await world.control('POST', '/events', { type: 'dispute.outcome', data });
  const [item] = await world.until(
    'the loss is an item',
    () => open('dispute'),
    (r) => r.length === 1,
  );
  const path = `/console/reviews/${String(item?.['id'])}`;
  expect((await viewer.get(path)).text).not.toContain(`action="${path}/resolve"`);
  const fields = { ...(await ops.form(path, `${path}/resolve`)), resolution: 'credit' };
  expect((await viewer.post(`${path}/resolve`, fields)).status).toBe(403);
  expect((await ops.post(`${path}/resolve`, fields)).status).toBe(303);
  expect((await ops.post(`${path}/resolve`, fields)).status).toBe(303);
  const booked = await world.until(
    'the credit is booked',
    () => world.api<{ data: Json[] }>('GET', `/v1/ledger?invoice_id=${renewal}&reason=loss_credited`),
    (r) => r.body.data.length > 0,
  );
  const { data: notes } = await world.stripe.creditNotes.list({ invoice: renewal });
  expect(notes).toMatchObject([{ amount: 2990 }]);
  expect(booked.body.data).toMatchObject([{ amount: 2990, credit_note_id: notes[0]?.id }]);
  expect((await audit('review.resolve'))[0]).toMatchObject({ actor: 'ops', target: item?.['id'], outcome: 'done' });
});

describe('a parked event', () => {
  beforeAll(async () => {
    await parkedEvent(world, 'invoice.created', 'evt_cut1');
    await parkedEvent(world, 'invoice.created', 'evt_cut2');
  });

  const parked = async (): Promise<Json[]> =>
    (await world.api<{ data: Json[] }>('GET', '/v1/events?status=parked')).body.data;

  it('a parked event stays parked after another failed decision, and the console gives the reason', async () => {
    const [event] = await parked();
    const path = `/console/events/${String(event?.['id'])}`;
    const sent = await ops.post(`${path}/retry`, await ops.form(path, `${path}/retry`));
    const { text } = await ops.get(sent.headers.get('location') ?? '');
    expect(text).toMatch(/Reprocessed \d\d:\d\d UTC: still parked because \S/);
  });

  it('the console dismisses a parked event only with a note, and records the person; Crossbill may still decide the event', async () => {
    const [event] = await parked();
    const id = String(event?.['id']);
    const path = `/console/events/${id}`;
    const fields = await ops.form(path, `${path}/dismiss`);
    expect((await ops.post(`${path}/dismiss`, fields)).status).toBe(400);
    expect((await ops.post(`${path}/dismiss`, { ...fields, note: 'a test of ours' })).status).toBe(303);
    const after = (await world.api('GET', `/v1/events/${id}`)).body;
    expect(after).toMatchObject({ status: 'ignored', reason: 'dismissed by ops', note: 'a test of ours' });
    expect((await audit('event.dismiss'))[0]).toMatchObject({ actor: 'ops', target: id, outcome: 'done' });
    const again = await world.api('POST', `/v1/events/${id}/dismiss`, { note: 'again' });
    expect(again).toMatchObject({ status: 409, body: { code: 'event_not_parked' } });
    expect((await world.api('POST', `/v1/events/${id}/retry`)).status).toBe(202);
  });

  it('an operator decides or dismisses many parked events with one console form and sees each result', async () => {
    const before = await world.until('both are parked', parked, (e) => e.length === 2);
    const list = '/console/events?status=parked';
    const fields = await ops.form(list, '/console/events/bulk');
    const picks = Object.fromEntries(before.map((e) => [`pick-${String(e['id'])}`, 'on']));
    const retried = await ops.post('/console/events/bulk', { ...fields, ...picks, act: 'retry' });
    expect(retried.text).toContain('0 of 2 done; 2 could not be done');
    expect(retried.text.match(/still parked because/g)).toHaveLength(2);
    expect((await ops.post('/console/events/bulk', { ...fields, ...picks, act: 'dismiss' })).status).toBe(400);
    const gone = await ops.post('/console/events/bulk', { ...fields, all: 'yes', act: 'dismiss', note: 'tests' });
    expect(gone.text).toContain('2 of 2 done.');
    expect(await parked()).toEqual([]);
  });

  it('`crossbill events dismiss` refuses to run without a note, or for an event not parked', async () => {
    await parkedEvent(world, 'invoice.created', 'evt_cut3');
    const [event] = await world.until('it is parked', parked, (e) => e.length === 1);
    const id = String(event?.['id']);
    expect((await cli(['events', 'dismiss', id], world.env)).code).toBe(2);
    const done = await cliJson(['events', 'dismiss', id, '--note', 'a test with 4242424242424242'], world.env);
    expect(done).toMatchObject({ code: 0, body: { id, status: 'ignored' } });
    const { body } = await world.api('GET', `/v1/events/${id}`);
    expect(body).toMatchObject({ status: 'ignored', note: 'a test with [masked]' });
    expect((await cli(['events', 'dismiss', id, '--note', 'again'], world.env)).err).toContain('only parked events');
  });
});
