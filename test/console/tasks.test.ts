// A person's tasks at the console, counted in clicks: why is an invoice unpaid, a part refund, a review item settled.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Browser, type BrowserContext, type Locator, type Page } from 'playwright-core';
import { type Json, startWorld, type World } from '../support/rigs/world.js';
import { findChromium, logIn, openBrowser } from './browser.js';
import { conflictingEvents, status, type StandingSetup } from './standing.js';

const chromium = findChromium();
const suite = chromium === null ? describe.skip : describe;

suite('in a browser', () => {
  let world: World;
  let url: string;
  let books: StandingSetup;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let clicks = 0;

  beforeAll(async () => {
    world = await startWorld();
    url = (await world.startDaemon()).url;
    books = await status(world);
    browser = await openBrowser(chromium ?? '');
    context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    page = await context.newPage();
    await logIn(page, url);
  }, 300_000);
  afterAll(async () => {
    await browser?.close();
    await world?.close();
  });

  const start = async (path: string): Promise<void> => {
    await page.goto(`${url}${path}`);
    clicks = 0;
  };
  const click = async (what: Locator): Promise<void> => {
    clicks += 1;
    await what.first().click();
  };
  const main = (): Locator => page.locator('main');
  const open = async (): Promise<Json[]> =>
    (await world.api<{ data: Json[] }>('GET', '/v1/reviews?status=open&order=due')).body.data;

  it('a person learns the reason for an unpaid invoice in two clicks in the console', async () => {
    await start('/console');
    await click(page.getByRole('navigation').getByRole('link', { name: 'Invoices' }));
    await click(main().locator(`a[href$="/console/invoices/${books.openId}"]`));
    await page.getByText(/^Not paid: .*\(\d+ \w+, first try; .*\)\.$/).waitFor();
    expect(clicks).toBe(2);
    expect(await page.getByRole('region', { name: 'Timeline' }).isVisible()).toBe(true);
  });

  it('a person refunds a part of a payment in four clicks in the console and sees the result', async () => {
    await start('/console/invoices');
    await click(main().locator(`a[href$="/console/invoices/${books.invoiceId}"]`));
    await click(page.getByRole('link', { name: 'Refund…' }));
    await page.getByLabel('Amount in EUR').fill('12,50');
    await click(page.getByRole('button', { name: 'Continue' }));
    expect(await page.locator('dl.facts').textContent()).toMatch(/Left after this refund\s*17\.40 EUR/);
    await click(page.getByRole('button', { name: 'Refund 12.50 EUR' }));
    await page.getByText(/^Refunded 12\.50 EUR/).waitFor();
    expect(clicks).toBe(4);
    expect(await page.getByRole('alert').count()).toBe(0);
    const payment = await world.api('GET', `/v1/payments/${books.paymentId}`);
    expect(payment.body['refunds']).toMatchObject([{ amount: 1250, status: 'succeeded' }]);
  });

  it('a person settles a review item in two clicks in the console and gets the next item', async () => {
    for (const n of [1, 2, 3]) await conflictingEvents(world, `evt_twice${n}`);
    const before = await open();
    const twice = before.find((r) => r['kind'] === 'double_payment');
    await start('/console/reviews');
    await click(main().locator(`a[href$="${String(twice?.['id'])}"]`));
    await click(page.getByRole('button', { name: /^Refund \d/ }));
    await page.getByText('Settled: double payment (refund).').waitFor();
    expect(clicks).toBe(2);
    const done = (await world.api('GET', `/v1/reviews/${String(twice?.['id'])}`)).body;
    expect(done).toMatchObject({ status: 'resolved', resolution: 'refund', resolved_by: 'ops', note: null });
    const at = before.findIndex((r) => r['id'] === twice?.['id']);
    const next = before[at + 1] ?? before[0];
    expect(page.url()).toContain(`/console/reviews/${String(next?.['id'])}?settled=`);
  });

  it("the keys j and k move through the console's review items, and e accepts the proposal", async () => {
    const ids = (await open()).map((r) => String(r['id']));
    const at = ids.findIndex((_, i) => i > 0 && i < ids.length - 1);
    await start(`/console/reviews/${ids[at] ?? ''}`);
    await page.keyboard.press('j');
    await page.waitForURL(`**/${ids[at + 1] ?? ''}`);
    await page.keyboard.press('k');
    await page.waitForURL(`**/${ids[at] ?? ''}`);
    const conflict = (await open()).find((r) => r['kind'] === 'conflicting_event');
    await page.goto(`${url}/console/reviews/${String(conflict?.['id'])}`);
    await page.getByLabel('Note').fill('asked Stripe: e, j and k are letters here');
    await page.keyboard.press('Escape');
    await page.evaluate('document.activeElement.blur()');
    await page.keyboard.press('e');
    await page.getByText('Settled: conflicting event (dismiss).').waitFor();
    expect((await world.api('GET', `/v1/reviews/${String(conflict?.['id'])}`)).body).toMatchObject({
      resolution: 'dismiss',
      note: 'asked Stripe: e, j and k are letters here',
    });
  });

  it('a person settles many review items with one checkbox of the console and sees each item named', async () => {
    const ids = (await open()).filter((r) => r['kind'] === 'conflicting_event').map((r) => r['id']);
    expect(ids).toHaveLength(2);
    await start('/console/reviews?status=open&kind=conflicting_event');
    await page.getByLabel('Choose all on this page').check();
    await page.getByText('2 chosen').waitFor();
    await page.getByLabel('Note').fill('both asked');
    await page.getByRole('button', { name: 'Dismiss them' }).click();
    await page.getByText('2 of 2 done.').waitFor();
    expect(await main().getByRole('listitem').count()).toBe(2);
    for (const id of ids)
      expect((await world.api('GET', `/v1/reviews/${String(id)}`)).body).toMatchObject({ note: 'both asked' });
  });

  /** By Tab alone, each stop with a visible focus; `from` the content on, as the first Tab of a page offers. */
  const tabTo = async (what: Locator, from: 'content' | 'here' = 'content'): Promise<void> => {
    if (from === 'content') {
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
    }
    for (let n = 0; n < 60; n++) {
      await page.keyboard.press('Tab');
      expect(await page.evaluate<string | null>(UNSEEN_FOCUS)).toBeNull();
      if ((await what.count()) > 0 && (await what.first().evaluate(IS_FOCUSED))) return;
    }
    throw new Error(`60 times Tab, and not at ${String(what)}`);
  };
  const enter = (): Promise<void> => page.keyboard.press('Enter');

  it('a person does six daily tasks in the console by keyboard alone, always with a visible focus', async () => {
    await conflictingEvents(world, 'evt_keys');
    await start('/console'); // why is an invoice unpaid
    await tabTo(page.getByRole('navigation').getByRole('link', { name: 'Invoices' }), 'here');
    await enter();
    await page.waitForURL('**/console/invoices');
    await tabTo(main().locator(`a[href$="/console/invoices/${books.openId}"]`));
    await enter();
    await page.getByText(/^Not paid: /).waitFor();

    await start(`/console/invoices/${books.invoiceId}`); // a part refund
    await tabTo(page.getByRole('link', { name: 'Refund…' }));
    await enter();
    await page.waitForURL('**/refund');
    await tabTo(page.getByLabel('Amount in EUR'));
    await page.keyboard.type('1,40');
    await enter();
    const give = page.getByRole('button', { name: 'Refund 1.40 EUR' });
    await give.waitFor();
    await tabTo(give);
    await enter();
    await page.getByText(/^Refunded 1\.40 EUR/).waitFor();

    await start('/console/reviews?status=open&kind=conflicting_event'); // a review item
    const [item] = (await open()).filter((r) => r['kind'] === 'conflicting_event').map((r) => String(r['id']));
    await tabTo(main().locator(`a[href$="${item}"]`));
    await enter();
    await page.waitForURL(`**/${item}`);
    await page.keyboard.press('e');
    await page.getByText('Settled: conflicting event (dismiss).').waitFor();

    await start('/console'); // a customer by e-mail
    await page.keyboard.press('/');
    await page.keyboard.type('grace@example.com');
    await enter();
    await page.waitForURL('**/console/customers/cus_*');
    expect(await page.locator('dl.facts').textContent()).toContain('grace@example.com');

    await start('/console'); // the money of last month, and its CSV
    await tabTo(page.getByRole('link', { name: 'Trial balance' }), 'here');
    await enter();
    await page.waitForURL('**/trial-balance');
    await tabTo(page.getByRole('link', { name: 'The month before' }));
    await enter();
    await page.waitForURL('**/trial-balance?month=*');
    await tabTo(page.getByRole('link', { name: 'CSV' }));
    const file = page.waitForEvent('download');
    await enter();
    expect((await file).suggestedFilename()).toMatch(/\.csv$/);
    expect(clicks).toBe(0);
  });
});

const IS_FOCUSED = (error: unknown): boolean =>
  (error as { ownerDocument: { activeElement: unknown } }).ownerDocument.activeElement === error;

/** Null: the focused element shows it by an outline, and stands in view. */
const UNSEEN_FOCUS = `(() => {
  const at = document.activeElement;
  if (at === null || at === document.body) return null; // between the last stop and the first
  const { outlineStyle, outlineWidth } = getComputedStyle(at);
  const box = at.getBoundingClientRect();
  const shown = box.width > 1 && box.height > 1 && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
  return outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2 && shown ? null : at.outerHTML.slice(0, 200);
})()`;
