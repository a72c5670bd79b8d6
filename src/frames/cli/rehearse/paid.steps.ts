// The rehearsal's steps with money: settings, a customer on a test clock, the MoR's replies, a signup, a renewal, its
// mark and a part refund.
import { examine } from '../doctor.js';
import { CliError, EXIT } from '../exit-codes.js';
import { plain } from '../table.js';
import { listOf, namesIn, textAt } from './json.js';
import {
  chargedIn,
  finalize,
  idOf,
  isSuccess,
  lookUpUntil,
  nextPeriod,
  renewalVerdict,
  untilInvoice,
} from './polls.js';
import { type Probed } from './mor-check.js';
import { failed, passed, type Stage, type Step } from './stage.js';

export const settings: Step = {
  name: 'settings and permissions',
  does: 'Looks at settings, database, clock, Stripe and the MoR, as crossbill doctor does.',
  async run({ cli }) {
    const { checks } = await examine(cli, 'none');
    const wrong = checks.filter((c) => c.state === 'fail');
    if (wrong.length > 0) return failed(wrong.map((c) => `${c.name}: ${c.detail}. ${c.todo}`).join(' '));
    return passed(`${checks.length} checks, ${checks.filter((c) => c.state === 'warn').length} to look at.`);
  },
};

/** The plan's price: small, but above every processor's minimum. */
export const AMOUNT = 1_000;

export const customer: Step = {
  name: 'customer',
  does: 'Makes a test clock on Stripe with a customer, a monthly price and a subscription.',
  async run(stage) {
    const { stripe, currency } = stage;
    const name = `Crossbill rehearsal ${stage.rehearsal.id}`;
    const { once } = stage;
    if (stage.rehearsal.ids['clock'] === undefined) {
      // The test clock is the rehearsal's first change. Stripe makes test clocks only in test mode, so a live key fails
      // here.
      const at = Math.floor(Date.now() / 1000);
      const clocks = stripe.testHelpers.testClocks;
      const made = await clocks.create({ frozen_time: at, name }, once('clock')).catch((e: unknown) => {
        throw clockRefused(e);
      });
      stage.keep('clock', made.id);
    }
    const person = await stripe.customers.create(
      { test_clock: stage.id('clock'), name, email: stage.email },
      once('customer'),
    );
    stage.keep('customer', person.id);
    const product = await stripe.products.create({ name }, once('product'));
    const price = await stripe.prices.create(
      { product: product.id, currency, unit_amount: AMOUNT, recurring: { interval: 'month' } },
      once('price'),
    );
    const subscription = await stripe.subscriptions.create(
      { customer: person.id, items: [{ price: price.id }], ...(await leftToMor(stage, person.id, '')) },
      once('subscription'),
    );
    const invoiceId = idOf(subscription.latest_invoice);
    const first = await stripe.invoices.retrieve(invoiceId);
    if (first.status === 'draft')
      await stripe.invoices.finalizeInvoice(invoiceId, { auto_advance: false }, once('finalize'));
    stage.keep('subscription', subscription.id);
    stage.keep('first_invoice', invoiceId);
    return passed(`Customer ${person.id} with subscription ${subscription.id} on ${stage.id('clock')}.`);
  },
};

/** The part of a subscription's request that keeps Stripe from charging. `name` is a part of the idempotency keys. */
export async function leftToMor({ stripe, config, once }: Stage, customerId: string, name: string) {
  const type = config.stripeCustomPaymentMethodType;
  if (type === null) return { collection_method: 'send_invoice', days_until_due: 30 } as const;
  const made = await stripe.paymentMethods.create({ type: 'custom', custom: { type } }, once(`${name}method`));
  await stripe.paymentMethods.attach(made.id, { customer: customerId }, once(`${name}attach`));
  return { default_payment_method: made.id, payment_behavior: 'default_incomplete' } as const;
}

function clockRefused(error: unknown): CliError {
  const why = error instanceof Error ? plain(error.message) : 'no reason given';
  const message = `Crossbill changed nothing, because Stripe made no test clock: ${why} Use a test-mode key with the right to write test clocks, customers, products, prices and subscriptions.`;
  return new CliError(EXIT.failed, 'clock_refused', message);
}

/**
 * Returns the body of a request for a setup intent. Nobody confirms this intent. The rehearsal repeats the request
 * under one key, to learn how long the MoR remembers an idempotency key.
 */
export const keyBody = (stage: Stage) => ({
  merchant_customer: { [`${stage.config.morPsp}_id`]: stage.id('customer') },
});

export const replies: Step = {
  name: 'answers of the MoR',
  does: "Sends wrong requests to the MoR's staging, and one request twice under the same key.",
  async run(stage) {
    const { mor, config } = stage;
    const unknown = `rehearsal_${stage.rehearsal.id}`;
    const whose = keyBody(stage);
    const wrong: readonly (readonly [string, () => Promise<Probed>])[] = [
      ['unknown method type', () => mor.setupIntent({ payment_method_types: ['rehearsal'] }, null)],
      ['empty payment intent', () => mor.paymentIntent({})],
      ['unknown currency', () => mor.paymentIntent({ amount: AMOUNT, currency: 'xxx', ...whose })],
      ['unknown calculation', () => mor.setupIntent({ tax_calculation_id: unknown }, null)],
      ['refund of an unknown payment', () => mor.refund(`pay_${unknown}`, { amount: 1 }, stage.key('no-payment'))],
    ];
    let silent = 0;
    for (const [request, send] of wrong) {
      const { status, code, names, fields } = await send();
      if (status === null) silent++;
      else stage.observe('error_bodies', { request, status, code, members: names, fields });
    }
    const none = await mor.charge(`ch_${unknown}`);
    const words = (textAt(none.body, 'message') ?? textAt(none.body, 'error', 'message'))?.slice(0, 120) ?? null;
    stage.observe('unknown_charge', { status: none.status, code: none.code, members: none.names, words });
    const first = await mor.setupIntent(keyBody(stage), stage.key('key'));
    const intent = textAt(first.body, 'setup_intent_id');
    stage.observe('setup_customer', {
      request: `setup intent with merchant_customer.${config.morPsp}_id`,
      status: first.status,
      code: first.code,
      fields: first.fields,
    });
    if (intent !== null) {
      stage.keep('key_intent', intent);
      stage.keep('key_since', new Date().toISOString());
      const other = await mor.setupIntent({ payment_method_types: ['card'] }, stage.key('key'));
      stage.observe('key_life', { request: 'same key, other body', status: other.status, code: other.code });
    }
    if (silent > 0) return failed(`${silent} of ${wrong.length} requests had no answer.`);
    return passed(`The MoR answered ${wrong.length + 1} requests; the report shows the form of the answers.`);
  },
};

/**
 * Learns how long the MoR remembers an idempotency key. At the end of each run the rehearsal repeats the first run's
 * request for a setup intent under the same key. The report shows the MoR's reply and the age of the key.
 */
export async function askKeyAgain(stage: Stage): Promise<void> {
  const { key_intent: intent, key_since: since } = stage.rehearsal.ids;
  if (intent === undefined || since === undefined) return;
  const again = await stage.mor.setupIntent(keyBody(stage), stage.key('key'));
  const same = textAt(again.body, 'setup_intent_id');
  const age = Math.round((Date.now() - Date.parse(since)) / 60_000);
  const reply = same === null ? 'refused' : same === intent ? 'same' : 'new';
  stage.observe('key_life', { request: 'same key, same body', age_minutes: age, status: again.status, answer: reply });
}

export const signup: Step = {
  name: 'signup',
  does: 'Makes a signup through Crossbill. The customer confirms it, and the MoR charges at once.',
  async run(stage) {
    const { daemon, currency } = stage;
    const customerId = stage.id('customer');
    const body = {
      kind: 'payment',
      customer: { id: customerId, email: stage.email },
      invoice_id: stage.id('first_invoice'),
      amount: AMOUNT,
      currency,
      description: 'Rehearsal',
    };
    // No file has the client secret, so a resumed run repeats this request. The same key returns the same signup and
    // secret.
    const made = daemon.must(await daemon.post('/v1/signups', body, stage.key('signup')), [201], 'the signup');
    stage.keep('signup', textAt(made, 'id') ?? '');
    if (stage.rehearsal.ids['charge'] !== undefined) return passed(`Charge ${stage.id('charge')}.`);
    const confirmed = await stage.manual.confirm(
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
  does: 'Reports the charge, waits until the MoR confirms it, and checks that Stripe shows the first invoice as paid.',
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

export const renewal: Step = {
  name: 'renewal',
  does: 'Moves the test clock to the next period and waits for the charge of the saved method.',
  async run(stage) {
    const invoiceId = await nextPeriod(stage, 'renewal');
    const verdict = await renewalVerdict(stage, invoiceId);
    const payment = textAt(verdict, 'payment_id') ?? '';
    const charged = chargedIn(verdict);
    const tax = charged === null ? null : charged - AMOUNT;
    stage.observe('renewal_tax', { amount_due: AMOUNT, charged, tax_on_top: tax });
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
  does: 'Lets the draft hour pass and checks that Stripe shows the renewal as paid, once and by this payment.',
  async run(stage) {
    const invoiceId = stage.id('renewal');
    const payment = stage.daemon.must(
      await stage.daemon.get(`/v1/payments/${stage.id('payment')}`),
      [200],
      'the look-up of the payment',
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
  does: 'Refunds a part through Crossbill and checks its credit note on Stripe.',
  async run(stage) {
    const { daemon, stripe } = stage;
    const paymentId = stage.id('payment');
    const body = { amount: PART, reason: 'requested_by_customer' };
    const reply = await daemon.post(`/v1/payments/${paymentId}/refunds`, body, stage.key('refund'));
    const made = daemon.must(reply, [201, 202], 'the refund');
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
    if (note.amount !== PART) return failed(`Credit note ${note.id} has ${note.amount}, the refund ${PART}.`);
    return passed(`Refund ${id}, credit note ${note.id}.`);
  },
};
