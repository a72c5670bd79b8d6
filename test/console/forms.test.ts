// A refused form of the console: it keeps what the person typed, and each mistake stands at its field.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Browser, type Page } from 'playwright-core';
import { startWorld, type World } from '../support/rigs/world.js';
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

  beforeAll(async () => {
    world = await startWorld();
    url = (await world.startDaemon(furnishing(world))).url;
    books = await furnished(world);
    browser = await openBrowser(chromium ?? '');
    page = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage();
    await logIn(page, url);
  }, 400_000);
  afterAll(async () => {
    await browser?.close();
    await world?.close();
  });

  /** Sends the page's form as a browser without checks of its own, and waits for the page after it. */
  const send = async (button: string): Promise<number> => {
    await page.locator('main form').evaluateAll((forms) => {
      for (const form of forms) (form as unknown as { noValidate: boolean }).noValidate = true;
    });
    const [reply] = await Promise.all([
      page.waitForResponse((r) => r.request().isNavigationRequest()),
      page.getByRole('button', { name: button, exact: true }).click(),
    ]);
    await page.waitForLoadState();
    return reply.status();
  };

  it.each([
    ['refund', 'Continue', 'Amount in EUR', '99999,00', { Reason: 'duplicate' }],
    ['payment-link', 'Create the link', 'Days until the link expires', '400', { 'Country of the customer': 'DE' }],
    ['proforma', 'Issue the proforma invoice', 'Country', 'X', {}],
    ['difference', 'Acknowledge', 'Why this difference may stay', '  ', {}],
    ['parked-event', 'Dismiss', 'Dismiss it', '  ', {}],
  ] as const)(
    'the refused form of the page %s keeps what was typed and says the mistake at its field',
    async (name, button, field, wrong, others) => {
      await page.goto(`${url}${name === 'parked-event' ? books.pages['event'] : books.pages[name]}`);
      for (const [label, text] of Object.entries(others)) {
        const other = page.getByLabel(label);
        await ((await other.evaluate((e) => (e as unknown as { tagName: string }).tagName)) === 'SELECT'
          ? other.selectOption(text)
          : other.fill(text));
      }
      await page.getByLabel(field).fill(wrong);
      expect(await send(button)).toBe(400);
      const input = page.getByLabel(field);
      expect(await input.inputValue()).toBe(wrong);
      expect(await input.getAttribute('aria-invalid')).toBe('true');
      expect(await input.evaluate(IS_FOCUSED)).toBe(true);
      const says = (await input.getAttribute('aria-describedby'))?.split(' ').at(-1) ?? '';
      expect((await page.locator(`#${says}.mistake`).textContent())?.length).toBeGreaterThan(10);
      for (const [label, text] of Object.entries(others)) expect(await page.getByLabel(label).inputValue()).toBe(text);
      expect(await page.getByRole('alert').count()).toBe(1);
      expect(await page.locator('.live-row').count()).toBe(0); // a refresh would take the form away
    },
  );

  it('a refused day of a returned debit stands at its field, and the form still has the words above it', async () => {
    await page.goto(`${url}${books.pages['returned']}`);
    await page.getByLabel('Where you saw the return').fill('bank statement 12, line 4');
    await page.locator('#returned_on').evaluate((e) => ((e as unknown as { type: string }).type = 'text'));
    await page.locator('#returned_on').fill('2026-02-30');
    expect(await send('Record the return')).toBe(400);
    expect(await page.getByLabel('Where you saw the return').inputValue()).toBe('bank statement 12, line 4');
    expect(await page.locator('#returned_on').getAttribute('aria-invalid')).toBe('true');
  });

  it('events stay chosen after the console refused to dismiss them without a note', async () => {
    await page.goto(`${url}${books.pages['parked']}`);
    const box = page.getByRole('checkbox', { name: /^Choose: / }).first();
    await box.check();
    expect(await send('Dismiss them')).toBe(400);
    expect(
      await page
        .getByRole('checkbox', { name: /^Choose: / })
        .first()
        .isChecked(),
    ).toBe(true);
    expect(await page.getByLabel('Note').getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('Note').fill('a copy of an event that is done');
    expect(await send('Dismiss them')).toBe(200);
    await page.getByText('1 of 1 done.').waitFor();
  });

  it('a corrected refund goes on from the refused form', async () => {
    await page.goto(`${url}${books.pages['refund']}`);
    await page.getByLabel('Amount in EUR').fill('0');
    expect(await send('Continue')).toBe(400);
    await page.getByLabel('Amount in EUR').fill('1,10');
    expect(await send('Continue')).toBe(200);
    await page.getByRole('button', { name: 'Refund 1.10 EUR' }).waitFor();
  });
});

const IS_FOCUSED = (error: unknown): boolean =>
  (error as { ownerDocument: { activeElement: unknown } }).ownerDocument.activeElement === error;
