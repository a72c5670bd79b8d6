// The page that hands a client secret to the merchant's browser.
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { ConfirmPage } from '../../../../../src/frames/cli/rehearse/confirm-page.js';
import { Interrupted } from '../../../../../src/frames/cli/rehearse/state.js';

const SECRET = 'pi_1_secret_0123456789';
const SHOWN = { about: 'Sign up <b>', card: 'A card.', clientSecret: SECRET, asksCharge: true };

let page: ConfirmPage;
beforeEach(() => {
  page = new ConfirmPage('https://shop.example/confirm');
});
afterEach(() => page.close());

const send = (url: string, form: Record<string, string>) =>
  fetch(url, { method: 'POST', body: new URLSearchParams(form) });

it("the confirmation page of `crossbill rehearse` shows the client secret only at the page's own address, and to no other site", async () => {
  const url = await page.open(SHOWN);
  expect(new URL(url).hostname).toBe('127.0.0.1');
  expect(url).not.toContain(SECRET);
  expect((await fetch(new URL('/', url))).status).toBe(404);
  const seen = await fetch(url);
  const text = await seen.text();
  expect(text).toContain(`https://shop.example/confirm#client_secret=${SECRET}`);
  expect(text).toContain('Sign up &lt;b&gt;');
  expect([seen.headers.get('cache-control'), seen.headers.get('referrer-policy')]).toEqual(['no-store', 'no-referrer']);
  expect(seen.headers.get('content-security-policy')).toContain("default-src 'none'");
});

it('the confirmation page of `crossbill rehearse` accepts only a valid charge id, and answers 404 afterwards', async () => {
  const url = await page.open(SHOWN);
  expect((await send(url, { charge_id: '' })).status).toBe(400);
  expect((await send(url, { charge_id: 'no id at all' })).status).toBe(400);
  expect((await send(url, { charge_id: ' ch_1 ', payment_id: '' })).status).toBe(200);
  expect(await page.reply(new AbortController().signal)).toEqual({ chargeId: 'ch_1', paymentId: null });
  expect((await fetch(url)).status).toBe(404);
});

it('the confirmation page of `crossbill rehearse` needs no charge id for a setup intent, and an interrupt ends the wait for an answer', async () => {
  const url = await page.open({ ...SHOWN, asksCharge: false });
  const ending = new AbortController();
  const waiting = page.reply(ending.signal);
  ending.abort();
  await expect(waiting).rejects.toBeInstanceOf(Interrupted);
  expect((await send(url, {})).status).toBe(200);
});
