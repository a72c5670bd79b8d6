// People find things by what people call them: an e-mail in any case, a name, a number without its prefix, an amount with
// its currency. Search, filters and `crossbill explain` take the same words.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { cli, cliJson } from '../cli/rig.js';
import { type Json, OPS_KEY, startWorld, type Subscriber, type World } from '../support/rigs/world.js';
import { Visitor } from './visitor.js';

let world: World;
let grace: Subscriber;
let twins: readonly Subscriber[];
let number: string;
let visitor: Visitor;

beforeAll(async () => {
  world = await startWorld();
  const { url } = await world.startDaemon();
  grace = await world.paidSubscriber({ email: 'Grace@Example.com', amount: 4950, currency: 'gbp' });
  await world.stripe.customers.update(grace.customerId, { name: 'Grace Hopper' });
  twins = [
    await world.paidSubscriber({ email: 'twin@example.com' }),
    await world.paidSubscriber({ email: 'Twin@example.com' }),
  ];
  const invoice = (await world.api('GET', `/v1/invoices/${grace.firstInvoiceId}`)).body;
  number = String(invoice['number']);
  visitor = await new Visitor(url).login(OPS_KEY);
}, 300_000);
afterAll(() => world.close());

const end = (): string => number.slice(number.lastIndexOf('-') + 1);
const explained = async (words: string): Promise<string[]> =>
  (await cliJson<{ invoices: Json[] }>(['explain', words], world.env)).body.invoices.map((i) => String(i['id']));

it.each(['grace@example.com', 'GRACE@EXAMPLE.COM', 'Grace@Example.com', 'hopper', 'Grace Hop'])(
  "the console's search for %s opens the customer, and `crossbill explain` tells the customer's invoice",
  async (words) => {
    const seen = await visitor.get(`/console/find?q=${encodeURIComponent(words)}`);
    expect([seen.status, seen.headers.get('location')]).toEqual([303, `/console/customers/${grace.customerId}`]);
    expect(await explained(words)).toEqual([grace.firstInvoiceId]);
  },
);

it.each(['49,50 GBP', '49.50 gbp', 'GBP 49,50', '£49.50'])(
  "the console's search for %s finds the invoice and its payment, in this currency alone",
  async (words) => {
    const { text } = await visitor.get(`/console/find?q=${encodeURIComponent(words)}`);
    expect(text).toContain(`/console/invoices/${grace.firstInvoiceId}`);
    expect(text).toContain('href="/console/payments/');
    expect((await visitor.get(`/console/find?q=${encodeURIComponent('49,50 EUR')}`)).status).toBe(404);
    expect(await explained(words)).toEqual([grace.firstInvoiceId]);
    const list = (await visitor.get(`/console/invoices?amount=${encodeURIComponent(words)}`)).text;
    expect(list).toContain(`/console/invoices/${grace.firstInvoiceId}`);
  },
);

it('the number of an invoice without its prefix finds the invoice in search, filter and `crossbill explain`', async () => {
  const found = await visitor.get(`/console/find?q=${end()}`);
  expect(found.headers.get('location')).toBe(`/console/invoices/${grace.firstInvoiceId}`);
  expect(await explained(end())).toEqual([grace.firstInvoiceId]);
  for (const words of [number.toLowerCase(), end(), end().replace(/^0+/, '')]) {
    const list = await visitor.get(`/console/payments?invoice_id=${words}`);
    expect([words, list.status, list.text.includes('49.50 GBP')]).toEqual([words, 200, true]);
  }
});

it.each([
  'invoices',
  'payments',
  'refunds',
  'reviews',
  'ledger',
  'customers',
  'disputes',
  'retries',
  'moves',
  'enrolment',
])(
  "the filter Customer of the console's list of %s takes an e-mail address in any case and says if nobody has it",
  async (path) => {
    const mine = await visitor.get(`/console/${path}?customer_id=GRACE%40example.com`);
    expect(mine.status).toBe(200);
    expect(mine.text).toContain('Grace Hopper');
    const nobody = await visitor.get(`/console/${path}?customer_id=nobody%40example.com`);
    expect([nobody.status, /id="filter-customer_id"[^>]*aria-invalid="true"/.test(nobody.text)]).toEqual([400, true]);
    expect(nobody.text).toContain('value="nobody@example.com"');
    expect(nobody.text).not.toContain('match these filters');
  },
);

it('a name of two customers in a filter offers both, and an unknown id or number is a mistake at its field', async () => {
  const seen = await visitor.get('/console/payments?customer_id=TWIN%40example.com');
  expect(seen.status).toBe(400);
  for (const { customerId } of twins) expect(seen.text).toContain(`/console/payments?customer_id=${customerId}`);
  for (const [name, wrong] of [
    ['customer_id', 'cus_nobody'],
    ['invoice_id', 'NONE-0001'],
    ['invoice_id', 'in_nobody'],
    ['amount', 'much'],
  ]) {
    const page = await visitor.get(`/console/payments?${name}=${wrong}`);
    expect([wrong, page.status, page.text.includes(`id="filter-${name}-mistake"`)]).toEqual([wrong, 400, true]);
    expect((await visitor.get(`/console/payments?${name}=${wrong}&format=csv`)).status).toBe(400);
  }
});

it('names come from Stripe for each search: no table of the database has one', async () => {
  const dump = await world.api('GET', `/v1/customers/${grace.customerId}`);
  expect(JSON.stringify(dump.body)).not.toMatch(/hopper/i);
  expect((await cli(['explain', 'in_nobody'], world.env)).code).toBe(1);
  expect((await cli(['explain', 'nobody@example.com'], world.env)).code).toBe(1);
});
