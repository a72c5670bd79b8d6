// The rehearsal's steps after a decline: a declined renewal, another card, another try, a payment link, verify. They
// also record the fields of events and the form of signatures.
import { Comparer, NO_COMPARER } from '../../../shared/domain/ports/differences.js';
import { listOf, namesIn, textAt } from './json.js';
import { finalize, isSuccess, nextPeriod, nextVerdict, renewalVerdict, untilInvoice } from './polls.js';
import { askKeyAgain } from './paid.steps.js';
import { askTax } from './tax.js';
import { failed, type Outcome, passed, skipped, type Stage, type Step } from './stage.js';
import { NotArrived } from './state.js';

export const declined: Step = {
  name: 'declined renewal',
  does: 'Saves a card that declines, moves to the next period, and checks that the refused renewal stays open.',
  async run(stage) {
    if (stage.rehearsal.ids['declining_card'] === undefined) {
      const saved = await saveCard(stage, 'declines', 'Take a card that will decline.');
      if (saved !== null) return saved;
      stage.keep('declining_card', 'saved');
    }
    const invoiceId = await nextPeriod(stage, 'declined');
    const verdict = await renewalVerdict(stage, invoiceId);
    if (isSuccess(verdict)) return failed('The charge succeeded: start again with --new and a card that declines.');
    await finalize(stage, invoiceId);
    await untilInvoice(stage, invoiceId, ['open']);
    const { status } = await stage.stripe.invoices.retrieve(invoiceId);
    if (status !== 'open') return failed(`Stripe shows invoice ${invoiceId} as ${status ?? 'unknown'}.`);
    return passed(
      `Invoice ${invoiceId} is open after ${textAt(verdict, 'decline_code') ?? 'a decline without a code'}.`,
    );
  },
};

export const anotherCard: Step = {
  name: 'another card',
  does: 'Saves a card that works and reports its confirmation.',
  async run(stage) {
    const { daemon } = stage;
    if (stage.rehearsal.ids['working_card'] === undefined) {
      const saved = await saveCard(stage, 'works', 'Take another card.');
      if (saved !== null) return saved;
      stage.keep('working_card', 'saved');
    }
    const path = `/v1/invoices/${stage.id('declined')}`;
    stage.keep('tries', String(listOf((await daemon.get(path)).body['attempts']).length));
    const reported = await daemon.post(`/v1/customers/${stage.id('customer')}/payment-method/confirmed`);
    const tried = listOf(daemon.must(reported, [202], 'the confirmation')['data']).map((i) => textAt(i, 'invoice_id'));
    return passed(`Crossbill tries ${tried.length} open ${tried.length === 1 ? 'renewal' : 'renewals'} again.`);
  },
};

/** Saves a card for the customer. Returns null after a success, and the step's outcome after a failure. */
async function saveCard(stage: Stage, card: 'works' | 'declines', about: string): Promise<Outcome | null> {
  const customerId = stage.id('customer');
  const path = `/v1/customers/${customerId}/payment-method`;
  const { status, body } = await stage.daemon.post(path, {}, stage.key(`card-${card}`));
  const known = { mor_customer_id: textAt(body, 'mor_customer_id') };
  const fields = listOf(body['errors']).flatMap((e) => textAt(e, 'field') ?? []);
  if (status !== 201) {
    const sent = stage.config.morSetupCustomer;
    stage.observe('setup_customer', {
      request: 'setup intent by Crossbill',
      sent,
      status,
      code: textAt(body, 'code'),
      fields,
    });
    return failed(
      `Crossbill got no setup intent (${status} ${textAt(body, 'code') ?? ''}, ${fields.join(', ')}).${sent === 'send' ? ' If the MoR refuses merchant_customer, set MOR_SETUP_CUSTOMER=omit, restart the daemon and run this again.' : ''}`,
    );
  }
  const before = stage.rehearsal.ids['mor_customer'];
  if (before === undefined) stage.keep('mor_customer', known.mor_customer_id ?? '');
  else
    stage.observe('setup_customer', {
      second_setup_names_customer: before === known.mor_customer_id ? 'the same' : 'another',
    });
  await stage.manual.confirm(
    {
      kind: 'setup',
      intentId: textAt(body, 'setup_intent_id') ?? '',
      clientSecret: textAt(body, 'client_secret') ?? '',
      customerId,
      card,
      about,
    },
    stage.cli.io.signal,
  );
  return null;
}

export const retry: Step = {
  name: 'retry',
  does: 'Waits for the next charge of the refused renewal, through the relay, and checks that it is paid.',
  optional: true,
  async run(stage) {
    const invoiceId = stage.id('declined');
    if (stage.config.morRelayUrl === null)
      return skipped(
        'MOR_RELAY_URL is not set, and Stripe makes no second invoice.created: nothing asks the MoR to charge again.',
      );
    // The confirmation of the new card has started one charge, and the first run of this step waits for its verdict. A
    // later run of this step requests another charge.
    if (stage.rehearsal.steps.some((s) => s.name === retry.name)) {
      const before = listOf((await stage.daemon.get(`/v1/invoices/${invoiceId}`)).body['attempts']).length;
      stage.keep('tries', String(before));
      await stage.daemon.post(`/v1/invoices/${invoiceId}/retry`);
    }
    const start = performance.now();
    const seconds = (): number => Math.round((performance.now() - start) / 1000);
    let verdict: Awaited<ReturnType<typeof nextVerdict>>;
    try {
      verdict = await nextVerdict(stage, invoiceId, Number(stage.id('tries')));
    } catch (e) {
      if (!(e instanceof NotArrived)) throw e;
      stage.observe('relayed_again', { charged_again: false, waited_seconds: seconds() });
      return failed(
        `No verdict arrived within ${seconds()} s. The MoR may not charge again for a relayed invoice.created.`,
      );
    }
    stage.observe('relayed_again', { charged_again: true, after_seconds: seconds() });
    const paid = isSuccess(verdict);
    stage.observe('setup_customer', {
      saved_method: paid ? 'pays for its customer' : 'did not pay',
      decline_code: textAt(verdict, 'decline_code'),
    });
    if (!paid) return failed(`The new card did not pay: ${textAt(verdict, 'decline_code') ?? 'no code'}.`);
    await untilInvoice(stage, invoiceId, ['paid']);
    return passed(`Invoice ${invoiceId} is paid with the new card.`);
  },
};

export const paymentLink: Step = {
  name: 'payment link',
  does: 'Makes an invoice for a customer without a card, and a payment link. The customer pays it.',
  optional: true,
  async run(stage) {
    const { stripe, daemon, jurisdiction, currency } = stage;
    if (jurisdiction === null)
      return skipped('No jurisdiction: set RECOVERY_LINK_JURISDICTION, or name one with --country.');
    const once = (what: string) => stage.once(`link-${what}`);
    const name = `Crossbill rehearsal ${stage.rehearsal.id}, link`;
    const customer = await stripe.customers.create({ name, email: `link-${stage.email}` }, once('customer'));
    const invoice = await stripe.invoices.create(
      { customer: customer.id, currency, collection_method: 'send_invoice', days_until_due: 30, auto_advance: false },
      once('invoice'),
    );
    const item = { customer: customer.id, invoice: invoice.id ?? '', amount: 500, currency, description: 'Rehearsal' };
    await stripe.invoiceItems.create(item, once('item'));
    const id = invoice.id ?? '';
    stage.keep('link_invoice', id);
    if ((await stripe.invoices.retrieve(id)).status === 'draft')
      await stripe.invoices.finalizeInvoice(id, { auto_advance: false }, once('finalize'));
    await untilInvoice(stage, id, ['expected', 'open', 'paid']);
    const body = { jurisdiction, return_url: stage.config.recoveryLinkReturnUrl ?? 'https://example.com/thanks' };
    const made = await daemon.post(`/v1/invoices/${id}/payment-link`, body);
    const link = daemon.must(made, [200, 201], 'the payment link');
    const [linkId, url] = [textAt(link, 'id') ?? '', textAt(link, 'url') ?? ''];
    if (textAt(link, 'status') !== 'PAID') await stage.manual.payLink({ id: linkId, url });
    const paid = await untilInvoice(stage, id, ['paid', 'review']);
    for (const p of listOf(paid['payments']).filter((one) => textAt(one, 'origin') === 'payment_link')) {
      const named = ['processor_charge_id', 'processor_payment_intent_id'].filter((n) => textAt(p, n) !== null);
      const own = textAt(p, 'id') ?? '';
      stage.observe('link_ids', { payment_id: own.startsWith('pay_') ? 'named' : 'not named', also: named });
    }
    if (textAt(paid, 'status') !== 'paid')
      return failed(`Invoice ${id} waits for a person: crossbill explain ${id} says why.`);
    return passed(`Invoice ${id} is paid by link ${linkId}.`);
  },
};

export const verify: Step = {
  name: 'verify',
  does: 'Compares the ledger with Stripe and the MoR, as crossbill verify does.',
  async run(stage) {
    const app = await stage.cli.open();
    const since = new Date(Date.parse(stage.rehearsal.startedAt) - 3_600_000);
    const report = await app
      .find(Comparer, NO_COMPARER)
      .run({ since, recent: true, onProgress: () => undefined, signal: stage.cli.io.signal });
    if (report.problem !== null) return failed(`Crossbill could not compare everything: ${report.problem}.`);
    const ours = new Set(Object.values(stage.rehearsal.ids));
    const mine = report.differences.filter((d) => ours.has(d.invoiceId ?? ''));
    const others = report.differences.length - mine.length;
    if (mine.length > 0) return failed(mine.map((d) => `${d.kind} on ${d.invoiceId ?? ''}`).join(', '));
    return passed(`No difference on the invoices of this rehearsal${others === 0 ? '' : `; ${others} on others`}.`);
  },
};

const EVENTS = [
  'payment.succeeded',
  'payment.failed',
  'payment.requires_action',
  'payment.refunded',
  'payment.captured',
  'dispute.action_needed',
  'dispute.revision_requested',
  'dispute.outcome',
  'pre_chargeback_alert.received',
  'pre_chargeback_alert.outcome',
];

/**
 * Collects facts about the MoR for the report, at the end of every run, even after a failed step. A fact never changes
 * the result of a step.
 */
export async function pollStages(stage: Stage): Promise<void> {
  await askKeyAgain(stage);
  await askTax(stage);
  const about = await stage.daemon.get('/v1/about');
  for (const s of listOf(about.body['signatures'])) {
    const [source, form, malformed] = ['source', 'form', 'malformed_form'].map((n) => textAt(s, n));
    if (source === 'stripe' || (form === null && malformed === null)) continue;
    stage.observe('signatures', {
      endpoint: source ?? '',
      accepted_form: form ?? null,
      malformed_form: malformed ?? null,
    });
  }
  for (const type of EVENTS) {
    const [newest] = listOf((await stage.daemon.get(`/v1/events?type=${type}&limit=1`)).body['data']);
    if (newest === undefined) continue;
    const event = (await stage.daemon.get(`/v1/events/${textAt(newest, 'id') ?? ''}`)).body;
    stage.observe('event_fields', { type, members: namesIn(event['body']) });
  }
}
