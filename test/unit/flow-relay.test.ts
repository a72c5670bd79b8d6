// The relay: an invoice.created goes on to the MoR once, and not when the invoice is over.
import { describe, expect, it } from '@jest/globals';
import { anInvoice, invoiceEvent } from '../support/builders.js';
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
