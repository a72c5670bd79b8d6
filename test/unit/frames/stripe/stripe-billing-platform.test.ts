// Finalizing an invoice and paying it out of band: when a refused or unanswered call counts as done.
import { expect, it } from '@jest/globals';
import {
  anInvoice,
  calls,
  paidInvoice,
  payments,
  refusal,
  reply,
  stubs,
  stored,
  type Reply,
} from '../../../support/fakes/stripe-stub.js';

const stub = stubs();

it('a refused finalization counts as done if the invoice is open', async () => {
  const { platform, more } = await stub(refusal(400, {}), reply(200, anInvoice()));
  const call = stored(platform, calls.finalize);
  expect(await platform.send(call)).toMatchObject({ ok: true, value: { invoice: { status: 'open' } } });
  more(refusal(400, { code: 'customer_tax_location_invalid' }), reply(200, anInvoice({ status: 'draft' })));
  expect(await platform.send(call)).toMatchObject({ kind: 'refused', code: 'customer_tax_location_invalid' });
});

it('an invoice paid by Stripe’s own collection does not count as Crossbill’s out-of-band mark', async () => {
  const no = refusal(400, { code: 'invoice_already_paid' });
  const { platform, more } = await stub(no, reply(200, paidInvoice({ payments: payments({ status: 'paid' }) })));
  const call = stored(platform, calls.pay);
  expect(await platform.send(call)).toMatchObject({ kind: 'refused' });
  more(no, reply(200, paidInvoice({ payments: payments({ status: 'canceled' }) })));
  expect(await platform.send(call)).toMatchObject({ ok: true });
});

it('an invoice settled by a full credit note does not count as Crossbill’s out-of-band mark', async () => {
  const no = refusal(400, { code: 'invoice_already_paid' });
  const settled = { payments: payments({ status: 'canceled' }) };
  const { platform, more } = await stub(no, reply(200, paidInvoice({ ...settled, amount_paid: 0 })));
  const call = stored(platform, calls.pay);
  expect(await platform.send(call)).toMatchObject({ kind: 'refused' });
  more(no, reply(200, paidInvoice({ ...settled, amount_paid: 2990 })));
  expect(await platform.send(call)).toMatchObject({ ok: true });
});

it('an invoice payment with a charge counts as Stripe’s collection, and an invoice payment of an unknown type does not', async () => {
  const no = refusal(400, { code: 'invoice_already_paid' });
  const listed = (payment: Record<string, unknown>): Reply =>
    reply(200, paidInvoice({ payments: payments({ payment }) }));
  const { platform, more } = await stub(no, listed({ type: 'out_of_band_payment' }));
  const call = stored(platform, calls.pay);
  expect(await platform.send(call)).toMatchObject({ ok: true });
  more(no, listed({ type: 'something_new', something_new: 'x_1' }));
  expect(await platform.send(call)).toMatchObject({ ok: true });
  more(no, listed({ type: 'charge', charge: 'ch_1' }));
  expect(await platform.send(call)).toMatchObject({ kind: 'refused' });
});

it.each([
  ['Stripe’s card charge', {}],
  ['an attached payment record', { record: 'pr_hand' }],
])('the rest of an invoice counts as paid out of band after a part payment by %s', async (_, part) => {
  const no = refusal(400, { code: 'invoice_already_paid' });
  const listed = payments({ ...part, minor: 990 }, { payment: { type: 'out_of_band_payment' }, minor: 2000 });
  const { platform } = await stub(no, reply(200, paidInvoice({ payments: listed })));
  expect(await platform.send(stored(platform, calls.pay))).toMatchObject({ ok: true });
});

it('if Stripe refuses an out-of-band mark, Crossbill assumes that a card payment without an amount paid the whole invoice', async () => {
  const listed = payments({ minor: null });
  const { platform } = await stub(
    refusal(400, { code: 'invoice_already_paid' }),
    reply(200, paidInvoice({ payments: listed })),
  );
  expect(await platform.send(stored(platform, calls.pay))).toMatchObject({ kind: 'refused' });
});

it('a payment’s reference counts as stored only if Stripe’s reply shows the reference', async () => {
  const metadata = { mor_payment_id: 'pay_1', mor_charge_id: 'ch_psp_1' };
  const { platform } = await stub(
    reply(200, anInvoice({ metadata })),
    reply(200, anInvoice()),
    reply(200, anInvoice({ metadata })),
  );
  const call = stored(platform, calls.reference);
  expect(await platform.send(call)).toMatchObject({ ok: true });
  expect(await platform.send(call)).toMatchObject({ kind: 'unknown' });
  expect(await platform.check(call.asked)).toMatchObject({ ok: true, value: { done: true } });
});

it.each([
  ['pmt_restored', 'pmt_before', 'prf_1', true],
  ['pay_1', 'pmt_before', 'prf_1', true],
  ['pmt_restored', 'pmt_before', 'prf_2', false],
  ['pay_1', 'pay_2', 'prf_1', false],
])(
  'after a restore, a search for %s with the stored id %s and the reference %s finds the mark: %s',
  async (paymentId, shown, reference, done) => {
    const metadata = { mor_payment_id: shown, mor_charge_id: 'prf_1' };
    const { platform } = await stub(reply(200, anInvoice({ metadata })));
    const asked = { ...calls.reference, paymentId, reference };
    expect(await platform.check(asked)).toMatchObject({ ok: true, value: { done } });
  },
);
