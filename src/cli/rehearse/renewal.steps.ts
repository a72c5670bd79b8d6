// A renewal that goes well: the charge of the saved method, its mark on Stripe, and a part given back.
import { AMOUNT } from './start.steps.js';
import { listOf, namesIn, textAt } from './json.js';
import { finalize, isSuccess, lookUpUntil, nextPeriod, renewalVerdict, untilInvoice } from './looks.js';
import { failed, passed, type Step } from './stage.js';

export const renewal: Step = {
  name: 'renewal',
  does: 'Moves the test clock to the next period and waits for the charge of the saved method.',
  async run(stage) {
    const invoiceId = await nextPeriod(stage, 'renewal');
    const verdict = await renewalVerdict(stage, invoiceId);
    const payment = textAt(verdict, 'payment_id') ?? '';
    if (!isSuccess(verdict))
      return failed(
        `The MoR's verdict on invoice ${invoiceId} is ${textAt(verdict, 'outcome') ?? 'unknown'} (${textAt(verdict, 'decline_code') ?? 'no code'}).`,
      );
    stage.keep('payment', payment);
    return passed(`Payment ${payment} for invoice ${invoiceId}.`);
  },
};

export const mark: Step = {
  name: 'mark',
  does: 'Lets the draft hour pass and sees that Stripe shows the renewal as paid, once and by this payment.',
  async run(stage) {
    const invoiceId = stage.id('renewal');
    const payment = stage.daemon.must(
      await stage.daemon.get(`/v1/payments/${stage.id('payment')}`),
      [200],
      'a payment',
    );
    const charge = textAt(payment, 'processor_charge_id');
    const marked = async () => {
      await finalize(stage, invoiceId);
      return untilInvoice(stage, invoiceId, ['paid']);
    };
    await (charge === null ? marked() : lookUpUntil(stage, 'renewal', charge, marked));
    const invoice = await stage.stripe.invoices.retrieve(invoiceId);
    if (invoice.status !== 'paid' || invoice.amount_paid !== AMOUNT)
      return failed(
        `Stripe shows invoice ${invoiceId} as ${invoice.status ?? 'unknown'}, ${invoice.amount_paid} paid.`,
      );
    return passed(`Invoice ${invoiceId} is paid.`);
  },
};

const PART = 300;

export const partRefund: Step = {
  name: 'part refund',
  does: 'Refunds a part through Crossbill and sees its credit note on Stripe.',
  async run(stage) {
    const { daemon, stripe } = stage;
    const paymentId = stage.id('payment');
    const body = { amount: PART, reason: 'requested_by_customer' };
    const answer = await daemon.post(`/v1/payments/${paymentId}/refunds`, body, stage.key('refund'));
    const made = daemon.must(answer, [201, 202], 'the refund');
    const id = textAt(made, 'id') ?? '';
    const mirrored = await stage.until(
      `refund ${id} is shown on Stripe`,
      async () => (await daemon.get(`/v1/refunds/${id}`)).body,
      (r) => textAt(r, 'credit_note_id') !== null,
    );
    const note = await stripe.creditNotes.retrieve(textAt(mirrored, 'credit_note_id') ?? '');
    const carries = (of: unknown) => namesIn(of).filter((n) => /(^|\.)(mor_|processor_)?refund_id$/.test(n));
    stage.observe('refund_ids', {
      answer_status: textAt(made, 'status'),
      answer_has: ['mor_refund_id', 'processor_refund_id'].filter((n) => textAt(made, n) !== null),
    });
    const events = listOf((await daemon.get('/v1/events?type=payment.refunded&limit=1')).body['data']);
    const event =
      events[0] === undefined ? null : (await daemon.get(`/v1/events/${textAt(events[0], 'id') ?? ''}`)).body;
    if (event !== null) stage.observe('refund_ids', { event_has: carries(event['body']) });
    if (note.amount !== PART) return failed(`Credit note ${note.id} is of ${note.amount}, the refund of ${PART}.`);
    return passed(`Refund ${id}, credit note ${note.id}.`);
  },
};
