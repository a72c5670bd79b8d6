// The console's look and its ways: local times, compact lists on a phone, three groups of pages, paper.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { type Browser, type BrowserContext, type Page } from 'playwright-core';
import { startWorld, type World } from '../support/rigs/world.js';
import { findChromium, logIn, openBrowser } from './browser.js';

const chromium = findChromium();
const suite = chromium === null ? describe.skip : describe;

suite('the console on a screen', () => {
  let world: World;
  let url: string;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;

  beforeAll(async () => {
    world = await startWorld();
    url = (await world.startDaemon()).url;
    const client = new pg.Client({ connectionString: world.databaseUrl });
    await client.connect();
    await client.query(
      `insert into invoice (invoice_id, customer_id, status, platform_status, billing_reason, currency, amount_due, platform_created_at, first_seen_at)
       select 'in_shown' || lpad(n::text, 16, '0'), 'cus_shown' || n, 'paid', 'paid', 'subscription_cycle', 'EUR', 123456789 + n,
              timestamptz '2026-11-05T13:30:00Z' - n * interval '1 hour', now() from generate_series(1, 30) n`,
    );
    await client.end();
    browser = await openBrowser(chromium ?? '');
    context = await browser.newContext({ viewport: { width: 390, height: 844 }, timezoneId: 'Asia/Tokyo' });
    page = await context.newPage();
    await logIn(page, url, '/console/invoices', 'Invoices');
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await world?.close();
  });

  it("the console's list of 25 invoices is at most 2,500 pixels high on a phone, with amount, status, customer and time", async () => {
    const rows = page.getByRole('row').filter({ hasText: 'EUR' });
    expect(await rows.count()).toBe(25);
    expect(await page.evaluate<number>('document.documentElement.scrollHeight')).toBeLessThanOrEqual(2_500);
    const first = await rows.first().evaluate((row) => (row as unknown as { innerText: string }).innerText);
    for (const said of ['1,234,567.90 EUR', 'paid', 'cus_shown1', '5 Nov 2026, 21:30']) expect(first).toContain(said);
    const heights = await rows.evaluateAll((all) =>
      all.map((row) => (row as unknown as { offsetHeight: number }).offsetHeight),
    );
    expect(Math.max(...heights)).toBeLessThan(70); // two lines
  });

  it("the console shows times in the reader's time zone and remembers a switch to UTC", async () => {
    const time = page.locator('tbody time').first();
    expect(await time.textContent()).toBe('5 Nov 2026, 21:30');
    expect(await time.getAttribute('title')).toBe('2026-11-05 12:30:00 UTC');
    await page.getByRole('button', { name: 'Local time: show UTC' }).click();
    expect(await time.textContent()).toBe('5 Nov 2026, 12:30 UTC');
    await page.reload();
    expect(await time.textContent()).toBe('5 Nov 2026, 12:30 UTC');
    await page.getByRole('button', { name: 'UTC times: show local time' }).click();
    expect(await time.textContent()).toBe('5 Nov 2026, 21:30');
  });

  it('the console shows times in UTC to a browser without scripts', async () => {
    const plain = await browser.newContext({ javaScriptEnabled: false, timezoneId: 'Asia/Tokyo' });
    await plain.addCookies(await context.cookies(`${url}/console`));
    const bare = await plain.newPage();
    await bare.goto(`${url}/console/invoices`);
    expect(await bare.locator('tbody time').first().textContent()).toBe('5 Nov 2026, 12:30 UTC');
    expect(await bare.getByRole('button', { name: /show (UTC|local time)$/ }).count()).toBe(0);
    await plain.close();
  });

  it('the console groups its pages in a menu on a phone and in a side bar on a wide screen', async () => {
    const groups = page.getByRole('navigation', { name: 'Sections' }).getByRole('list');
    expect(await groups.count()).toBe(0);
    await page.getByText('Menu', { exact: true }).click();
    expect(await groups.count()).toBe(3);
    await page.setViewportSize({ width: 1280, height: 900 });
    for (const name of ['Work', 'Money', 'Developers']) {
      expect(await page.getByRole('list', { name, exact: true }).count()).toBe(1);
    }
    expect(await page.getByRole('link', { name: 'Invoices' }).getAttribute('aria-current')).toBe('page');
  });

  it("the slash key leads to the console's search, except inside a text field", async () => {
    await page.goto(`${url}/console/invoices`);
    await page.keyboard.press('/');
    expect(await page.evaluate('document.activeElement.id')).toBe('find');
    await page.keyboard.type('a/b');
    expect(await page.getByRole('searchbox').inputValue()).toBe('a/b');
  });

  it('the console prints a trial balance in black on white without controls, even from a dark screen', async () => {
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    await page.goto(`${url}/console/ledger/trial-balance?month=2026-11`);
    expect(await page.getByRole('heading', { name: 'Trial balance of November 2026' }).isVisible()).toBe(true);
    for (const gone of ['.top', '.side', '.filters']) expect(await page.locator(gone).first().isVisible()).toBe(false);
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(255, 255, 255)');
    expect(await page.evaluate('getComputedStyle(document.body).color')).toBe('rgb(0, 0, 0)');
    await page.emulateMedia({ media: null, colorScheme: null });
  });
});
