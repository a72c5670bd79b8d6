// The console with content of real length, at five widths: nothing lies over its neighbour, no list scrolls sideways, and
// axe finds nothing, light and dark.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import axe from 'axe-core';
import { type Browser, type Page } from 'playwright-core';
import { startWorld, type World } from '../support/rigs/world.js';
import { findChromium, logIn, openBrowser } from './browser.js';
import { furnished, type Furnished, furnishing } from './furnish.js';
import { lengthen, LONG_NAME } from './real-content.js';

const chromium = findChromium();
const suite = chromium === null ? describe.skip : describe;

const WIDTHS = [390, 768, 1024, 1280, 1920];
/** A page of each make; browser.test.ts has axe look at all pages. */
const WITH_AXE = new Set([
  'invoices',
  'invoice-open',
  'payment',
  'refund',
  'review',
  'dispute',
  'ledger',
  'customer',
  'trial-balance',
  'ask-card',
]);

suite('in a browser', () => {
  let world: World;
  let url: string;
  let books: Furnished;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    world = await startWorld();
    url = (await world.startDaemon(furnishing(world))).url;
    books = await lengthen(world, await furnished(world));
    browser = await openBrowser(chromium ?? '');
    page = await (
      await browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce' })
    ).newPage();
    await logIn(page, url);
  }, 400_000);
  afterAll(async () => {
    await browser?.close();
    await world?.close();
  });

  it('the content of real length is on the pages', async () => {
    await page.goto(`${url}/console/payments`);
    expect(await page.getByRole('link', { name: LONG_NAME }).count()).toBeGreaterThan(2);
    expect(await page.getByText('1,234,567,890.12 EUR').count()).toBeGreaterThan(2);
    await page.goto(`${url}${books.pages['invoice-open']}`);
    expect(await page.locator('.pay-link code').count()).toBe(1);
  });

  it('with content of real length, no console page scrolls sideways, no part lies over another, and axe finds nothing', async () => {
    const faults: string[] = [];
    for (const [name, path] of Object.entries(books.pages)) {
      if (name === 'login') continue; // it has no content
      await page.goto(url + path);
      await page.evaluate(axe.source);
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        const where = `${name} at ${width} pixels`;
        faults.push(...(await page.evaluate<readonly string[]>(MISPLACED)).map((fault) => `${where}: ${fault}`));
        if (!WITH_AXE.has(name)) continue;
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          const found = await page.evaluate<readonly string[]>(axeOf(colorScheme === 'light' ? TAGS : COLOURS));
          faults.push(...found.map((fault) => `${where}, ${colorScheme}: ${fault}`));
        }
      }
    }
    expect(faults).toEqual([]);
  }, 900_000);
});

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
const COLOURS = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] };

const axeOf = (only: unknown): string => `axe
  .run(document, { resultTypes: ['violations'], runOnly: ${JSON.stringify(only)} })
  .then(({ violations }) => violations.map((v) => v.id + ': ' + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160)).join(' | ')))`;

/** The page or a list that scrolls sideways, a part wider than its place, a cell with more than fits, and a name cut to letters. */
const MISPLACED = `(() => {
  const found = [];
  const page = document.documentElement;
  if (page.scrollWidth > page.clientWidth) found.push('the page scrolls by ' + (page.scrollWidth - page.clientWidth));
  for (const list of document.querySelectorAll('.rows'))
    if (list.scrollWidth > list.clientWidth + 1)
      found.push('the list scrolls by ' + (list.scrollWidth - list.clientWidth) + ': ' + list.querySelector('caption')?.textContent.trim());
  for (const part of document.querySelectorAll('main *')) {
    const place = part.parentElement;
    if (part.closest('.unseen, thead, svg, .rows, .sideways') || place === null || !part.checkVisibility()) continue;
    if ([part, place].some((e) => getComputedStyle(e).display === 'inline') || getComputedStyle(part).position === 'absolute') continue;
    const [own, given] = [part.getBoundingClientRect(), place.getBoundingClientRect()];
    if (own.width > 1 && given.width > 1 && own.right > given.right + 1.5) found.push('wider than its place: ' + part.outerHTML.slice(0, 120));
  }
  for (const cell of document.querySelectorAll('.rows td > div'))
    if (cell.offsetWidth > 0 && cell.scrollWidth > cell.clientWidth + 1) found.push('more than fits: ' + cell.innerHTML.trim().slice(0, 120));
  for (const name of document.querySelectorAll('td .customer'))
    if (name.clientWidth > 0 && name.clientWidth < 56 && name.scrollWidth > name.clientWidth + 1)
      found.push('only some letters of a name: ' + name.textContent.trim());
  return [...new Set(found)].slice(0, 5);
})()`;
