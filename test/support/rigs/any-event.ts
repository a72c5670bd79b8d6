// How an event with an odd value ends, for the tests that every event ends at its first try.
import { isInnerLane } from '../../../src/shared/domain/events/channel-lane.js';
import { aPaymentSucceeded, anInvoice } from '../builders/events.js';
import { LaneHarness } from './lane-harness.js';
import { type AnEvent, delivered, everyEvent, ODD, type Place, placesIn, withValue } from '../builders/odd-events.js';

const SECONDS = 10 / 3_600; // in hours

/** The invoice with a paid payment, as most events of the MoR need it. */
async function aPaidInvoice(harness: LaneHarness, invoiceId: string, customerId: string): Promise<void> {
  harness.platform.put(anInvoice({ invoiceId, customerId, currency: 'GBP', amountDue: 1_500n }));
  const ids = { paymentId: 'pay_fern3', chargeId: 'ch_fern3', intentId: 'pi_fern3' };
  await harness.take(
    aPaymentSucceeded({ ...ids, eventId: 'evt_before', invoiceId, customerId, amount: 1_500, currency: 'gbp' }),
  );
}

/** How the event with this value ended, or what broke. Null: the endpoint did not take it. */
async function endOf(event: AnEvent, value: unknown, isPaid: boolean): Promise<string | null> {
  const h = LaneHarness.inMemory();
  const came = delivered(event, value, h.clock.now());
  if (came.status !== 'received') return null;
  const lane = isInnerLane(came.lane) ? 'in_1Fern0003' : came.lane; // as its router moves it
  try {
    if (isPaid) await aPaidInvoice(h, lane, 'cus_Fern0003');
    else h.platform.put(anInvoice({ invoiceId: lane, customerId: 'cus_Fern0003', currency: 'GBP', amountDue: 1_500n }));
    await h.take({ ...came, lane });
    await h.idle(SECONDS);
  } catch (e) {
    return String(e);
  }
  return (await h.state(lane)).journal.some((line) => line.ref === came.eventId) ? 'done' : 'untold';
}

/** Each event with its type, for a table of tests. */
export const EVERY_EVENT = everyEvent().map((event) => [event.type, event] as const);

/**
 * The values that break the event or leave it untold, each with its place.
 * @param every of so many pairs of place and value one is tried; each place and each value has its turn
 */
export async function failuresOf(event: AnEvent, every: number): Promise<readonly [Place, unknown, string][]> {
  const failed: [Place, unknown, string][] = [];
  for (const [p, place] of placesIn(event.value).entries()) {
    for (const odd of ODD.filter((_, v) => (p + v) % every === 0)) {
      for (const isPaid of event.source === 'stripe' ? [true] : [true, false]) {
        const end = await endOf(event, withValue(event.value, place, odd), isPaid);
        if (end !== null && end !== 'done') failed.push([place, odd, end]);
      }
    }
  }
  return failed;
}
