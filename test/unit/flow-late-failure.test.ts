// A payment that the MoR calls taken, and failed after that: a returned debit may be told so.
import { describe, expect, it } from '@jest/globals';
import { anInvoice, aPaymentFailed, aPaymentSucceeded, INVOICE_ID, START } from '../support/builders.js';
import { balances, LaneHarness, openKinds } from '../support/lane-harness.js';

const DAY_MS = 86_400_000;
const succeeded = aPaymentSucceeded({ at: new Date(START.getTime() + 5 * DAY_MS) });
const failedOn = (day: number): ReturnType<typeof aPaymentFailed> =>
  aPaymentFailed({
    at: new Date(START.getTime() + day * DAY_MS),
    eventId: 'evt_failed',
    declineCode: 'debit_returned',
  });

describe('a renewal that was taken on day 5', () => {
  it.each([
    ['succeeded first', [succeeded, failedOn(20)]],
    ['failed first', [failedOn(20), succeeded]],
  ])('and failed on day 20 stays marked, and a person is asked once (%s)', async (_order, events) => {
    const h = LaneHarness.inMemory();
    h.platform.put(anInvoice());
    for (const e of [...events, ...events]) await h.take(e);
    await h.rest();
    const s = await h.state(INVOICE_ID);
    expect(s.payments).toMatchObject([{ mark: 'confirmed', status: 'succeeded' }]);
    expect(balances(s)['unmarked_payments']).toBeUndefined();
    expect(s.reviews).toMatchObject([{ kind: 'conflicting_event', paymentRowId: s.payments[0]?.id, status: 'open' }]);
    expect(s.reviews[0]?.summary).toMatch(/was taken at .*, but the MoR refused it after that, at .*: debit_returned$/);
  });

  it.each([
    ['succeeded first', [succeeded, failedOn(4)]],
    ['failed first', [failedOn(4), succeeded]],
  ])('and failed on day 4 was tried again: nobody is asked (%s)', async (_order, events) => {
    const h = LaneHarness.inMemory();
    h.platform.put(anInvoice());
    for (const e of events) await h.take(e);
    await h.rest();
    expect(openKinds(await h.state(INVOICE_ID))).toEqual([]);
  });
});

describe('a payment that the MoR names again', () => {
  const again = (chargeId: string): Promise<object[]> =>
    told(aPaymentSucceeded(), aPaymentSucceeded({ eventId: 'evt_again', chargeId }));

  async function told(...events: Parameters<LaneHarness['deliver']>): Promise<object[]> {
    const h = LaneHarness.inMemory();
    h.platform.put(anInvoice());
    for (const e of events) await h.take(e);
    await h.rest();
    const s = await h.state(INVOICE_ID);
    expect(h.platform.records.length).toBe(1);
    return s.reviews.map(({ kind, summary }) => ({ kind, summary }));
  }

  it('with another charge is shown to a person, who is told both', async () => {
    expect(await again('ch_other')).toEqual([
      {
        kind: 'conflicting_event',
        summary: expect.stringMatching(/, charge ch_other; the record says .*, charge ch_pay_oak$/),
      },
    ]);
  });
});
