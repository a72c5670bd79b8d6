// The relay: an invoice.created goes on to the MoR once, and not when the invoice is over.
import { describe, expect, it } from '@jest/globals';
import {
  anInvoice,
  aPaymentFailed,
  aPaymentSucceeded,
  aRefund,
  INVOICE_ID,
  invoiceEvent,
  START,
} from '../support/builders.js';
import { LaneHarness } from '../support/lane-harness.js';

const HOUR_MS = 3_600_000;

describe('the relay', () => {
  it.each(['invoice.paid', 'invoice.voided', 'invoice.deleted'] as const)(
    'an invoice.created that comes after its %s is not relayed: the MoR would charge for it',
    async (type) => {
      const h = LaneHarness.inMemory({ settings: { relay: true } });
      h.platform.put(anInvoice());
      await h.take(invoiceEvent(type, { eventId: 'evt_over' }));
      await h.take(invoiceEvent('invoice.created', { eventId: 'evt_late' }));
      expect(h.relay.sent).toEqual([]);
    },
  );

  it.each(['invoice.paid', 'invoice.voided', 'invoice.deleted'] as const)(
    'an invoice.created that the MoR has not answered is taken back by %s: it would charge for it once it is back',
    async (type) => {
      const h = LaneHarness.inMemory({ settings: { relay: true } });
      h.platform.put(anInvoice());
      h.relay.down = true;
      await h.take(invoiceEvent('invoice.created'));
      const tried = h.relay.sent.length;
      expect(tried).toBeGreaterThan(0);
      await h.take(invoiceEvent(type, { at: new Date(START.getTime() + 1_000) }));
      h.relay.down = false;
      await h.rest(48);
      expect(h.relay.sent).toHaveLength(tried);
      const s = await h.state(INVOICE_ID);
      expect(s.messages.map((m) => [m.kind, m.status])).toEqual([['relay_event', 'cancelled']]);
      expect(s.reviews).toEqual([]);
    },
  );

  it('an invoice.created that the MoR has not answered is taken back when its payment comes: it was heard all the same', async () => {
    const h = LaneHarness.inMemory({ settings: { relay: true } });
    h.platform.put(anInvoice());
    h.relay.down = true;
    await h.take(invoiceEvent('invoice.created'));
    const tried = h.relay.sent.length;
    await h.take(aPaymentSucceeded());
    h.relay.down = false;
    await h.rest(48);
    expect(h.relay.sent).toHaveLength(tried);
    expect((await h.state(INVOICE_ID)).payments.map((p) => p.mark)).toEqual(['confirmed']);
  });

  it('an invoice.created that the MoR has not answered is taken back by a refund: its money was taken, though its success is late', async () => {
    const h = LaneHarness.inMemory({ settings: { relay: true } });
    h.platform.put(anInvoice());
    h.relay.down = true;
    await h.take(invoiceEvent('invoice.created'));
    await h.take(aRefund({ amount: 1000, total: 1000 }));
    const tried = h.relay.sent.length;
    h.relay.down = false;
    await h.rest(48);
    expect(h.relay.sent).toHaveLength(tried);
    const s = await h.state(INVOICE_ID);
    expect(s.messages.map((m) => [m.kind, m.status])).toEqual([['relay_event', 'cancelled']]);
    expect(s.journal.map((l) => l.text)).toContainEqual(
      'relay_event taken back: money was given back for it, so some was taken; it was tried before, without an answer',
    );
  });

  it.each(['paid', 'void', 'uncollectible'] as const)(
    'an invoice.created that comes late is not relayed where the invoice is %s on Stripe by now: the MoR would charge for it',
    async (status) => {
      const h = LaneHarness.inMemory({ settings: { relay: true } });
      h.clock.advance(20 * HOUR_MS);
      h.platform.put(anInvoice({ status }));
      await h.take(invoiceEvent('invoice.created'));
      expect(h.relay.sent).toEqual([]);
      const why = `relay_event taken back: the invoice is ${status}`;
      expect((await h.state(INVOICE_ID)).journal.map((l) => l.text)).toContainEqual(why);
    },
  );

  it('an invoice.created that comes late is relayed where the invoice is still to be paid', async () => {
    const h = LaneHarness.inMemory({ settings: { relay: true } });
    h.clock.advance(20 * HOUR_MS);
    h.platform.put(anInvoice());
    await h.take(invoiceEvent('invoice.created'));
    expect(h.relay.sent).toHaveLength(1);
  });

  it('an invoice.created that comes late is relayed where Stripe knows no such invoice, or cannot be asked: the key may be wrong', async () => {
    const h = LaneHarness.inMemory({ settings: { relay: true } });
    h.clock.advance(20 * HOUR_MS);
    await h.take(invoiceEvent('invoice.created'));
    expect(h.relay.sent).toHaveLength(1);
    const away = LaneHarness.inMemory({ settings: { relay: true } });
    away.clock.advance(20 * HOUR_MS);
    away.platform.put(anInvoice());
    away.platform.fail('read', ...Array.from({ length: 12 }, () => 'retry' as const));
    await away.take(invoiceEvent('invoice.created'));
    await away.rest(0.05);
    expect(away.relay.sent).toEqual([]);
    await away.rest(0.5);
    expect(away.relay.sent).toHaveLength(1);
  });

  it('an invoice.created that comes late, of an invoice that is void, is not relayed because Stripe answers some reads with 429', async () => {
    const h = LaneHarness.inMemory({ settings: { relay: true } });
    h.clock.advance(20 * HOUR_MS);
    h.platform.put(anInvoice({ status: 'void' }));
    h.platform.fail('read', 'retry', 'retry', 'retry', 'retry', 'retry');
    await h.take(invoiceEvent('invoice.created'));
    await h.rest(2);
    expect(h.relay.sent).toEqual([]);
  });

  it.each(['once', 'never'] as const)(
    'after an outage of ours, in which neither the MoR nor Stripe answered (it was read %s before), no try goes out without a try to read first',
    async (read) => {
      const h = LaneHarness.inMemory({ settings: { relay: true }, seed: 2 });
      h.clock.advance(20 * HOUR_MS);
      h.platform.put(anInvoice());
      h.relay.down = true;
      const away = Array.from({ length: 400 }, () => 'retry' as const);
      if (read === 'never') h.platform.fail('read', ...away);
      await h.take(invoiceEvent('invoice.created'));
      h.platform.fail('read', ...away);
      await h.rest(5);
      const tried = h.relay.sent.length;
      expect(tried).toBeGreaterThan(2); // Stripe, which cannot be asked, keeps no renewal from being charged
      h.platform.trouble.length = 0;
      h.relay.down = false;
      h.platform.put(anInvoice({ status: 'void' })); // and no event has told of it yet
      await h.rest(3);
      expect(h.relay.sent).toHaveLength(tried);
    },
  );

  it('an invoice.created of just now is relayed without a read of the invoice', async () => {
    const h = LaneHarness.inMemory({ settings: { relay: true } });
    h.platform.put(anInvoice({ status: 'draft' }));
    await h.take(invoiceEvent('invoice.created', { createdAt: START }));
    expect([h.relay.sent.length, h.platform.asked]).toEqual([1, []]);
  });

  it('an invoice.created that waited hours for the MoR is not sent where the invoice is void by then, though no event said so', async () => {
    const h = LaneHarness.inMemory({ settings: { relay: true } });
    h.platform.put(anInvoice());
    h.relay.down = true;
    await h.take(invoiceEvent('invoice.created', { createdAt: START }));
    await h.rest(2);
    const tried = h.relay.sent.length;
    h.platform.put(anInvoice({ status: 'void' }));
    h.relay.down = false;
    await h.rest(3);
    expect(h.relay.sent).toHaveLength(tried);
  });

  it('an invoice.created whose answer was lost is not sent again once the MoR has refused the renewal: a link may stand for it', async () => {
    const h = LaneHarness.inMemory({ settings: { relay: true } });
    h.platform.put(anInvoice());
    h.relay.down = true;
    await h.take(invoiceEvent('invoice.created'));
    await h.take(aPaymentFailed());
    const tried = h.relay.sent.length;
    h.relay.down = false;
    await h.rest(48);
    expect(h.relay.sent).toHaveLength(tried);
  });

  it('two events of one new invoice under two ids ask the MoR once', async () => {
    const h = LaneHarness.inMemory({ settings: { relay: true } });
    h.platform.put(anInvoice());
    await h.take(invoiceEvent('invoice.created', { eventId: 'evt_1' }));
    await h.take(invoiceEvent('invoice.created', { eventId: 'evt_2' }));
    expect(h.relay.sent).toHaveLength(1);
    await h.take(aPaymentFailed());
    h.clock.advance(1);
    await h.take(invoiceEvent('invoice.created', { eventId: 'evt_3' })); // a retry, as the MoR's documents have it
    expect(h.relay.sent).toHaveLength(2);
  });

  it('an event that is decided a second time is not relayed a second time', async () => {
    const h = LaneHarness.inMemory({ settings: { relay: true } });
    h.platform.put(anInvoice());
    await h.take(invoiceEvent('invoice.created'));
    expect(h.relay.sent).toHaveLength(1);
    const store = h.backend.store as unknown as { events: { status: string }[] };
    for (const e of store.events) e.status = 'received'; // an operator asked for it
    await h.drain();
    expect(h.relay.sent).toHaveLength(1);
  });
});
