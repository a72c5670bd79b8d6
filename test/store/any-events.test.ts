// Events that share ids across invoices: none breaks a rule of the database, so none is tried for ever.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { aPaymentSucceeded, anInvoice } from '../support/builders/events.js';
import { type LaneOnPostgres, laneOnPostgres } from '../support/rigs/lane-on-postgres.js';
import {
  type AnEvent,
  delivered,
  everyEvent,
  type Place,
  placesIn,
  withValue,
} from '../support/builders/odd-events.js';

let x: LaneOnPostgres;
beforeAll(async () => {
  x = await laneOnPostgres();
});
afterAll(() => x.close());

const left = (): Promise<unknown[]> =>
  x.db.pool
    .query<object>(`select source, type, lane, status, reason from inbox_event where status = 'received'`)
    .then(({ rows }) => rows);

it('three bodies with one event id for three invoices give two invoices an item each', async () => {
  const invoices = ['in_body_a', 'in_body_b', 'in_body_c'];
  for (const invoiceId of invoices) x.harness.platform.put(anInvoice({ invoiceId }));
  for (const invoiceId of invoices)
    await x.inbox.store([aPaymentSucceeded({ eventId: 'evt_thrice', invoiceId, paymentId: `pay_${invoiceId}` })]);
  await x.harness.drain();
  const items = await x.db.pool.query(
    `select invoice_id, topic, status from review where subject = 'mor_payments:evt_thrice' order by 1`,
  );
  expect(items.rows).toEqual([
    { invoice_id: 'in_body_b', topic: 'second-body', status: 'open' },
    { invoice_id: 'in_body_c', topic: 'second-body', status: 'open' },
  ]);
  expect(await left()).toEqual([]);
  const shown = await x.db.pool.query(`select status from invoice where invoice_id in ('in_body_b', 'in_body_c')`);
  expect(shown.rows).toEqual([{ status: 'review' }, { status: 'review' }]);
});

const EVENTS = everyEvent();
const LATE = '9999-12-31T23:59:59Z';

/** A text of the wire examples that is an id: two events with the same number share it. */
const ID = /^(evt|in|cus|pay|ch|pi|re|rfnd|dp|al|sub)_\w+$|^[0-9a-f]{8}-[0-9a-f-]{27}$/;

type Chosen = { readonly event: AnEvent; readonly numbers: readonly number[]; readonly late: boolean };

/** The event with its ids out of a few: ids in the same place are the same in every second event. */
function withFewIds({ event, numbers, late }: Chosen, run: number): unknown {
  let nth = 0;
  return placesIn(event.value).reduce<unknown>((value, place) => {
    const now = at(value, place);
    if (typeof now === 'string' && ID.test(now)) {
      const kind = /^[a-z]+(?=_)/.exec(now)?.[0] ?? 'uuid';
      const number = numbers[nth++ % numbers.length] ?? 0;
      return withValue(
        value,
        place,
        kind === 'uuid' ? `${now.slice(0, -4)}${1_000 + run}` : `${kind}_${run}_${number}`,
      );
    }
    const isTime = typeof now === 'string' && /^\d{4}-\d\d-\d\dT/.test(now);
    return late && isTime ? withValue(value, place, LATE) : value;
  }, event.value);
}

function at(value: unknown, place: Place): unknown {
  return place.reduce<unknown>((v, name) => (v as Readonly<Record<string | number, unknown>>)[name], value);
}

const chosen: fc.Arbitrary<Chosen> = fc.record({
  event: fc.constantFrom(...EVENTS),
  numbers: fc.array(fc.nat(2), { minLength: 1, maxLength: 6 }),
  late: fc.boolean(),
});

it('events of all types that share ids across invoices all end within an hour, most at once', async () => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(chosen, { minLength: 3, maxLength: 12 }), async (many) => {
      run++;
      for (const n of [0, 1, 2])
        x.harness.platform.put(anInvoice({ invoiceId: `in_${run}_${n}`, customerId: `cus_${run}_0`, currency: 'GBP' }));
      for (const one of many) {
        const delivery = delivered(one.event, withFewIds(one, run), x.harness.clock.now());
        await x.harness.take(delivery);
      }
      await x.harness.idle(1);
      expect(await left()).toEqual([]);
    }),
    { numRuns: 25 },
  );
}, 300_000);
