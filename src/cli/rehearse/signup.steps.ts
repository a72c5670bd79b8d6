// The signup: a payment intent that the customer confirms, and the first invoice that its charge pays.
import { AMOUNT } from './start.steps.js';
import { lookUpUntil, untilInvoice } from './looks.js';
import { textAt } from './json.js';
import { failed, passed, type Step } from './stage.js';

export const signup: Step = {
  name: 'signup',
  does: 'Makes a signup through Crossbill. The customer confirms it and is charged at once.',
  async run(stage) {
    const { daemon, currency } = stage;
    const customerId = stage.id('customer');
    const body = {
      kind: 'payment',
      customer: { id: customerId, email: stage.email },
      amount: AMOUNT,
      currency,
      description: 'Rehearsal',
    };
    // The same key gives the same signup, with its client secret: that is kept nowhere.
    const made = daemon.must(await daemon.post('/v1/signups', body, stage.key('signup')), [201], 'the signup');
    stage.keep('signup', textAt(made, 'id') ?? '');
    if (stage.rehearsal.ids['charge'] !== undefined) return passed(`Charge ${stage.id('charge')}.`);
    const confirmed = await stage.hands.confirm(
      {
        kind: 'payment',
        intentId: textAt(made, 'payment_intent_id') ?? '',
        clientSecret: textAt(made, 'client_secret') ?? '',
        customerId,
        card: 'works',
        about: 'Sign up and pay.',
      },
      stage.cli.io.signal,
    );
    if (confirmed.chargeId === null) return failed("The browser's result names no charge.");
    stage.keep('charge', confirmed.chargeId);
    stage.keep('signup_payment', confirmed.paymentId ?? '');
    return passed(`Charge ${confirmed.chargeId}.`);
  },
};

export const firstInvoice: Step = {
  name: 'first invoice paid',
  does: 'Reports the charge, waits until the MoR confirms it, and sees that Stripe shows the first invoice as paid.',
  async run(stage) {
    const { daemon, stripe, currency } = stage;
    const invoiceId = stage.id('first_invoice');
    const paymentId = stage.rehearsal.ids['signup_payment'] ?? '';
    const body = {
      charge_id: stage.id('charge'),
      invoice_id: invoiceId,
      amount: AMOUNT,
      currency,
      ...(paymentId === '' ? {} : { payment_id: paymentId }),
    };
    const completed = await daemon.post(`/v1/signups/${stage.id('signup')}/complete`, body);
    daemon.must(completed, [202], 'the completion of the signup');
    await lookUpUntil(stage, 'signup', stage.id('charge'), () => untilInvoice(stage, invoiceId, ['paid']));
    const invoice = await stripe.invoices.retrieve(invoiceId);
    if (invoice.status !== 'paid')
      return failed(`Stripe shows invoice ${invoiceId} as ${invoice.status ?? 'unknown'}.`);
    return passed(`Invoice ${invoiceId} is paid.`);
  },
};
