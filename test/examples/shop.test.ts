// The example shop in a real browser, against the sandbox and a real daemon: from the click on "Buy" to `paid` on Stripe and in the shop.
import { mkdirSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Browser, type BrowserContext, type Page } from 'playwright-core';
import type Stripe from 'stripe';
import { findChromium, openBrowser } from '../console/browser.js';
import { freePort } from '../e2e/support/daemon-process.js';
import { newSecret } from '../support/fakes/notify-receiver.js';
import { OPS_KEY, startWorld, type World } from '../support/rigs/world.js';

const chromium = findChromium();
const suite = chromium === null ? describe.skip : describe;

/** `SHOP_SCREENSHOTS=<folder> npm test -- test/examples` takes pictures. */
const PICTURES = process.env['SHOP_SCREENSHOTS'] ?? null;
const DAY_SEC = 86_400;

type Shop = { readonly url: string; close(): Promise<void> };
type Settings = Readonly<Record<string, string | number>>;

async function startShop(settings: Settings): Promise<Shop> {
  const path = '../../examples/shop/server.js'; // plain JavaScript, as a merchant may copy it: without types
  const { startShop: start } = (await import(path)) as { startShop: (settings: Settings) => Promise<Shop> };
  return start(settings);
}

suite('the example shop in a browser', () => {
  let world: World;
  let shop: Shop;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  const complaints: string[] = [];

  beforeAll(async () => {
    const notifySecret = newSecret(7);
    world = await startWorld();
    const port = await freePort();
    const daemon = await world.startDaemon({
      NOTIFY_URL: `http://127.0.0.1:${port}/hooks/crossbill`,
      NOTIFY_SECRETS: notifySecret,
      MOR_RELAY_URL: `${world.sandbox.morUrl}/relay/stripe`,
      MOR_RELAY_SECRET: world.sandbox.secrets.relaySecret,
    });
    shop = await startShop({
      port,
      stripeKey: world.sandbox.secrets.stripeApiKey,
      stripeBase: world.sandbox.stripeUrl,
      crossbillUrl: daemon.url,
      crossbillKey: OPS_KEY,
      notifySecret,
      publishableKey: world.sandbox.publishableKey,
      confirmScript: `${world.sandbox.morUrl}/_sandbox/confirm.js`,
      paymentMethodType: 'cpmt_shop',
    });
    browser = await openBrowser(chromium ?? '');
  }, 180_000);
  afterAll(async () => {
    await browser?.close();
    await shop?.close();
    await world?.close();
    expect(complaints).toEqual([]);
  });
  beforeEach(async () => {
    await context?.close();
    context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    page = await context.newPage();
    page.on('console', (m) => void (m.type() === 'error' && complaints.push(m.text())));
    page.on('pageerror', (e) => complaints.push(String(e)));
    await page.goto(shop.url);
    await page.getByRole('radio', { name: /^Card 4242/ }).waitFor();
  });

  const heading = (name: string) => page.getByRole('heading', { level: 1, name });
  const choose = (card: RegExp) => page.getByRole('radio', { name: card }).check();
  const click = (name: string) => page.getByRole('button', { name }).click();

  /** The newest invoice of the newest subscription, as Stripe has it. */
  async function onStripe(): Promise<{ invoice: Stripe.Invoice; subscription: Stripe.Subscription }> {
    const [subscription] = (await world.stripe.subscriptions.list({ limit: 1 })).data;
    if (subscription === undefined) throw new Error('Stripe has no subscription');
    const [invoice] = (await world.stripe.invoices.list({ subscription: subscription.id, limit: 1 })).data;
    if (invoice === undefined) throw new Error(`subscription ${subscription.id} has no invoice`);
    return { invoice, subscription };
  }

  /** What the MoR tried to take from a customer. */
  async function chargesOf({ customer }: Stripe.Subscription): Promise<{ tax_calculation_id: string | null }[]> {
    const id = typeof customer === 'string' ? customer : customer.id;
    const { body } = await world.control('GET', `/mor/payments?customer=${id}`);
    return body['data'] as { tax_calculation_id: string | null }[];
  }

  async function picture(name: string): Promise<void> {
    if (PICTURES === null) return;
    mkdirSync(PICTURES, { recursive: true });
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      await page.screenshot({ path: `${PICTURES}/${name}-${width}.png`, fullPage: true });
    }
  }

  it('the example shop sells a plan by card; Stripe shows the invoice paid and the shop gets invoice.paid', async () => {
    await picture('form');
    await click('Buy');
    await heading('Your payment is on its way').or(heading('Studio is yours')).waitFor();
    await world.morActs();
    await heading('Studio is yours').waitFor();
    await page.getByText('invoice.paid', { exact: true }).waitFor();
    const { invoice, subscription } = await onStripe();
    expect(invoice).toMatchObject({ status: 'paid', amount_due: 2990, amount_paid: 2990 });
    expect(subscription.status).toBe('active');
    const [signup] = (await world.api<{ data: { invoice_id: string; amount: number }[] }>('GET', '/v1/payments')).body
      .data;
    expect(signup).toMatchObject({ invoice_id: invoice.id, amount: 2990 });
    const [charged] = await chargesOf(subscription);
    expect(charged?.tax_calculation_id).toEqual(expect.any(String));
    await picture('account');
  });

  it('in the example shop, a plan ends after a full refund of its invoice, and not after a refund of a part', async () => {
    await click('Buy');
    await heading('Your payment is on its way').or(heading('Studio is yours')).waitFor();
    await world.morActs();
    await heading('Studio is yours').waitFor();
    const [payment] = (await world.api<{ data: { id: string }[] }>('GET', '/v1/payments')).body.data;
    await world.control('POST', '/mor/refunds', { payment_id: payment?.id, amount: 500 });
    await page.getByText('refund.succeeded', { exact: true }).waitFor();
    await heading('Studio is yours').waitFor();
    await world.control('POST', '/mor/refunds', { payment_id: payment?.id });
    await heading('Studio has ended').waitFor();
    await picture('ended');
  });

  it('in the example shop, a refused 3-D Secure check charges nothing, and an approved check pays the invoice', async () => {
    await choose(/3-D Secure/);
    await click('Buy');
    await page.getByRole('dialog', { name: '3-D Secure' }).waitFor();
    await picture('3ds');
    await click('Refuse');
    await page.getByRole('alert').getByText('The payment was not approved at the bank.').waitFor();
    const { invoice } = await onStripe();
    expect(invoice.status).toBe('open');
    await click('Buy');
    await click('Approve');
    await heading('Studio is yours').or(heading('Your payment is on its way')).waitFor();
    await world.morActs();
    await heading('Studio is yours').waitFor();
    expect((await onStripe()).invoice).toMatchObject({ id: invoice.id, status: 'paid' });
  });

  it('the example shop reports a declined card, and another card pays the same order', async () => {
    await choose(/declined/);
    await click('Buy');
    await page.getByRole('alert').getByText('Your card was declined.').waitFor();
    await picture('declined');
    const before = await onStripe();
    expect(before.invoice.status).toBe('open');
    await choose(/^Card 4242/);
    await click('Buy');
    await heading('Studio is yours').or(heading('Your payment is on its way')).waitFor();
    await world.morActs();
    await heading('Studio is yours').waitFor();
    const after = await onStripe();
    expect([after.subscription.id, after.invoice.id]).toEqual([before.subscription.id, before.invoice.id]);
    expect(after.invoice.status).toBe('paid');
  });

  it("a second click after a lost answer completes the example shop's order without a second charge", async () => {
    await page.route('**/complete', (route) => route.abort(), { times: 1 });
    await click('Buy');
    await page.getByRole('alert').getByText('Your payment was taken: try again, it is not taken twice.').waitFor();
    expect(complaints.splice(0)).toEqual([expect.stringContaining('net::ERR_FAILED')]);
    await click('Buy');
    await heading('Studio is yours').or(heading('Your payment is on its way')).waitFor();
    await world.morActs();
    await heading('Studio is yours').waitFor();
    const { invoice, subscription } = await onStripe();
    expect(invoice.status).toBe('paid');
    expect(await chargesOf(subscription)).toHaveLength(1);
  });

  it('the example shop starts a trial without a charge, charges when the trial ends, and offers a payment link after a decline', async () => {
    await page.getByRole('radio', { name: /^Solo/ }).check();
    await page.getByRole('checkbox', { name: /Try it for 14 days/ }).check();
    await click('Start the trial');
    await heading('Your Solo trial has begun').waitFor();
    const { subscription, invoice } = await onStripe();
    expect([subscription.status, invoice.amount_due]).toEqual(['trialing', 0]);
    await picture('trial');

    await world.advance(14 * DAY_SEC + 10);
    await world.advance(3_700); // Stripe's draft hour
    await heading('Solo is yours').waitFor();
    expect((await onStripe()).invoice).toMatchObject({ status: 'paid', amount_paid: 1200 });

    await world.control('POST', '/cards', { customer_id: subscription.customer, outcome: 'decline' });
    await world.renew(subscription.id);
    await world.advance(3_700);
    await heading('A payment did not go through').waitFor();
    await picture('failed');
    await click('Pay by link');
    await page.getByText('12.00 EUR').waitFor();
    await picture('link');
    await click('Pay');
    await heading('Solo is yours').waitFor();
    expect((await onStripe()).invoice.status).toBe('paid');
  });

  it('after a hard decline the example shop asks for another card, and the MoR charges the open invoice to that card', async () => {
    await click('Buy');
    await heading('Your payment is on its way').or(heading('Studio is yours')).waitFor();
    await world.morActs();
    await heading('Studio is yours').waitFor();
    const { subscription } = await onStripe();
    await world.control('POST', '/cards', { customer_id: subscription.customer, outcome: ['decline:expired_card'] });
    await world.renew(subscription.id);
    await world.advance(3_700);
    await heading('A payment did not go through').waitFor();
    await page.getByText('customer.method_needed', { exact: true }).waitFor();
    await click('Update payment method');
    await choose(/declined/);
    await click('Save this card');
    await page.getByRole('alert').getByText('Your card was declined.').waitFor();
    await choose(/^Card 4242/);
    await picture('another-card');
    await click('Save this card');
    await page.getByText('Your new card is saved.').waitFor();
    await world.morActs();
    await heading('Studio is yours').waitFor();
    const { invoice } = await onStripe();
    expect(invoice).toMatchObject({ status: 'paid', billing_reason: 'subscription_cycle' });
    expect(await chargesOf(subscription)).toHaveLength(3);
  });

  it('the example shop shows a bank debit after a trial as on its way until the debit settles, and then as paid', async () => {
    await page.getByRole('checkbox', { name: /Try it for 14 days/ }).check();
    await choose(/^Bank debit/);
    await click('Start the trial');
    await heading('Your Studio trial has begun').waitFor();
    await world.advance(14 * DAY_SEC + 3_700);
    await heading('Your payment is on its way').waitFor();
    const { invoice } = await onStripe();
    expect(invoice).toMatchObject({ status: 'open', amount_due: 2990 });
    await world.advance(7 * DAY_SEC);
    await heading('Studio is yours').waitFor();
    expect((await onStripe()).invoice).toMatchObject({ id: invoice.id, status: 'paid' });
  });

  it('the example shop answers 400 to a notification with a wrong signature', async () => {
    const headers = { 'content-type': 'application/json', 'webhook-id': 'msg_1', 'webhook-signature': 'v1,AAAA' };
    const timestamp = String(Math.floor(Date.now() / 1000));
    const reply = await fetch(`${shop.url}/hooks/crossbill`, {
      method: 'POST',
      headers: { ...headers, 'webhook-timestamp': timestamp },
      body: '{"type":"invoice.paid","data":{}}',
    });
    expect(reply.status).toBe(400);
  });
});
