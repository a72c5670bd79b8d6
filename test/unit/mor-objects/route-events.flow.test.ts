// Where an event goes that names no invoice of Stripe: to the invoice its ids belong to, or to a person.
import { describe, expect, it } from '@jest/globals';
import { CountingIds, ManualClock } from '../../support/clock.js';
import { HomelessEvents, type Home, type RoutedEvent, type Routing } from '../../../src/mor-objects/homeless-events.js';
import { isChannelLane } from '../../../src/domain/events/channel-lane.js';
import { RouteEventsFlow } from '../../../src/mor-objects/route-events.flow.js';
import { Wake } from '../../../src/engine/wake.js';

const NOW = new Date('2026-11-20T12:00:00Z');
const CLAIM = { lane: 'mor:x', fence: 1n, events: [] };

class FakeChannelEvents extends HomelessEvents {
  routed: readonly Routing[] = [];
  lookAgainInMs: number | null = null;
  asked: readonly string[] = [];

  constructor(
    private readonly waiting: readonly RoutedEvent[],
    private readonly known: readonly Home[],
  ) {
    super();
  }

  override async load(): Promise<readonly RoutedEvent[]> {
    return this.waiting;
  }

  override async homes(ids: readonly string[]): Promise<readonly Home[]> {
    this.asked = ids;
    return this.known.filter((home) => ids.includes(home.id));
  }

  override async route(_lane: string, _fence: bigint, routed: readonly Routing[], ms: number | null): Promise<void> {
    this.routed = routed;
    this.lookAgainInMs = ms;
  }
}

function anEvent(type: string, data: object, ageMs = 0, reviewId: string | null = null): RoutedEvent {
  const body = Buffer.from(JSON.stringify({ id: `evt_${type}`, type, created: NOW.toISOString(), data }));
  const receivedAt = new Date(NOW.getTime() - ageMs);
  const eventId = `evt_${type}`;
  const stored = { id: 1n, source: 'mor_events', eventId, type, lane: 'mor:x', body, receivedAt, attempts: 0 } as const;
  return { ...stored, reviewId, waitedMs: ageMs };
}

async function route(event: RoutedEvent, known: readonly Home[] = []): Promise<FakeChannelEvents> {
  const events = new FakeChannelEvents([event], known);
  await new RouteEventsFlow(events, new ManualClock(NOW), new CountingIds(), new Wake()).run(CLAIM);
  return events;
}

const OLD = 6_000;

describe('an event of the other channels', () => {
  it('goes to the invoice of the thing it names, however deep the id stands', async () => {
    const home: Home = { id: 'link_1', what: 'object', invoiceId: 'in_1' };
    const { routed } = await route(anEvent('payment.captured', { a: { b: [{ c: 'link_1' }] } }), [home]);
    expect(routed).toEqual([{ id: 1n, do: 'move', invoiceId: 'in_1' }]);
  });

  it('follows what is ours before what its ids are otherwise known for', async () => {
    const known: Home[] = [
      { id: 'in_2', what: 'invoice', invoiceId: 'in_2' },
      { id: 'dp_1', what: 'object', invoiceId: 'in_1' },
    ];
    const { routed } = await route(anEvent('dispute.outcome', { note: 'in_2', disputeId: 'dp_1' }), known);
    expect(routed).toMatchObject([{ do: 'move', invoiceId: 'in_1' }]);
  });

  it('of a proforma invoice is found by the id inside the event id alone', async () => {
    const id = 'b4b0a3a8-90a2-4f6c-8f5e-2f5a1f7b6c11';
    const body = Buffer.from(JSON.stringify({ id: `evt_issued_${id}`, type: 'proforma_invoice.issued', data: {} }));
    const event = { ...anEvent('proforma_invoice.issued', {}), eventId: `evt_issued_${id}`, body };
    const { routed } = await route(event, [{ id, what: 'object', invoiceId: 'in_1' }]);
    expect(routed).toMatchObject([{ do: 'move', invoiceId: 'in_1' }]);
  });

  it('waits a little while the answer to our own call may be under way', async () => {
    const { routed } = await route(anEvent('payment.captured', { link: 'link_1' }, 1_000));
    expect(routed).toEqual([{ id: 1n, do: 'wait', forMs: 1_000 }]);
  });

  it.each([
    ['payment.captured', { link: 'link_1' }, 'conflicting_event'],
    ['e_invoice.issued', { eInvoiceId: 'e1' }, 'conflicting_event'],
    ['dispute.action_needed', { deadline: '2026-12-01T00:00:00Z' }, 'dispute'],
    ['pre_chargeback_alert.received', {}, 'dispute'],
  ])('%s of nothing we know is done with an item, and is looked at again later', async (type, data, kind) => {
    const { routed, lookAgainInMs } = await route(anEvent(type, data, OLD));
    expect(routed).toMatchObject([{ do: 'decide', status: 'done', review: { kind, invoiceId: null } }]);
    expect(lookAgainInMs).toBe(60_000);
  });

  it.each(['proforma_invoice.issued', 'proforma_invoice.issuance_failed'])(
    '%s of a proforma invoice made elsewhere is just done',
    async (type) => {
      const { routed, lookAgainInMs } = await route(anEvent(type, { proformaInvoiceId: 'p1' }, OLD));
      expect(routed).toMatchObject([{ do: 'decide', status: 'done', review: null }]);
      expect(lookAgainInMs).toBeNull();
    },
  );

  it('of a signup’s card payment is done: the completion brings the payment', async () => {
    const signup: Home = { id: 'calc_1', what: 'signup', invoiceId: null };
    const { routed } = await route(anEvent('payment.captured', { taxCalculationId: 'calc_1' }), [signup]);
    expect(routed).toMatchObject([{ do: 'decide', status: 'done', review: null }]);
  });

  it('that became known takes its item with it', async () => {
    const home: Home = { id: 'ch_1', what: 'payment', invoiceId: 'in_1' };
    const { routed } = await route(anEvent('payment.captured', { pspReference: 'ch_1' }, 3_600_000, 'rev_7'), [home]);
    expect(routed).toEqual([{ id: 1n, do: 'move', invoiceId: 'in_1' }]);
  });

  it('that stays unknown is looked at ever more rarely, and no more after a week', async () => {
    const after = async (ageMs: number): Promise<number | null> =>
      (await route(anEvent('payment.captured', { pspReference: 'ch_1' }, ageMs, 'rev_7'))).lookAgainInMs;
    expect(await after(3_600_000)).toBe(1_800_000);
    expect(await after(6 * 86_400_000)).toBe(6 * 3_600_000);
    expect(await after(8 * 86_400_000)).toBeNull();
  });

  it('is worked in lanes of its own name only', () => {
    expect(isChannelLane('mor:evt_1')).toBe(true);
    expect(isChannelLane('in_1')).toBe(false);
    expect(isChannelLane('event:mor_events:evt_1')).toBe(false);
  });
});
