// The rehearsal's steps about the amount of a draft that grows, and about the owner of a saved card.
import { amount } from '../table.js';
import { type Json, listOf, textAt } from './json.js';
import { advanceTo, chargedIn, finalize, idOf, isSuccess, nextPeriod, renewalVerdict, untilInvoice } from './polls.js';
import { AMOUNT, leftToMor } from './paid.steps.js';
import { failed, passed, skipped, type Stage, type Step } from './stage.js';

/** The usage that Stripe adds to the draft. */
const USAGE = 210;

export const grownDraft: Step = {
  name: 'growing draft',
  does: 'Adds usage to the draft of a renewal and looks which amount the MoR charges.',
  optional: true,
  async run(stage) {
    const { stripe, currency } = stage;
    const id = await nextPeriod(stage, 'grown');
    if (stage.rehearsal.ids['usage'] === undefined) {
      const item = { customer: stage.id('customer'), invoice: id, amount: USAGE, currency, description: 'Usage' };
      if ((await stripe.invoices.retrieve(id)).status !== 'draft')
        return skipped(`Invoice ${id} was final before it could grow (BILLING_DRAFT_POLICY=finalize).`);
      stage.keep('usage', (await stripe.invoiceItems.create(item, stage.once('usage'))).id);
    }
    const verdict = await renewalVerdict(stage, id);
    await finalize(stage, id);
    const [charged, due] = [chargedIn(verdict), AMOUNT + USAGE];
    const { morRelayUrl, morRelayEvents } = stage.config;
    const relay = morRelayUrl === null ? 'none' : morRelayEvents;
    stage.observe('grown_draft', { drafted: AMOUNT, amount_due: due, charged, relay });
    if (!isSuccess(verdict)) return failed(`The MoR took nothing: ${textAt(verdict, 'decline_code') ?? 'no code'}.`);
    const of = `${charged === null ? 'an unknown amount' : amount(BigInt(charged), currency)} of ${amount(BigInt(due), currency)}`;
    if (charged === due) {
      await untilInvoice(stage, id, ['paid']);
      return passed(`The MoR charged the final amount: ${of}.`);
    }
    await settle(stage, await untilInvoice(stage, id, ['review']));
    if (relay === 'finalized')
      return failed(`The MoR charged ${of}: remove its own endpoint at Stripe, so that it hears only the relay.`);
    return passed(
      `The MoR charged ${of}, and Crossbill asked a person. For prices with usage set MOR_RELAY_EVENTS=finalized.`,
    );
  },
};

/** Closes the review item about the amount as an operator would: the payment counts in part, or goes back. */
async function settle({ daemon }: Stage, invoice: Json): Promise<void> {
  for (const item of listOf(invoice['reviews']).filter((r) => textAt(r, 'status') === 'open')) {
    const may = Array.isArray(item['actions']) ? item['actions'] : [];
    const resolution = ['apply', 'refund'].find((action) => may.includes(action));
    if (resolution === undefined) continue;
    const path = `/v1/reviews/${textAt(item, 'id') ?? ''}/resolve`;
    daemon.must(await daemon.post(path, { resolution, note: 'Rehearsal' }), [200], `the resolution ${resolution}`);
  }
}

const MINUTE_SEC = 60;
const TRIAL_SEC = 2 * 86_400;
/** The cards differ, so the verdicts show whose card paid. A test clock takes three customers (Stripe's documents). */
const TRIALS = [
  { name: 'trial_1', card: 'works', about: 'Start the first trial, after the second.' },
  { name: 'trial_2', card: 'declines', about: 'Start the second trial first.' },
] as const;
type Trial = (typeof TRIALS)[number];

export const twoTrials: Step = {
  name: 'two trials',
  does: 'Starts two trials, confirms the second first, and looks whose card is charged when they end.',
  optional: true,
  async run(stage) {
    for (const trial of TRIALS) await startTrial(stage, trial);
    for (const trial of TRIALS.toReversed()) await confirmTrial(stage, trial);
    await advanceTo(stage, Number(stage.id('trials_end')) + 5 * MINUTE_SEC);
    const verdicts: Json[] = [];
    for (const trial of TRIALS) verdicts.push(await firstCharge(stage, trial));
    const [first, second] = verdicts.map((v) => (isSuccess(v) ? 'paid' : (textAt(v, 'decline_code') ?? 'declined')));
    stage.observe('trial_order', { working_card: first ?? null, declining_card: second ?? null });
    if (first === 'paid' && second !== 'paid') return passed('Each card is charged for its own customer.');
    return failed(
      `The card that works: ${first ?? 'unknown'}; the card that declines: ${second ?? 'unknown'}. Ask the MoR how it finds the owner of a saved method.`,
    );
  },
};

async function startTrial(stage: Stage, { name }: Trial): Promise<void> {
  const { stripe, rehearsal } = stage;
  if (rehearsal.ids[`${name}_subscription`] !== undefined) return;
  const once = (what: string) => stage.once(`${name}-${what}`);
  const clock = stage.id('clock');
  const about = { name: `Crossbill rehearsal ${rehearsal.id}, ${name}`, email: emailOf(stage, name) };
  const person = await stripe.customers.create({ test_clock: clock, ...about }, once('customer'));
  stage.keep(`${name}_customer`, person.id);
  if (rehearsal.ids['trials_end'] === undefined) {
    const { frozen_time: now } = await stripe.testHelpers.testClocks.retrieve(clock);
    stage.keep('trials_end', String(now + TRIAL_SEC));
  }
  const plan = (await stripe.subscriptions.retrieve(stage.id('subscription'))).items.data[0]?.price.id ?? '';
  const collects = await leftToMor(stage, person.id, `${name}-`);
  const wanted = { customer: person.id, items: [{ price: plan }], trial_end: Number(stage.id('trials_end')) };
  const made = await stripe.subscriptions.create({ ...wanted, ...collects }, once('subscription'));
  stage.keep(`${name}_before`, idOf(made.latest_invoice));
  stage.keep(`${name}_subscription`, made.id);
}

async function confirmTrial(stage: Stage, { name, card, about }: Trial): Promise<void> {
  if (stage.rehearsal.ids[`${name}_confirmed`] !== undefined) return;
  const signups = new Map<string, Json>();
  // No file has a client secret. The same key brings the same signup and secret. Both signups exist before anybody
  // confirms one.
  for (const trial of TRIALS) signups.set(trial.name, await signUp(stage, trial));
  const body = signups.get(name);
  const [intentId, clientSecret] = [textAt(body, 'setup_intent_id') ?? '', textAt(body, 'client_secret') ?? ''];
  const customerId = stage.id(`${name}_customer`);
  await stage.manual.confirm({ kind: 'setup', intentId, clientSecret, customerId, card, about }, stage.cli.io.signal);
  stage.keep(`${name}_confirmed`, intentId);
}

async function signUp(stage: Stage, { name }: Trial): Promise<Json> {
  const { daemon } = stage;
  const body = { kind: 'trial', customer: { id: stage.id(`${name}_customer`), email: emailOf(stage, name) } };
  const made = await daemon.post('/v1/signups', body, stage.key(`${name}-signup`));
  return daemon.must(made, [201], 'the signup');
}

const emailOf = ({ email }: Stage, name: string): string => `${name.replace('_', '-')}-${email}`;

/** The verdict on the first invoice after the trial. */
async function firstCharge(stage: Stage, { name }: Trial): Promise<Json> {
  const before = stage.id(`${name}_before`);
  const read = async (): Promise<string> =>
    idOf((await stage.stripe.subscriptions.retrieve(stage.id(`${name}_subscription`))).latest_invoice);
  const invoiceId = await stage.until('Stripe makes the invoice after the trial', read, (id) => id !== before);
  stage.keep(`${name}_invoice`, invoiceId);
  const verdict = await renewalVerdict(stage, invoiceId);
  await finalize(stage, invoiceId);
  await untilInvoice(stage, invoiceId, isSuccess(verdict) ? ['paid'] : ['open']);
  return verdict;
}
