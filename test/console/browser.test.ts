// The console in a real browser: by keyboard, on a phone, light and dark; an operator's day from the login to the logout.
import { mkdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import axe from 'axe-core';
import { type Browser, type BrowserContext, type Page } from 'playwright-core';
import { csvObjects } from '../support/csv.js';
import { type Json, OPS_KEY, startWorld, type World } from '../support/rigs/world.js';
import { findChromium, openBrowser } from './browser.js';
import { furnished, type Furnished, furnishing } from './furnish.js';
import { consolePages, isOf } from './routes.js';
import { Visitor } from './visitor.js';

const chromium = findChromium();
const suite = chromium === null ? describe.skip : describe;
if (chromium === null) console.warn('no Chromium is here and none could be installed: the browser tests are skipped');

/** `npm run screenshots` sets the folder: every page, wide in the light and on a phone in the dark. */
const PICTURES = process.env['CONSOLE_SCREENSHOTS'] ?? null;

async function picture(page: Page, name: string): Promise<void> {
  if (PICTURES === null) return;
  mkdirSync(PICTURES, { recursive: true });
  await page.screenshot({ path: `${PICTURES}/${name}.png`, fullPage: true });
}

suite('an operator in a browser', () => {
  let world: World;
  let url: string;
  let books: Furnished;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  const complaints: string[] = [];

  beforeAll(async () => {
    world = await startWorld();
    url = (await world.startDaemon(furnishing(world))).url;
    books = await furnished(world);
    browser = await openBrowser(chromium ?? '');
    context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    page = await context.newPage();
    page.on('console', (m) => {
      // The browser reports a 4xx there too; some of these tests want one.
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

  it('an operator logs in to the console by keyboard alone and sees the overview of the day', async () => {
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
    for (const name of ['Needs you', 'Money today', 'Renewals paid', 'Money by day'])
      expect([name, await page.getByRole('region', { name }).count()]).toEqual([name, 1]);
    expect(await page.getByRole('img', { name: /taken and .* refunded in 30 days/ }).count()).toBe(1);
    expect(await page.evaluate('document.cookie')).toBe('');
  });

  it('the first Tab key on a console page offers to skip to the content', async () => {
    await page.goto(`${url}/console/invoices`);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('main');
  });

  it('an operator finds an invoice by its id in the console and reads its timeline in order', async () => {
    await page.getByRole('searchbox', { name: 'Search' }).fill(books.invoiceId);
    await page.keyboard.press('Enter');
    await page.getByText(/^Paid: the MoR took 29\.90 EUR on /).waitFor();
    const lines = page.locator('ol.timeline > li');
    expect(await lines.count()).toBeGreaterThan(5);
    const times = await page.evaluate<string[]>(
      `[...document.querySelectorAll('ol.timeline time')].map((t) => t.dateTime)`,
    );
    expect(times).toEqual([...times].sort());
  });

  it("an operator's double click on the console's refund button refunds a part of a payment once", async () => {
    await page.goto(`${url}/console/payments/${books.paymentId}`);
    await page.getByRole('link', { name: 'Refund…' }).click();
    await page.getByLabel('Amount in EUR').fill('10,00');
    await page.getByRole('button', { name: 'Continue' }).click();
    await picture(page, 'refund-confirm-1280-light');
    expect(await page.locator('dl.facts').textContent()).toMatch(/Left after this refund\s*19\.90 EUR/);
    expect(await refunds()).toEqual([]);
    await page.getByRole('button', { name: 'Refund 10.00 EUR' }).dblclick();
    await page.waitForURL(/\/console\/refunds\/ref_/);
    // The page keeps itself fresh: nobody reloads it.
    await page.getByText('Refunded 10.00 EUR').waitFor();
    expect(await refunds()).toMatchObject([{ amount: 1000, status: 'succeeded' }]);
  });

  it("in a browser without JavaScript, a double click on the console's refund button makes one refund", async () => {
    const plain = await browser.newContext({ javaScriptEnabled: false });
    const other = await plain.newPage();
    await other.goto(`${url}/console/login`);
    await other.getByLabel('API key').fill(OPS_KEY);
    await other.getByRole('button', { name: 'Log in' }).click();
    await other.goto(`${url}/console/payments/${books.paymentId}/refund`);
    await other.getByLabel('Amount in EUR').fill('1.00');
    await other.getByRole('button', { name: 'Continue' }).click();
    // The second click aborts the first one's navigation: only the browser's last page counts.
    await other.getByRole('button', { name: 'Refund 1.00 EUR' }).dblclick();
    await other.getByText('Refunded 1.00 EUR').waitFor();
    expect(other.url()).toMatch(/\/console\/refunds\/ref_/);
    expect((await refunds()).filter((r) => r['amount'] === 100)).toHaveLength(1);
    await plain.close();
  });

  it('an operator settles a double payment in the console with a refund of the second payment', async () => {
    await page.goto(`${url}/console/reviews?status=open&kind=double_payment`);
    await page
      .getByRole('link', { name: /^Double payment: / })
      .first()
      .click();
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

  it('the console shows a parked event without e-mail addresses, and an operator lets Crossbill decide the event again', async () => {
    await page.goto(`${url}/console/events?status=parked`);
    await page.getByRole('cell').getByRole('link').first().click();
    const body = (await page.locator('pre').textContent()) ?? '';
    expect(body).toContain(books.parkedMarker);
    expect(body).not.toContain('ada@example.com');
    await page.getByRole('button', { name: 'Decide it again' }).click();
    await page.getByText(/^Reprocessed \d\d:\d\d UTC: still parked because /).waitFor();
    const rows = (await world.api<{ data: Json[] }>('GET', '/v1/audit?action=event.retry')).body.data;
    expect(rows[0]).toMatchObject({ actor: 'ops', outcome: 'done' });
  });

  it("the console's overview refreshes every 15 seconds and stops on request", async () => {
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

  it("the console's page of a dispute shows its amount, deadline, link to the MoR and review item", async () => {
    await page.goto(`${url}/console/disputes?status=action_needed`);
    await page.locator('main').getByRole('link', { name: '450.00 EUR' }).click();
    await page.getByText(/^The customer's bank disputes the payment: evidence is due by .*, 5 days left\./).waitFor();
    const there = page.locator('.acts a').first();
    expect(await there.textContent()).toContain('Send evidence');
    expect(await there.getAttribute('href')).toBe('https://dashboard.example/disputes/1');
    expect(await page.getByRole('region', { name: 'Timeline' }).textContent()).toContain(books.disputeId);
    const own = page.url();
    expect(await page.locator('dl.facts .deadline').count()).toBe(1);
    await page.getByRole('link', { name: 'Evidence sent: close it…' }).click(); // it asks first
    await page.getByRole('button', { name: 'Evidence sent: close it' }).waitFor();
    await page.getByRole('link', { name: 'Cancel' }).click();
    expect(page.url()).toBe(own);
    await page.getByRole('link', { name: 'Settle the review item…' }).click();
    await page.locator('dl.facts').getByRole('link', { name: books.disputeId }).click();
    expect(page.url()).toBe(own);
    await page.locator(`main a[href="/console/invoices/${books.disputedInvoice}"]`).first().click();
    await page.getByRole('link', { name: 'See the dispute' }).click();
    expect(page.url()).toBe(own);
    await page.goto(`${url}/console`); // another page, so the wait below sees the search end
    await page.getByRole('searchbox').fill(books.disputeId);
    await page.keyboard.press('Enter');
    await page.waitForURL(own);
  });

  it("the console's page of retries shows the planned charges, and filters its rows by the query in the URL", async () => {
    const v = await new Visitor(url).login(OPS_KEY);
    const plain = async (path: string): Promise<string> =>
      (await v.get(path)).text.replaceAll(/<[^>]*>|\s+/g, ' ').replaceAll(/ +/g, ' ');
    const retries = await plain('/console/retries');
    expect(retries).toContain('the MoR charges again after 3 days, then the MoR charges again 5 days after that');
    expect(retries).toContain('the invoice is marked uncollectible on Stripe');
    const planned = await plain('/console/retries?state=planned&kind=soft&currency=USD');
    expect(planned).toMatch(/1 row: 1,299\.00 USD remaining to be paid.* planned next try \d/);
    expect(await plain('/console/retries?state=collected')).toContain('No refused renewals match these filters.');
    expect(await plain('/console/enrolment?by=kei&move=no_renewal_yet')).toMatch(
      /cus_shown0000002 .*cus_shown0000001 /,
    );
    expect(await plain('/console/enrolment?move=renewed')).not.toContain('cus_shown');
    expect(await plain('/console/enrolment/outside')).toMatch(/1 row: 19\.90 EUR.*cus_left000000001/);
  });

  it("the console's overview shows the money of 30 days in the chosen currency as a chart and as a table", async () => {
    await page.goto(`${url}/console?currency=EUR`);
    const part = page.getByRole('region', { name: 'Money by day' });
    await part.getByRole('img', { name: /^[\d,. ]+ EUR taken and [\d,. ]+ EUR refunded in 30 days\.$/ }).waitFor();
    expect(await part.locator('details tbody tr').count()).toBe(30);
    expect(await part.getByRole('link', { name: 'EUR' }).getAttribute('aria-current')).toBe('true');
  });

  it('the console exports the filtered rows of every list as CSV', async () => {
    const v = await new Visitor(url).login(OPS_KEY);
    const csv = async (path: string): Promise<Record<string, string>[]> => {
      const seen = await v.get(`${path}${path.includes('?') ? '&' : '?'}format=csv`);
      expect(seen.headers.get('content-type')).toContain('text/csv');
      return csvObjects(seen.text);
    };
    const first = async (path: string): Promise<Record<string, string> | undefined> => (await csv(path))[0];
    expect(await first('/console/disputes?kind=dispute')).toMatchObject({
      id: books.disputeId,
      amount: '450.00',
      currency: 'EUR',
      status: 'action_needed',
      kind: 'dispute',
      invoice_id: books.disputedInvoice,
    });
    expect(await first('/console/retries?state=planned')).toMatchObject({
      id: books.openId,
      amount_due: '1299.00',
      currency: 'USD',
      state: 'planned',
    });
    expect(await first('/console/enrolment?by=kei')).toMatchObject({
      customer_id: 'cus_shown0000002',
      mor_customer_id: 'mcus_7d42',
      move: 'no_renewal_yet',
      linked_by: 'kei',
      reference: 'batch 1',
    });
    expect(await first('/console/enrolment/outside')).toMatchObject({
      id: 'in_left0000000001',
      number: 'LEFT-0001',
      customer_id: 'cus_left000000001',
      amount_due: '19.90',
      currency: 'EUR',
      stripe_status: 'open',
    });
    expect((await csv('/console/events?status=parked')).every((e) => e['status'] === 'parked')).toBe(true);
    expect(await first('/console/reviews?status=&kind=dispute')).toMatchObject({ kind: 'dispute', status: 'open' });
    const login = await first('/console/audit?action=console.login');
    expect(login).toMatchObject({ actor: 'ops', role: 'ops', action: 'console.login' });
    const day = String(login?.['at']).slice(0, 10);
    const ofDay = await csv(`/console/audit?since=${day}&until=${day}`);
    expect(ofDay).toContainEqual(login);
    expect(ofDay.every((l) => l['at']?.startsWith(day))).toBe(true);
    expect(await csv(`/console/audit?until=2020-01-01`)).toEqual([]);
    expect(await first('/console/customers?customer_id=cus_shown0000002')).toMatchObject({
      customer_id: 'cus_shown0000002',
      reference: 'batch 1',
      linked_by: 'kei',
      mor_customer_id: 'mcus_7d42',
    });
    expect(await first('/console/notifications?status=dead')).toMatchObject({ status: 'dead' });
    expect(await csv('/console/notifications?until=2020-01-01')).toEqual([]);
    expect(await first('/console/verify')).toMatchObject({ kind: 'no_verdict' });
    expect(await csv('/console/reviews?status=&kind=dispute&until=2020-01-01')).toEqual([]);
  });

  /** With the refund made above. */
  const pages = async (): Promise<Readonly<Record<string, string>>> => ({
    ...books.pages,
    'refund-done': `/console/refunds/${String((await refunds())[0]?.['id'])}`,
  });

  it('the browser test visits every page of the console', async () => {
    const addresses = Object.values(await pages());
    const missing = consolePages().filter((route) => !addresses.some((address) => isOf(route, address)));
    expect(missing).toEqual([]);
  });

  it('each console page passes axe-core, fits 1280, 390 and 320 pixels in light and dark, and has at most 100 KB', async () => {
    const stranger = await browser.newContext();
    const known = await context.newPage();
    const unknown = await stranger.newPage();
    const faults: string[] = [];
    for (const [name, path] of Object.entries(await pages())) {
      const seen = name === 'login' ? unknown : known;
      const reply = await seen.goto(url + path);
      const bytes = ((await reply?.body()) ?? []).length;
      const status = reply?.status();
      if (status !== (name === 'not-found' ? 404 : 200)) faults.push(`${name} is answered ${status}`);
      if (bytes > 100_000) faults.push(`${name} has ${bytes} bytes`);
      await seen.evaluate(axe.source);
      for (const [width, scheme, only] of LOOKS) {
        await seen.setViewportSize({ width, height: 844 });
        await seen.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
        const where = `${name} at ${width} pixels, ${scheme}`;
        const sticksOut = await seen.evaluate<number>(
          '(document.documentElement.scrollWidth - document.documentElement.clientWidth) || (main.scrollWidth - main.clientWidth)',
        );
        if (sticksOut !== 0) faults.push(`${where}: ${sticksOut} pixels stick out`);
        if (only === 'no axe') continue;
        faults.push(...(await seen.evaluate<readonly string[]>(axeOf(only))).map((fault) => `${where}: ${fault}`));
        await picture(seen, `${name}-${width}-${scheme}`);
      }
    }
    await known.close();
    await stranger.close();
    expect(faults).toEqual([]);
  }, 400_000);

  it("an operator logs out of the console, and the browser's back button leads to the login form", async () => {
    await page.goto(`${url}/console`);
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByRole('button', { name: 'Log in' }).waitFor();
    await page.goBack();
    await page.reload();
    await page.getByRole('button', { name: 'Log in' }).waitFor();
    expect((await context.cookies(`${url}/console`)).length).toBe(0);
  });

  it('the browser reports no script error in the console and no breach of its Content-Security-Policy', () => {
    expect(complaints).toEqual([]);
  });
});

/** At each width it looks at everything once, and in the other scheme at everything a colour can spoil. */
const LOOKS = [
  [1280, 'light', 'all'],
  [1280, 'dark', 'colours'],
  [390, 'light', 'colours'],
  [390, 'dark', 'all'],
  [320, 'light', 'no axe'], // the narrowest page without sideways scrolling (WCAG 2.1, 1.4.10)
] as const;

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const COLOURS = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] };

/** Violations of any impact, each with its first elements. */
const axeOf = (only: 'all' | 'colours'): string => `axe
  .run(document, { resultTypes: ['violations'], runOnly: ${JSON.stringify(only === 'all' ? TAGS : COLOURS)} })
  .then(({ violations }) => violations.map((v) => v.id + ' (' + v.impact + '): ' + v.nodes.slice(0, 4)
    .map((n) => n.html.slice(0, 160) + ' ' + (n.any[0] ?? n.all[0] ?? n.none[0])?.message).join(' | ')))`;
