// A daemon dies after sending a notification and before the answer: it sends the same bytes again under the same id.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newSecret, NotifyReceiver } from '../support/fakes/notify-receiver.js';
import { startWorld, type World } from '../support/rigs/world.js';
import { DaemonProcess, ensureBuilt } from './support/daemon-process.js';

const SECRET = newSecret(4);

describe('a notification', () => {
  let world: World;
  let receiver: NotifyReceiver;
  let daemon: DaemonProcess;

  beforeAll(async () => {
    await ensureBuilt();
    receiver = await NotifyReceiver.open();
    world = await startWorld();
    const first = await world.startDaemon();
    await first.stop();
    await world.control('DELETE', '/stripe/webhook-endpoints/all');
    const notify = { NOTIFY_URL: receiver.url, NOTIFY_SECRETS: SECRET };
    daemon = await DaemonProcess.on({ ...world.env, ...notify, LOG_LEVEL: 'info' });
    world.sandbox.stripe.state.addEndpoint(`${daemon.url}/webhooks/stripe`, world.sandbox.secrets.stripeWebhookSecret);
    await daemon.start();
  }, 300_000);
  afterAll(async () => {
    await daemon?.end('SIGKILL');
    await world?.close();
    await receiver?.close();
  });

  it('after a kill -9 during a notification, the restarted daemon sends the same bytes again under the same id', async () => {
    receiver.reply = () => 'hang';
    // A payment of nobody's: its amount fits no invoice, so Crossbill opens a review item and makes a notification.
    const s = await world.stripe.customers.create({ name: 'Ada Example' });
    const invoice = await world.stripe.invoices.create({ customer: s.id, auto_advance: false });
    await world.stripe.invoiceItems.create({ customer: s.id, invoice: invoice.id ?? '', amount: 500, currency: 'eur' });
    const finalized = await world.stripe.invoices.finalizeInvoice(invoice.id ?? '', { auto_advance: false });
    await world.stripe.invoices.pay(finalized.id ?? '', { paid_out_of_band: true });
    await world.until('it is sent', () => receiver.of('invoice.paid'), { length: 1 });
    await daemon.end('SIGKILL');
    receiver.reply = () => 200;
    // The dead process's work is due again in half a minute; here at once.
    await world.query(`update notification set next_try_at = now() where status = 'pending'`);
    await daemon.start();
    await world.until(
      'it is sent again',
      () => receiver.of('invoice.paid'),
      (h) => h.length >= 2,
    );
    const [before, after] = receiver.of('invoice.paid');
    if (before === undefined || after === undefined) throw new Error('it was not sent twice');
    expect([after.id, after.body]).toEqual([before.id, before.body]);
    expect(NotifyReceiver.verify(after, SECRET)).toMatchObject({ data: { invoice_id: invoice.id, payments: [] } });
    await world.until(
      'it is delivered',
      () => world.query('select distinct status from notification'),
      (all) => all.length === 1 && all[0]?.['status'] === 'delivered',
    );
  });
});
