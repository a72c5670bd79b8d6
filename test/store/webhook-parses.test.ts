// How often one process parses the JSON of a webhook, from the socket to the decision.
import { afterEach, expect, it, jest } from '@jest/globals';
import { eventParser } from '../../src/core/events/event-parser.js';
import { ParsedEvents } from '../../src/engine/parsed-events.js';
import { Endpoints } from '../../src/frames/intake/endpoints.js';
import { FrontServer } from '../../src/frames/intake/front-server.js';
import { type Delivery } from '../../src/shared/domain/ports/inbox.js';
import { anInvoice, aPaymentSucceeded, aRefund, INVOICE_ID, invoiceEvent } from '../support/builders/events.js';
import { StillClock } from '../support/fakes/fake-inbox.js';
import { laneForEach, type LaneOnPostgres } from '../support/rigs/lane-on-postgres.js';
import { sign } from '../support/builders/signing.js';

const SECRET = 'whsec_parses_0123456789';

let x: LaneOnPostgres;
const parse = jest.spyOn(JSON, 'parse');
laneForEach((opened) => {
  x = opened;
  x.harness.platform.put(anInvoice());
  parse.mockClear();
});
afterEach(() => front.close(0));

let front: FrontServer;

/** Sends the deliveries to the endpoints of a process that keeps what it parsed in `parsed`. */
async function send(parsed: ParsedEvents, deliveries: readonly Delivery[]): Promise<void> {
  const clock = new StillClock();
  const secrets = { stripe: [SECRET], mor_payments: [SECRET], mor_events: [SECRET] };
  const options = { secrets, toleranceSec: 300, bodyLimitBytes: 100_000 };
  const endpoints = new Endpoints(options, x.inbox, clock, parsed);
  endpoints.open();
  front = new FrontServer();
  front.setEndpoints(endpoints);
  const { port } = await front.listen(0, '127.0.0.1');
  for (const { source, body } of deliveries) {
    const [path, header] = source === 'stripe' ? ['stripe', 'Stripe-Signature'] : ['mor/payments', 'Mor-Signature'];
    const headers = { [header]: sign(body, SECRET, { t: clock.seconds }) };
    const reply = await fetch(`http://127.0.0.1:${port}/webhooks/${path}`, { method: 'POST', body, headers });
    expect(reply.status).toBe(200);
  }
}

const parses = ({ body }: Delivery): number => parse.mock.calls.filter(([text]) => text === body.toString()).length;

const created = invoiceEvent('invoice.created', { status: 'open' });
const paid = aPaymentSucceeded();
/** A refund without an invoice: the router reads the event, and then the lane of its invoice. */
const refunded = aRefund({ invoiceId: '', amount: 1000 });
const all = [created, paid, refunded];

async function expectPaidAndRefunded(): Promise<void> {
  const { payments, refunds } = await x.harness.state(INVOICE_ID);
  expect(payments.map((p) => [p.paymentId, p.mark])).toEqual([['pay_oak', 'confirmed']]);
  expect(refunds.map((r) => r.morRefundId)).toEqual(['rfnd_1']);
}

it('one process parses each webhook of a paid and refunded renewal once', async () => {
  await send(x.parsed, [created, paid]);
  await x.harness.idle();
  await front.close(0);
  await send(x.parsed, [refunded]);
  await x.harness.idle();
  await expectPaidAndRefunded();
  expect(all.map(parses)).toEqual([1, 1, 1]);
});

it('a process parses the stored webhooks of another process, and of its own last run', async () => {
  await send(new ParsedEvents(eventParser), all);
  parse.mockClear();
  await x.harness.idle();
  await expectPaidAndRefunded();
  expect([created, paid].map(parses)).toEqual([1, 1]);
});
