// Document 2, payment links, invoices, webhook endpoints and the delivery of events.
/* eslint-disable @typescript-eslint/no-unsafe-assignment, @typescript-eslint/no-unsafe-member-access, @typescript-eslint/no-unsafe-argument -- answers are read loosely: what they hold is what is tested */
import { expect, it } from '@jest/globals';
import { signatureFits } from '../../src/kernel/signature.js';
import { type MorRefund } from '../../src/mor/state.js';
import { webhookUrlProblem } from '../../src/mor/webhook-url.js';
import { type Reply, type Mor, fieldsOf, morForAll } from './support.js';

const unknownId = '00000000-0000-4000-8000-000000000000';
let mor: Mor;
morForAll((started) => (mor = started));

const link = {
  jurisdiction: 'GB',
  amount: { amount: '50.00', currency: 'GBP' },
  returnUrl: 'https://shop.example/back',
};
const make = (idempotencyKey: unknown, more: object = {}): Promise<Reply> =>
  mor.call('POST', '/api/payment-links', { ...link, idempotencyKey, ...more });

it("a payment link of the sandbox's MoR lasts a week, takes one payment, and sends payment.captured", async () => {
  await mor.call('POST', '/api/webhooks', { url: 'https://hooks.example/links', events: ['payment.captured'] });
  const made = await make('k1');
  const id: string = made.body.paymentLinkId;
  expect([made.status, made.body]).toEqual([
    201,
    {
      paymentLinkId: id,
      url: expect.stringContaining(id),
      status: 'PAYABLE',
      pricedAmount: { amount: '50.00', currency: 'GBP' },
      amountDue: { amount: '50.00', currency: 'GBP' },
      expiresAt: '2026-03-09T10:00:00.000Z',
    },
  ]);
  const again = await make('k1', { amount: { amount: '60', currency: 'GBP' } });
  expect([again.status, again.body]).toEqual([200, made.body]);
  const paid = await mor.control(`/payment-links/${id}/pay`, {});
  const read = await mor.call('GET', `/api/payment-links/${id}`);
  expect(read.body).toMatchObject({ status: 'PAID', amountDue: { amount: '0.00', currency: 'GBP' } });
  expect(mor.events('https://hooks.example/links')).toEqual([
    {
      id: `evt_captured_${paid.body.payment.uuid}`,
      type: 'payment.captured',
      created: expect.any(String),
      data: expect.objectContaining({
        paymentLinkId: id,
        taxCalculationId: expect.any(String),
        amount: { amount: '50.00', currency: 'GBP' },
      }),
    },
  ]);
  expect((await mor.control(`/payment-links/${id}/pay`, {})).status).toBe(409);
});

it.each([
  ['charge', true, false],
  ['id', false, true],
  ['both', true, true],
  ['nothing', false, false],
])("a test chooses the payment's ids in the sandbox's payment.captured event: %s", async (names, byCharge, byId) => {
  const { paymentLinkId } = (await make(`by ${names}`)).body;
  const { payment } = (await mor.control(`/payment-links/${paymentLinkId}/pay`, { names })).body;
  const said = JSON.stringify(mor.events('https://hooks.example/links').at(-1)?.data);
  expect([said.includes(payment.psp_reference), said.includes(`"${payment.id}"`)]).toEqual([byCharge, byId]);
});

it("a payment link of the sandbox's MoR takes a second payment from a browser page still open", async () => {
  const { paymentLinkId } = (await make('twice')).body;
  const pay = (body: object): Promise<Reply> => mor.control(`/payment-links/${paymentLinkId}/pay`, body);
  expect((await pay({ again: true })).status).toBe(409);
  const first = (await pay({})).body.payment;
  const second = (await pay({ again: true })).body.payment;
  expect(second.id).not.toBe(first.id);
  const notified = mor
    .events('https://hooks.example/links')
    .slice(-2)
    .map((e) => e.data.pspReference);
  expect(notified).toEqual([first.psp_reference, second.psp_reference]);
  expect(await pay({ names: 'iban' })).toMatchObject({ status: 400, body: { errors: [{ field: 'names' }] } });
});

it("a payment link of the sandbox's MoR expires after the requested seconds", async () => {
  const { paymentLinkId } = (await make('k2', { expiresIn: 60 })).body;
  await mor.advance(60);
  expect((await mor.call('GET', `/api/payment-links/${paymentLinkId}`)).body.status).toBe('EXPIRED');
});

it.each<[string, object | string, string]>([
  ['broken JSON', '{', 'body'],
  ['no jurisdiction', { jurisdiction: undefined }, 'jurisdiction'],
  ['no amount', { amount: undefined }, 'amount'],
  ['amount of 0', { amount: { amount: '0', currency: 'GBP' } }, 'amount.amount'],
  ['amount below a penny', { amount: { amount: '1.005', currency: 'GBP' } }, 'amount.amount'],
  ['no currency', { amount: { amount: '1' } }, 'amount.currency'],
  ['no return address', { returnUrl: undefined }, 'returnUrl'],
  ['invalid return address', { returnUrl: 'shop' }, 'returnUrl'],
  ['no idempotency key', { idempotencyKey: '' }, 'idempotencyKey'],
  ['lifetime of 0', { expiresIn: 0 }, 'expiresIn'],
])("the sandbox's MoR refuses a payment link with 400 validation_error: %s", async (_name, more, field) => {
  const reply = await mor.call(
    'POST',
    '/api/payment-links',
    typeof more === 'string' ? more : { ...link, idempotencyKey: 'bad', ...more },
  );
  expect([reply.status, reply.body.code, fieldsOf(reply)]).toEqual([400, 'validation_error', [field]]);
});

it("the sandbox's MoR answers 409 to a payment link for a country outside the merchant's contract, and 404 to another merchant's link", async () => {
  expect((await make('k3', { jurisdiction: 'JP' })).body.code).toBe('no_active_arrangement');
  expect((await make('k4', { jurisdiction: 'US' })).body.code).toBe('unsupported_outpost_role');
  const { paymentLinkId } = (await make('k5')).body;
  for (const [id, who, status] of [
    [paymentLinkId, 'otherMerchant', 404],
    [unknownId, 'merchant', 404],
    ['abc', 'merchant', 404],
    [paymentLinkId, 'nobody', 401],
  ] as const) {
    expect((await mor.call('GET', `/api/payment-links/${id}`, undefined, who)).status).toBe(status);
  }
  expect((await mor.call('POST', '/api/payment-links', link, 'nobody')).status).toBe(401);
});

it("the sandbox's MoR answers 202 for a new invoice file, then a link valid for 15 minutes", async () => {
  const made = await make('k6');
  const { payment } = (await mor.control(`/payment-links/${made.body.paymentLinkId}/pay`, {})).body;
  const refund: MorRefund = {
    id: 'rfnd_1',
    uuid: '11111111-1111-4111-8111-111111111111',
    paymentId: payment.id,
    amount: 100,
    currency: 'gbp',
    status: 'succeeded',
    reason: null,
    metadata: null,
    processorRefundId: 're_1',
    source: 'api',
    createdAtMs: mor.kernel.clock.nowMs(),
  };
  mor.state.refunds.set(refund.id, refund);
  const paths = [
    `/api/payments/${payment.uuid}/invoice`,
    `/api/payments/invoice?psp_reference=${payment.psp_reference}`,
    `/api/refunds/${refund.uuid}/invoice`,
    '/api/refunds/invoice?psp_reference=re_1',
  ];
  for (const path of paths) expect([path, (await mor.call('GET', path)).status]).toEqual([path, 202]);
  await mor.advance(2);
  for (const path of paths) {
    const { status, body } = await mor.call('GET', path);
    expect([path, status, Object.keys(body.invoice as object)]).toEqual([path, 200, ['fileName', 'url', 'expiresAt']]);
    expect(Date.parse(body.invoice.expiresAt) - mor.kernel.clock.nowMs()).toBe(15 * 60_000);
    expect((await mor.call('GET', path, undefined, 'otherMerchant')).body.code).toBe('not_found');
    expect((await mor.call('GET', path, undefined, 'nobody')).status).toBe(401);
  }
  for (const kind of ['payments', 'refunds']) {
    expect((await mor.call('GET', `/api/${kind}/${unknownId}/invoice`)).status).toBe(404);
    expect((await mor.call('GET', `/api/${kind}/invoice?psp_reference=none`)).status).toBe(404);
    expect((await mor.call('GET', `/api/${kind}/invoice`)).status).toBe(400);
  }
});

it('the tests of payment links and invoice files cover every documented answer of the MoR', () => {
  expect(mor.uncovered('money')).toEqual([]);
});

const register = (url: string, events: unknown = ['dispute.outcome']): Promise<Reply> =>
  mor.call('POST', '/api/webhooks', { url, events });

it("the sandbox's MoR shows a webhook endpoint's secret once, lists the endpoint, and deletes it", async () => {
  const made = await mor.call('POST', '/api/webhooks', {
    url: 'https://a.example/h',
    events: ['dispute.outcome', 'report.available'],
    description: 'mine',
  });
  expect([made.status, made.body]).toEqual([
    201,
    {
      id: expect.stringMatching(/^wh_/),
      url: 'https://a.example/h',
      events: ['dispute.outcome', 'report.available'],
      secret: expect.any(String),
      status: 'ACTIVE',
      createdAt: expect.any(String),
    },
  ]);
  const { secret: _secret, ...shown } = made.body;
  const list = await mor.call('GET', '/api/webhooks');
  expect(list.body).toContainEqual(shown);
  expect((await mor.call('GET', '/api/webhooks?page=1')).body).toEqual({ webhooks: list.body });
  expect((await mor.call('GET', '/api/webhooks', undefined, 'otherMerchant')).body).toEqual([]);
  const path = `/api/webhooks/${made.body.id}`;
  expect((await mor.call('DELETE', path, undefined, 'otherMerchant')).body.code).toBe('not_found');
  for (let i = 0; i < 2; i += 1) expect((await mor.call('DELETE', path)).status).toBe(204);
  expect((await mor.call('DELETE', '/api/webhooks/wh_none')).status).toBe(404);
  expect((await mor.call('GET', '/api/webhooks')).body).not.toContainEqual(shown);
  for (const [method, to] of [
    ['GET', '/api/webhooks'],
    ['POST', '/api/webhooks'],
    ['DELETE', path],
  ] as const) {
    expect((await mor.call(method, to, undefined, 'nobody')).status).toBe(401);
  }
});

it.each<[string, unknown]>([
  ['an empty list', []],
  ['no list', undefined],
  ['an unknown type', ['dispute.outcome', 'dispute.opened']],
])("the sandbox's MoR refuses a webhook endpoint's event types with 400 unknown_event: %s", async (_name, events) => {
  expect((await mor.call('POST', '/api/webhooks', { url: 'https://a.example', events })).body.code).toBe(
    'unknown_event',
  );
});

it.each([
  '',
  'a.example',
  'http://a.example/h',
  'ftp://a.example',
  'https://10.0.0.1',
  'https://169.254.169.254/x',
  'https://[::ffff:10.0.0.1]/',
  'https://[fd00::1]/',
  'https://db.internal/',
])("the sandbox's MoR refuses the webhook address %j with 400 invalid_url", async (url) => {
  expect((await register(url)).body.code).toBe('invalid_url');
});

it.each([
  ['http://127.0.0.1:3000/h', null, 'must be HTTPS'],
  ['https://localhost/h', null, 'must resolve to a public address'],
  ['https://[::1]/h', null, 'must resolve to a public address'],
  ['https://127.0.0.2/h', 'must resolve to a public address', 'must resolve to a public address'],
  ['https://2130706433/h', null, 'must resolve to a public address'],
  ['https://172.31.0.1/h', 'must resolve to a public address', 'must resolve to a public address'],
  ['https://[::ffff:a00:1]/h', 'must resolve to a public address', 'must resolve to a public address'],
  ['https://93.184.216.34/h', null, null],
  ['https://hooks.example/h', null, null],
])(
  "for the webhook address %s the sandbox's rule for local daemons gives %s and the MoR's rule %s (null: accepted)",
  (url, loose, strict) => {
    expect([webhookUrlProblem(url, false), webhookUrlProblem(url, true)]).toEqual([loose, strict]);
  },
);

it("the sandbox's MoR allows a merchant ten webhook endpoints, and an eleventh after a deletion", async () => {
  const before = (await mor.call('GET', '/api/webhooks')).body.length;
  const ids: string[] = [];
  for (let n = before; n < 10; n += 1) ids.push((await register(`https://many.example/${n}`)).body.id);
  const eleventh = await register('https://many.example/11');
  expect([eleventh.status, eleventh.body.code]).toEqual([409, 'webhook_endpoint_limit_exceeded']);
  await mor.call('DELETE', `/api/webhooks/${ids.pop()}`);
  expect((await register('https://many.example/11')).status).toBe(201);
  for (const { id } of (await mor.call('GET', '/api/webhooks')).body) await mor.call('DELETE', `/api/webhooks/${id}`);
});

it("the sandbox's MoR sends nothing to a disabled webhook endpoint", async () => {
  const { id } = (await register('https://off.example/h', ['dispute.outcome'])).body;
  await mor.control(`/webhooks/${id}`, { status: 'DISABLED' });
  expect((await mor.call('GET', '/api/webhooks')).body).toMatchObject([{ id, status: 'DISABLED' }]);
  await mor.control('/events', { type: 'dispute.outcome', data: { disputeId: 'dp_off' } });
  expect(mor.events('https://off.example/h')).toEqual([]);
  await mor.call('DELETE', `/api/webhooks/${id}`);
});

it("the sandbox's MoR refuses a body without the JSON content type", async () => {
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const reply = await mor.call('POST', '/api/payment-links', JSON.stringify(link), 'merchant', form);
  expect([reply.status, reply.body.code, fieldsOf(reply)]).toEqual([400, 'validation_error', ['body']]);
});

it('the tests of webhook endpoints cover every documented answer of the MoR', () => {
  expect(mor.uncovered('webhooks')).toEqual([]);
});

async function endpoint(url: string, events: string[]): Promise<{ id: string; secret: string }> {
  return (await mor.call('POST', '/api/webhooks', { url, events })).body as { id: string; secret: string };
}
const dispute = (data: object = { disputeId: 'dp_1', paymentId: 'pay_1' }): Promise<Reply> =>
  mor.control('/events', { type: 'dispute.action_needed', data });

it("the sandbox's MoR delivers an event to each subscribed endpoint, signed with the endpoint's own secret", async () => {
  const one = await endpoint('https://d.example/1', ['dispute.action_needed']);
  const two = await endpoint('https://d.example/2', ['dispute.action_needed', 'dispute.outcome']);
  await endpoint('https://d.example/3', ['dispute.outcome']);
  await dispute();
  await mor.kernel.deliverer.settle();
  for (const [url, { secret }] of [
    ['https://d.example/1', one],
    ['https://d.example/2', two],
  ] as const) {
    const [sent] = mor.caught.filter((caught) => caught.url === url);
    const header = sent?.headers['service-signature'] ?? '';
    const nowSec = Math.floor(mor.kernel.clock.wallMs() / 1000);
    expect(header).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/);
    expect(signatureFits(sent?.body ?? Buffer.alloc(0), header, secret, nowSec)).toBe(true);
  }
  expect(mor.events('https://d.example/3')).toEqual([]);
  expect(mor.events('https://d.example/1')).toEqual([
    {
      id: 'evt_action_needed_dp_1',
      type: 'dispute.action_needed',
      created: expect.any(String),
      data: { disputeId: 'dp_1', paymentId: 'pay_1', deadline: expect.any(String), dashboardUrl: expect.any(String) },
    },
  ]);
});

it("the sandbox's MoR makes eight attempts at 0, 10, 40, 130, 400, 1210, 3640 and 10930 seconds", async () => {
  mor.receiver.set('https://d.example/down', 503);
  await endpoint('https://d.example/down', ['dispute.revision_requested']);
  const startMs = mor.kernel.clock.nowMs();
  const { body } = await mor.control('/events', { type: 'dispute.revision_requested', data: { disputeId: 'dp_2' } });
  await mor.kernel.deliverer.settle();
  await mor.advance(86_400);
  const tries = mor.kernel.deliverer.list().filter((one) => one.event_id === body.id);
  expect(tries.map(({ at }) => (Date.parse(at) - startMs) / 1000)).toEqual([0, 10, 40, 130, 400, 1210, 3640, 10930]);
});

it.each([
  [400, 1],
  [429, 8],
  [302, 1],
  [204, 1],
])("the sandbox's MoR, answered with status %d, makes %d delivery attempts", async (status, attempts) => {
  const url = `https://d.example/s${status}`;
  mor.receiver.set(url, status);
  const { id } = await endpoint(url, ['pre_chargeback_alert.received']);
  await mor.control('/events', { type: 'pre_chargeback_alert.received', data: { alertId: `al_${status}` } });
  await mor.kernel.deliverer.settle();
  await mor.advance(86_400);
  expect(mor.events(url).length).toBe(attempts);
  await mor.call('DELETE', `/api/webhooks/${id}`);
});

it("the sandbox's MoR stops deliveries to a deleted endpoint, and never sends payment.settled or report.available", async () => {
  mor.receiver.set('https://d.example/gone', 500);
  const { id } = await endpoint('https://d.example/gone', [
    'pre_chargeback_alert.outcome',
    'payment.settled',
    'report.available',
  ]);
  await mor.control('/events', { type: 'pre_chargeback_alert.outcome', data: { alertId: 'al_1' } });
  for (const type of ['payment.settled', 'report.available']) {
    expect((await mor.control('/events', { type, data: {} })).body.endpoints).toBe(0);
  }
  await mor.kernel.deliverer.settle();
  await mor.call('DELETE', `/api/webhooks/${id}`);
  await mor.advance(86_400);
  expect(mor.events('https://d.example/gone').length).toBe(1);
});

it("a webhook endpoint registered at the sandbox's start receives every event, with a secret made from the seed", async () => {
  const secret = mor.state.registerEventWebhook('http://127.0.0.1:3000/webhooks/mor/events');
  expect(secret).toMatch(/^whsec_[0-9a-f]{40}$/);
  await dispute({ disputeId: 'dp_9' });
  await mor.kernel.deliverer.settle();
  expect(mor.events('http://127.0.0.1:3000/webhooks/mor/events').map(({ id }) => id)).toEqual([
    'evt_action_needed_dp_9',
  ]);
});
