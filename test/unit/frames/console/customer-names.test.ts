// Names of customers on the console: read from Stripe for the rows shown, within a time that a reader bears.
import { expect, it } from '@jest/globals';
import { CustomerNames } from '../../../../src/frames/console/customer-names.js';
import { BillingReader, type CustomerFacts } from '../../../../src/shared/domain/ports/billing-reader.js';
import { type CallOutcome } from '../../../../src/shared/domain/ports/call.js';
import { ManualClock } from '../../../support/fakes/clock.js';
import { turn } from '../../../support/fakes/fake-inbox.js';

type Reply = Promise<CallOutcome<CustomerFacts | null>>;

/** Stripe with the reads that it got. */
function aReader(reply: (id: string) => Reply): { reader: BillingReader; asked: string[] } {
  const asked: string[] = [];
  const readCustomer = (id: string): Reply => {
    asked.push(id);
    return reply(id);
  };
  return { reader: Object.assign(Object.create(BillingReader.prototype) as BillingReader, { readCustomer }), asked };
}

const named = (customerId: string, name: string | null, email: string | null): Reply =>
  Promise.resolve({
    ok: true,
    value: { customerId, name, email, metadata: {} } as CustomerFacts,
    status: 200,
    requestId: null,
  });
const busy = (): Reply =>
  Promise.resolve({
    ok: false,
    kind: 'retry',
    status: 429,
    code: null,
    message: 'busy',
    requestId: null,
  } as Awaited<Reply>);

it('the console shows a customer by name or email address, and reads each customer from Stripe at most once in five minutes', async () => {
  const clock = new ManualClock();
  const { reader, asked } = aReader((id) => named(id, id === 'cus_1' ? 'Ada' : null, `${id}@example.com`));
  const names = new CustomerNames(reader, clock);
  const both = new Map([
    ['cus_1', 'Ada'],
    ['cus_2', 'cus_2@example.com'],
  ]);
  expect(await names.of(['cus_1', 'cus_2'])).toEqual(both);
  expect(await names.of(['cus_1', 'cus_2'])).toEqual(both);
  expect(asked).toEqual(['cus_1', 'cus_2']);
  clock.advance(5 * 60_000 + 1);
  await names.of(['cus_1']);
  expect(asked).toHaveLength(3);
});

it('if Stripe does not answer, the console tries to read at most eight customers, and shows the page without their names', async () => {
  const clock = new ManualClock();
  const { reader, asked } = aReader(() => new Promise(() => undefined));
  const names = new CustomerNames(reader, clock);
  const found = names.of(Array.from({ length: 25 }, (_, i) => `cus_${i}`));
  await turn();
  clock.advance(800);
  expect(await found).toEqual(new Map());
  expect(asked).toHaveLength(8);
});

it('if Stripe answers 429, the console stops reading customer names after eight requests', async () => {
  const { reader, asked } = aReader(busy);
  const names = new CustomerNames(reader, new ManualClock());
  expect(await names.of(Array.from({ length: 25 }, (_, i) => `cus_${i}`))).toEqual(new Map());
  expect(asked).toHaveLength(8);
});
