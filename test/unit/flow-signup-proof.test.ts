// A signup's charge that was proven by a look-up, and what the MoR says of it afterwards.
import { describe, expect, it } from '@jest/globals';
import { completeSignup, resolveReview } from '../../src/domain/lane/apply-command.js';
import { type Resolution } from '../../src/domain/model.js';
import { aPaymentFailed, aPaymentSucceeded, anInvoice, COMPLETION, INVOICE_ID } from '../support/builders.js';
import { LaneHarness, openKinds } from '../support/lane-harness.js';

it.each([
  ['later than it was proven asks a person', 86_400_000, ['conflicting_event']],
  ['before it was proven, by a first try, says nothing', -86_400_000, []],
])('a proven charge that failed %s; the invoice stays paid', async (_what, afterMs, kinds) => {
  const h = LaneHarness.inMemory();
  h.platform.put(anInvoice({ billingReason: 'subscription_create' }));
  h.gateway.charges.add('ch_first');
  await h.command(INVOICE_ID, (s, ctx) => completeSignup(s, COMPLETION, ctx));
  await h.rest();
  const at = new Date(h.clock.now().getTime() + afterMs);
  await h.take(aPaymentFailed({ at, intentId: 'pi_first', paymentId: 'pay_s' }));
  const s = await h.state(INVOICE_ID);
  expect(s.payments).toMatchObject([{ paymentId: 'pay_s', mark: 'confirmed', status: 'succeeded' }]);
  expect(openKinds(s)).toEqual(kinds);
});

describe.each(['payment_record', 'out_of_band'] as const)(
  'a signup of another amount than its completion names (%s)',
  (markMode) => {
    /** The completion names what is due, 10.00; its intent was made for 4.00. */
    async function completed(): Promise<LaneHarness> {
      const h = LaneHarness.inMemory({ settings: { markMode } });
      h.platform.put(anInvoice({ billingReason: 'subscription_create' }));
      h.gateway.charges.add('ch_first');
      const completion = { ...COMPLETION, asked: { minor: 400n, currency: 'EUR' } };
      await h.command(INVOICE_ID, (s, ctx) => completeSignup(s, completion, ctx));
      await h.rest();
      return h;
    }
    async function resolve(h: LaneHarness, resolution: Resolution): Promise<void> {
      const [open] = (await h.state(INVOICE_ID)).reviews.filter((r) => r.status === 'open');
      const choice = { resolution, note: null, by: 'ops' };
      const done = await h.command(INVOICE_ID, (s, ctx) => resolveReview(s, open?.id ?? 'none', choice, ctx));
      if (!done.ok) throw new Error(done.message);
      await h.rest();
    }
    const marked = (h: LaneHarness): boolean => h.platform.invoices.get(INVOICE_ID)?.status === 'paid';

    it('is not marked before a person says that it was that much', async () => {
      const h = await completed();
      expect(openKinds(await h.state(INVOICE_ID))).toEqual(['amount_mismatch']);
      await resolve(h, 'retry');
      expect(openKinds(await h.state(INVOICE_ID))).toEqual(['amount_mismatch']);
      expect(marked(h)).toBe(false);
      await resolve(h, 'apply');
      expect([marked(h), openKinds(await h.state(INVOICE_ID))]).toEqual([true, []]);
    });

    it('is marked by itself once the MoR names the amount', async () => {
      const h = await completed();
      await h.take(aPaymentSucceeded({ paymentId: 'pay_s', chargeId: 'ch_first', intentId: 'pi_first' }));
      expect([marked(h), openKinds(await h.state(INVOICE_ID))]).toEqual([true, []]);
    });
  },
);
