// The seven tasks of a bookkeeper at the console, each counted in clicks.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { type Browser, type Locator, type Page } from 'playwright-core';
import { type Json, startWorld, type World } from '../support/rigs/world.js';
import { findChromium, logIn, openBrowser } from './browser.js';
import { furnished, type Furnished, furnishing } from './furnish.js';

const chromium = findChromium();
const suite = chromium === null ? describe.skip : describe;

suite('in a browser', () => {
  let world: World;
  let url: string;
  let books: Furnished;
  let browser: Browser;
  let page: Page;
  let clicks = 0;

  beforeAll(async () => {
    world = await startWorld();
    url = (await world.startDaemon(furnishing(world))).url;
    books = await furnished(world);
    const client = new pg.Client({ connectionString: world.databaseUrl });
    await client.connect();
    await client.query(
      `insert into ledger_entry (debit_account, credit_account, amount, currency, reason, subject, invoice_id, payment_row_id, moved_at, recorded_at)
       select debit_account, credit_account, amount, currency, reason, 'month before', invoice_id, payment_row_id,
              date_trunc('month', now()) - interval '1 second', now() from ledger_entry where reason = 'payment_marked' limit 1`,
    );
    await client.end();
    browser = await openBrowser(chromium ?? '');
    page = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage();
    await logIn(page, url);
  }, 400_000);
  afterAll(async () => {
    await browser?.close();
    await world?.close();
  });

  const start = async (path = '/console'): Promise<void> => {
    await page.goto(`${url}${path}`);
    clicks = 0;
  };
  const click = async (what: Locator): Promise<void> => {
    clicks += 1;
    await what.first().click();
  };
  const menu = (name: string): Locator =>
    page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name, exact: true });
  const main = (): Locator => page.locator('main');

  it("a bookkeeper opens a customer's last payment by e-mail, typed in any case, in 1 click", async () => {
    await start();
    await page.getByRole('searchbox').fill('GRACE@example.com');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/console/customers/cus_*');
    const first = main().getByRole('heading', { level: 2 }).first();
    expect(await first.textContent()).toBe('Money'); // the page begins with it
    await click(page.getByRole('region', { name: 'Payments' }).getByRole('link', { name: /USD/ }));
    await page.getByRole('heading', { level: 1, name: 'Payment' }).waitFor();
    expect(await main().textContent()).toContain('1,299.00 USD');
    expect(clicks).toBe(1);
  });

  it('a bookkeeper refunds half of a payment in 4 clicks', async () => {
    await start('/console/payments');
    await click(main().locator(`a[href$="/console/payments/${books.paymentId}"]`));
    await click(page.getByRole('link', { name: 'Refund…' }));
    await page.getByLabel('Amount in EUR').fill('14,95');
    await click(page.getByRole('button', { name: 'Continue' }));
    await click(page.getByRole('button', { name: 'Refund 14.95 EUR' }));
    await page.getByText(/^Refunded 14\.95 EUR/).waitFor();
    expect(clicks).toBe(4);
  });

  it('a bookkeeper learns why an invoice is open in 2 clicks, and the list of retries says why nothing is planned', async () => {
    await start();
    await click(menu('Invoices'));
    await click(main().locator(`a[href$="/console/invoices/${books.openId}"]`));
    await page.getByText(/^Not paid: /).waitFor();
    expect(clicks).toBe(2);
    await start('/console/payments?status=failed');
    expect(await main().getByRole('row').filter({ hasText: '1,299.00 USD' }).first().textContent()).toMatch(/tried/);
    expect(await page.locator('.selection').textContent()).toMatch(/0\.00 USD\s*taken/);
  });

  it('a bookkeeper closes the last month with its export in 6 clicks, verify first', async () => {
    await start();
    await click(menu('Verify'));
    await page.getByText('Days it covered').waitFor();
    await click(menu('Trial balance'));
    await click(page.getByRole('link', { name: 'The month before' }));
    await page.locator('.message[role="status"]').waitFor(); // whether the month agrees
    const [balance] = await Promise.all([
      page.waitForEvent('download'),
      click(page.getByRole('link', { name: 'CSV', exact: true })),
    ]);
    const [ledger] = await Promise.all([
      page.waitForEvent('download'),
      click(page.getByRole('link', { name: 'Export the ledger' })),
    ]);
    expect(clicks).toBe(5);
    expect(balance.suggestedFilename()).toMatch(/^trial-balance-\d{4}-\d\d\.csv$/);
    const lines = readFileSync(await ledger.path(), 'utf8')
      .trim()
      .split('\r\n');
    expect(lines).toHaveLength(2); // the head, and the entry of the month's last second
    await click(page.getByRole('link', { name: "The month's ledger" }));
    expect(clicks).toBe(6);
    expect(await main().locator('tbody tr').count()).toBe(1);
  });

  it('a bookkeeper reads the ledger of a month in 3 clicks, and a sum of the trial balance leads to its entries', async () => {
    await start();
    await click(menu('Ledger'));
    await click(page.getByText('+ Filter'));
    await page.getByLabel('Month (UTC)').fill(new Date().toISOString().slice(0, 7));
    await click(page.getByRole('button', { name: 'Filter', exact: true }));
    expect(clicks).toBe(3);
    expect(await main().locator('tbody tr').count()).toBeGreaterThan(5);
    await start('/console/ledger/trial-balance');
    const taken = page.getByRole('region', { name: 'Money of the month' }).getByRole('link', { name: /EUR/ }).first();
    await taken.click();
    expect(new URL(page.url()).searchParams.get('reason')).toBe('payment_collected');
    expect(await page.locator('.selection').textContent()).toMatch(/\d rows?/);
  });

  it("a bookkeeper comes from the overview to the MoR's page of a chargeback in 3 clicks", async () => {
    await start();
    await click(menu('Disputes'));
    await click(main().getByRole('link', { name: '450.00 EUR' }));
    const there = page.getByRole('link', { name: 'Send evidence' });
    await there.waitFor();
    expect(await there.getAttribute('href')).toBe('https://dashboard.example/disputes/1');
    clicks += 1;
    expect(clicks).toBe(3);
  });

  it('a bookkeeper asks a customer with an expired card for another one in 4 clicks', async () => {
    await start();
    await click(menu('Retries'));
    await click(main().locator(`a[href$="/console/invoices/${books.openId}"]`));
    await click(page.getByRole('link', { name: 'Ask for another card…' }));
    expect(await page.getByLabel('Where the customer goes after paying').inputValue()).toBe(
      'https://shop.example/thanks',
    );
    await page.getByLabel('Country of the customer').fill('GB');
    await click(page.getByRole('button', { name: 'Create the link' }));
    const mail = page.getByRole('link', { name: 'Write the e-mail' });
    await mail.waitFor();
    expect(clicks).toBe(4);
    const href = new URL((await mail.getAttribute('href')) ?? '');
    const [link] = (await world.api('GET', `/v1/invoices/${books.openId}`)).body['payment_links'] as Json[];
    expect([href.protocol, decodeURIComponent(href.pathname)]).toEqual(['mailto:', 'grace@example.com']);
    expect(href.searchParams.get('body')).toContain(String(link?.['url']));
  });

  it('a payment link that cannot be made says so in place of its form', async () => {
    await page.goto(`${url}/console/invoices/${books.invoiceId}/payment-link`);
    await page.getByRole('alert').waitFor();
    expect(await main().locator('form').count()).toBe(0);
  });

  it('an operator starts a run of verify in the console, and the running one is not disturbed', async () => {
    await page.goto(`${url}/console/verify`);
    const client = new pg.Client({ connectionString: world.databaseUrl });
    await client.connect();
    const pause = async (ms: number): Promise<void> =>
      void (await client.query(
        `insert into lane (key, lease_until) values ('job:verify', now() + $1 * interval '1 millisecond')
         on conflict (key) do update set lease_until = excluded.lease_until`,
        [ms],
      ));
    await pause(20 * 3_600_000);
    await page.getByRole('button', { name: 'Run now' }).click();
    await page.getByText('The run begins within a minute.').waitFor();
    await pause(10 * 60_000);
    await page.getByRole('button', { name: 'Run now' }).click();
    await page.getByRole('alert').waitFor();
    await client.end();
  });
});
