// The relay: an invoice.created goes on to the MoR once, and not when the invoice is over.
import { describe, expect, it } from '@jest/globals';
import { anInvoice, aPaymentSucceeded, aRefund, INVOICE_ID, invoiceEvent, START } from '../support/builders.js';
import { LaneHarness } from '../support/lane-harness.js';

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
