// Tasks of a finance person, measured by clicks in a real browser; and the answers of a list, a search and a customer's
// page.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { type Browser, type BrowserContext, type Locator, type Page } from 'playwright-core';
import { minorFromTyped, splitAmount } from '../../src/frames/console/list-filters.js';
import { OPS_KEY, startWorld, type World } from '../support/rigs/world.js';
import { findChromium, logIn, openBrowser } from './browser.js';
import { Visitor } from './visitor.js';

const chromium = findChromium();
const suite = chromium === null ? describe.skip : describe;

it('the console reads a typed amount with a comma or a point and with thousands separators', () => {
  for (const typed of ['29.90', '29,90', ' 29.9 ']) expect(minorFromTyped(typed)).toBe(2_990n);
  for (const typed of ['1,299.00', '1.299,00', "1'299.00", '1299', '1,299'])
    expect(minorFromTyped(typed)).toBe(129_900n);
  expect(minorFromTyped('4,800', 'JPY')).toBe(4_800n);
  expect(splitAmount('1 299,50 usd')).toEqual({ digits: '1 299,50', currency: 'USD' });
  expect(splitAmount('€29.90')).toEqual({ digits: '29.90', currency: 'EUR' });
  for (const none of ['29.90', 'abc', 'abc 1 xyz', 'pay_1 EUR'])
    expect(splitAmount(none)).toEqual({ digits: none, currency: null });
  expect(minorFromTyped('1.250', 'KWD')).toBe(1_250n);
  for (const wrong of ['', 'in_1', '-5', '1.999,999', '1e3']) expect(minorFromTyped(wrong)).toBeNull();
});

suite('a finance person', () => {
  let world: World;
  let url: string;
  let customerId: string;
  let invoiceId: string;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let clicks = 0;
  const click = async (what: Locator): Promise<void> => {
    clicks++;
    await what.click();
  };

  beforeAll(async () => {
    world = await startWorld({ BILLING_DRAFT_POLICY: 'finalize' });
    url = (await world.startDaemon()).url;
    const s = await world.subscriber({ email: 'ada@example.com' });
    customerId = s.customerId;
    invoiceId = s.firstInvoiceId;
    await world.invoice(invoiceId, 'paid');
    const client = new pg.Client({ connectionString: world.databaseUrl });
    await client.connect();
    await client.query(
      `insert into ledger_entry (debit_account, credit_account, amount, currency, reason, subject, invoice_id, payment_row_id, moved_at, recorded_at)
       select 'mor_receivable', 'unmarked_payments', 123456, c, 'payment_collected', 'shown-' || c, 'in_shown', 'pmt_shown',
              date_trunc('month', now(), 'UTC') - interval '3 days', date_trunc('month', now(), 'UTC') - interval '3 days' from unnest(array['EUR', 'USD']) c`,
    );
    await client.end();
    browser = await openBrowser(chromium ?? '');
    context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    page = await context.newPage();
    await logIn(page, url);
  }, 240_000);
  afterAll(async () => {
    await browser?.close();
    await world?.close();
  });

  it("a person finds a customer by e-mail in 2 clicks in the console, and sees the customer's payments and address", async () => {
    clicks = 0;
    await click(page.getByRole('searchbox', { name: 'Search' }));
    await page.keyboard.type('ada@example.com');
    await click(page.getByRole('button', { name: 'Find' }));
    await page.waitForURL(`${url}/console/customers/${customerId}`);
    expect(clicks).toBe(2);
    expect(await page.locator('dl.facts').textContent()).toContain('ada@example.com');
    expect(await page.getByRole('region', { name: 'Money' }).textContent()).toContain('29.90 EUR');
    expect(
      await page
        .getByRole('region', { name: 'Invoices' })
        .getByRole('link', { name: /29\.90 EUR/ })
        .count(),
    ).toBe(1);
  });

  it("a person sees last month's money by currency in 2 clicks in the console, and downloads a CSV of it in 3 clicks", async () => {
    await page.goto(`${url}/console`);
    clicks = 0;
    await click(page.getByRole('link', { name: 'Trial balance' }));
    await click(page.getByRole('link', { name: 'The month before' }));
    const money = page.getByRole('region', { name: 'Money of the month' });
    await money.waitFor();
    expect(await money.textContent()).toContain('1,234.56 EUR');
    expect(await money.textContent()).toContain('1,234.56 USD');
    expect(await money.getByRole('columnheader').allTextContents()).toEqual([
      ...['Currency', 'Taken', 'Refunded', 'Lost to banks', 'Kept'],
    ]);
    expect(clicks).toBe(2);
    const file = page.waitForEvent('download');
    await click(page.getByRole('link', { name: 'CSV' }));
    expect(clicks).toBe(3);
    const lines = readFileSync(await (await file).path(), 'utf8').split('\r\n');
    expect(lines[0]).toBe('month,currency,account,opening,debit,credit,closing');
    expect(lines.some((l) => l.includes(',EUR,mor_receivable,0.00,1234.56,0.00,1234.56'))).toBe(true);
  });

  it("the console's list filtered by an amount with a comma shows the sum and exports the same rows as CSV", async () => {
    const v = await new Visitor(url).login(OPS_KEY);
    const list = await v.get('/console/invoices?amount=29%2C90&currency=eur');
    expect(list.text).toContain(`/console/invoices/${invoiceId}`);
    expect(list.text.replace(/\s+/g, ' ')).toMatch(/1 row: <strong class="money">29\.90 EUR/);
    expect((await v.get('/console/invoices?amount=29.91')).text).not.toContain(`/console/invoices/${invoiceId}`);
    const csv = await v.get('/console/invoices?amount=29.90&format=csv');
    expect(csv.headers.get('content-disposition')).toBe('attachment; filename="invoices.csv"');
    expect(csv.text.split('\r\n')[1]).toMatch(new RegExp(`^${invoiceId},.*,${customerId},29\\.90,EUR,paid,`));
    for (const wrong of ['amount=abc', 'since=2026-13-01', 'currency=E']) {
      expect((await v.get(`/console/payments?${wrong}`)).status).toBe(400);
    }
    for (const path of ['payments', 'refunds', 'ledger']) {
      expect((await v.get(`/console/${path}?since=2020-01-01&currency=EUR&format=csv`)).status).toBe(200);
      expect((await v.get(`/console/${path}?since=2020-01-01&until=2030-01-01&amount=29.90&currency=EUR`)).status).toBe(
        200,
      );
    }
  });

  it("the console's CSV of a month's ledger has every entry in the order of `crossbill export ledger`: by the money's time", async () => {
    const v = await new Visitor(url).login(OPS_KEY);
    const client = new pg.Client({ connectionString: world.databaseUrl });
    await client.connect();
    // Recorded last, and the money moved first.
    await client.query(
      `insert into ledger_entry (debit_account, credit_account, amount, currency, reason, subject, invoice_id, payment_row_id, moved_at, recorded_at)
       select debit_account, credit_account, amount, currency, reason, 'first of the month', invoice_id, payment_row_id,
              date_trunc('month', now()), now() from ledger_entry where reason = 'payment_marked' limit 1`,
    );
    const { rows } = await client.query<{ id: string; reason: string }>(
      `select id, reason from ledger_entry where moved_at >= date_trunc('month', now()) order by moved_at, id`,
    );
    await client.end();
    const month = new Date().toISOString().slice(0, 7);
    const idsOf = async (query: string): Promise<string[]> =>
      (await v.get(`/console/ledger?${query}&format=csv`)).text
        .trim()
        .split('\r\n')
        .slice(1)
        .map((line) => line.split(',')[0] ?? '');
    expect(rows.length).toBeGreaterThan(2);
    expect(await idsOf(`month=${month}`)).toEqual(rows.map((r) => r.id));
    const marks = rows.filter((r) => r.reason === 'payment_marked').map((r) => r.id);
    expect(await idsOf(`month=${month}&reason=payment_marked`)).toEqual(marks);
    expect(await idsOf(`month=${month}&currency=SEK`)).toEqual([]);
    expect((await v.get(`/console/ledger?month=${month}&since=2026-01-01`)).status).toBe(400);
  });

  it("the console's search finds an invoice by the beginning of its id, its number or its amount", async () => {
    const v = await new Visitor(url).login(OPS_KEY);
    const invoice = (await world.api('GET', `/v1/invoices/${invoiceId}`)).body;
    const found = async (text: string): Promise<string> =>
      (await v.get(`/console/find?q=${encodeURIComponent(text)}`)).text;
    expect(await found(invoiceId.slice(0, 9))).toContain(`/console/invoices/${invoiceId}`);
    expect(await found('29,90')).toContain(`/console/invoices/${invoiceId}`);
    expect(await found('29.90')).toContain('/console/payments/');
    const byNumber = await v.get(`/console/find?q=${encodeURIComponent(String(invoice['number']))}`);
    expect(byNumber.headers.get('location')).toBe(`/console/invoices/${invoiceId}`);
    const middle = await v.get(`/console/find?q=${invoiceId.slice(6, 14)}`);
    expect(middle.status).toBe(404);
    expect(middle.text).toContain('Not searched: the middle of an id');
    expect((await v.get('/console/find?q=nobody%40example.com')).status).toBe(404);
    expect(await found('77,77')).toContain('Crossbill searched this amount among the newest 5,000 invoices');
  });
});
