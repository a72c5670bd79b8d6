// The console in a real browser: by keyboard, on a phone, light and dark; an operator's day from the login to the logout.
import { mkdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Browser, type BrowserContext, type Page } from 'playwright-core';
import { type Json, OPS_KEY, startWorld, type World } from '../support/world.js';
import { findChromium, openBrowser } from './browser.js';
import { standing, type Standing } from './standing.js';

const chromium = findChromium();
const suite = chromium === null ? describe.skip : describe;
if (chromium === null) console.warn('no Chromium is here and none could be installed: the browser tests are skipped');

/** `npm run screenshots` takes pictures of every page: wide in the light, and on a phone in the dark, as docs/screenshots.md shows them. */
const PICTURES = process.env['CONSOLE_SCREENSHOTS'] ?? null;

async function picture(page: Page, name: string): Promise<void> {
  if (PICTURES === null || !/-(1280-light|390-dark)$/.test(name)) return;
  mkdirSync(PICTURES, { recursive: true });
  await page.screenshot({ path: `${PICTURES}/${name}.png`, fullPage: true });
}

suite('an operator in a browser', () => {
  let world: World;
  let url: string;
  let books: Standing;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  const complaints: string[] = [];

  beforeAll(async () => {
    world = await startWorld();
    url = (await world.startDaemon()).url;
    books = await standing(world);
    browser = await openBrowser(chromium ?? '');
    context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    page = await context.newPage();
    page.on('console', (m) => {
      // That a page answers 4xx is said there too; some of these tests want that.
      if (m.type() === 'error' && !m.text().startsWith('Failed to load resource')) complaints.push(m.text());
    });
    page.on('pageerror', (e) => complaints.push(String(e)));
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await world?.close();
  });

  const refunds = async (): Promise<Json[]> =>
    (await world.api('GET', `/v1/payments/${books.paymentId}`)).body['refunds'] as Json[];

  it('logs in by keyboard alone and sees today at a glance', async () => {
    await page.goto(`${url}/console`);
    expect(await page.evaluate('document.activeElement.labels[0].textContent')).toContain('API key'); // no key needed to get there
    await page.keyboard.type(OPS_KEY);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    expect(
      await page
        .getByRole('navigation', { name: 'Sections' })
        .getByRole('link', { name: 'Overview' })
        .getAttribute('aria-current'),
    ).toBe('page');
    const invoices = page.getByRole('list', { name: 'Invoices' });
    expect(await invoices.getByRole('listitem').filter({ hasText: 'in review' }).textContent()).toMatch(/\d/);
    expect(await page.getByRole('img', { name: /events and \d+ invoices marked paid/ }).count()).toBe(1);
    expect(await page.evaluate('document.cookie')).toBe('');
  });

  it('skips to the content with the first Tab', async () => {
    await page.goto(`${url}/console/invoices`);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('main');
  });

  it('finds an invoice by its id and reads its story in order', async () => {
    await page.getByRole('searchbox', { name: 'Search' }).fill(books.invoiceId);
    await page.keyboard.press('Enter');
    await page.getByText(/^Paid: the MoR took 29\.90 EUR on /).waitFor();
    await page.getByText('Timeline', { exact: true }).click();
    const lines = page.locator('ol.timeline > li');
    expect(await lines.count()).toBeGreaterThan(5);
    const times = await page.evaluate<string[]>(
      `[...document.querySelectorAll('ol.timeline time')].map((t) => t.dateTime)`,
    );
    expect(times).toEqual([...times].sort());
  });

  it('refunds a part after a page that shows what remains, once in spite of a double click', async () => {
    await page.goto(`${url}/console/payments/${books.paymentId}`);
    await page.getByRole('link', { name: 'Refund…' }).click();
    await page.getByLabel('Amount in EUR').fill('10,00');
    await page.getByRole('button', { name: 'Continue' }).click();
    await picture(page, 'refund-confirm-1280-light');
    expect(await page.locator('dl.facts').textContent()).toMatch(/Remains after it\s*19\.90 EUR/);
    expect(await refunds()).toEqual([]);
    await page.getByRole('button', { name: 'Refund 10.00 EUR' }).dblclick();
    await page.waitForURL(/\/console\/refunds\/ref_/);
    // The page keeps itself fresh: nobody reloads it.
    await page.getByText('Refunded 10.00 EUR').waitFor();
    expect(await refunds()).toMatchObject([{ amount: 1000, status: 'succeeded' }]);
  });

  it('sends a form twice at once where no script stops it, and gets one refund', async () => {
    const plain = await browser.newContext({ javaScriptEnabled: false });
    const other = await plain.newPage();
    await other.goto(`${url}/console/login`);
    await other.getByLabel('API key').fill(OPS_KEY);
    await other.getByRole('button', { name: 'Log in' }).click();
    await other.goto(`${url}/console/payments/${books.paymentId}/refund`);
    await other.getByLabel('Amount in EUR').fill('1.00');
    await other.getByRole('button', { name: 'Continue' }).click();
    // The second click aborts the first one's navigation: what counts is where the browser ends.
    await other.getByRole('button', { name: 'Refund 1.00 EUR' }).dblclick();
    await other.getByText('Refunded 1.00 EUR').waitFor();
    expect(other.url()).toMatch(/\/console\/refunds\/ref_/);
    expect((await refunds()).filter((r) => r['amount'] === 100)).toHaveLength(1);
    await plain.close();
  });

  it('settles a double payment by giving the second one back', async () => {
    await page.goto(`${url}/console/reviews?status=open&kind=double_payment`);
    await page.getByRole('link', { name: /taken/ }).first().click();
    const id = page.url().split('/').at(-1) ?? '';
    await picture(page, 'review-open-1280-light');
    await page.getByLabel('Note').fill('charged twice');
    await page.getByRole('button', { name: 'Refund 29.90 EUR' }).click();
    await page.getByText('Settled: double payment (refund).').waitFor();
    expect((await world.api('GET', `/v1/reviews/${id}`)).body).toMatchObject({
      status: 'resolved',
      resolution: 'refund',
      resolved_by: 'ops',
      note: 'charged twice',
    });
  });

  it('reads a parked event without what names a person, and has it decided again', async () => {
    await page.goto(`${url}/console/events?status=parked`);
    await page.getByRole('link', { name: /^ie_/ }).first().click();
    const body = (await page.locator('pre').textContent()) ?? '';
    expect(body).toContain(books.parkedMarker);
    expect(body).not.toContain('ada@example.com');
    await page.getByRole('button', { name: 'Decide it again' }).click();
    await page.getByText(/^Reprocessed \d\d:\d\d UTC: still parked because /).waitFor();
    const rows = (await world.api<{ data: Json[] }>('GET', '/v1/audit?action=event.retry')).body.data;
    expect(rows[0]).toMatchObject({ actor: 'ops', outcome: 'done' });
  });

  it('keeps the first page fresh by itself, and stops when told to', async () => {
    await page.clock.install();
    await page.goto(`${url}/console`);
    const asked = page.waitForResponse((r) => r.request().headers()['x-console-part'] === 'live');
    await page.clock.runFor(15_000);
    expect((await asked).status()).toBe(200);
    await page.getByText(/^Updated/).waitFor();
    await page.getByRole('button', { name: 'Pause updates' }).click();
    let more = 0;
    page.on('request', (r) => (more += r.headers()['x-console-part'] === undefined ? 0 : 1));
    await page.clock.runFor(120_000);
    expect(more).toBe(0);
    await page.getByRole('button', { name: 'Resume updates' }).waitFor();
  });

  it.each([
    ['1280', 'light'],
    ['1280', 'dark'],
    ['390', 'light'],
    ['390', 'dark'],
    ['320', 'light'],
  ] as const)(
    'is readable at %s pixels in the %s: nothing sticks out, and every control has a name',
    async (width, scheme) => {
      const stranger = await browser.newContext();
      const known = await context.newPage();
      const unknown = await stranger.newPage();
      for (const [name, path] of Object.entries(books.pages)) {
        const seen = name === 'login' ? unknown : known;
        await seen.setViewportSize({ width: Number(width), height: 844 });
        await seen.emulateMedia({ colorScheme: scheme });
        await seen.goto(url + path);
        const sticksOut = await seen.evaluate<number>(
          '(document.documentElement.scrollWidth - document.documentElement.clientWidth) || (main.scrollWidth - main.clientWidth)',
        );
        expect([name, sticksOut]).toEqual([name, 0]);
        const nameless = await seen.evaluate<string[]>(NAMELESS);
        expect([name, nameless]).toEqual([name, []]);
        const pale = await seen.evaluate<string[]>(PALE);
        expect([name, pale]).toEqual([name, []]);
        await picture(seen, `${name}-${width}-${scheme}`);
      }
      await known.close();
      await stranger.close();
    },
  );

  it('logs out, and the way back leads to the login form', async () => {
    await page.goto(`${url}/console`);
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByRole('button', { name: 'Log in' }).waitFor();
    await page.goBack();
    await page.reload();
    await page.getByRole('button', { name: 'Log in' }).waitFor();
    expect((await context.cookies(`${url}/console`)).length).toBe(0);
  });

  it('gave the browser nothing to complain about: no script error, no breach of the policy', () => {
    expect(complaints).toEqual([]);
  });
});

/** Controls without a name that a screen reader could say. */
const NAMELESS = `[...document.querySelectorAll('a, button, input:not([type=hidden]), select, textarea, svg[role=img]')]
  .filter((e) => !(e.textContent.trim() || e.labels?.length || e.getAttribute('aria-label')))
  .map((e) => e.outerHTML.slice(0, 100))`;

/** Text whose contrast with what lies behind it is below 4.5 to 1 (WCAG 2, AA). */
const PALE = `(() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return canvas.getImageData(0, 0, 1, 1).data;
  };
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (e) => {
    for (let at = e; at; at = at.parentElement) {
      const colour = rgba(getComputedStyle(at).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return [255, 255, 255];
  };
  const found = new Set();
  for (const e of document.querySelectorAll('body *')) {
    const text = [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim() !== '');
    if (!text || e.closest('svg, .unseen, .skip') || e.tagName === 'OPTION') continue;
    const [a, b] = [light(rgba(getComputedStyle(e).color)), light(behind(e))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) found.add(e.tagName + '.' + e.className + ' ' + ratio.toFixed(2));
  }
  return [...found];
})()`;
