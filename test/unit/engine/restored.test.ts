// A backup that is more than a day old is restored: Stripe has forgotten every key, and what it shows is looked for before it is made.
import { expect, it } from '@jest/globals';
import { chooseItem } from '../../support/rigs/choose-item.js';
import {
  anInvoice,
  aPaymentSucceeded,
  aRefund,
  INVOICE_ID,
  invoiceEvent,
  START,
} from '../../support/builders/events.js';
import { failed } from '../../support/fakes/fake-platform.js';
import { LaneHarness, openKinds } from '../../support/rigs/lane-harness.js';
import { ask, paid } from '../../support/builders/paid-lane.js';

const HOUR_MS = 3_600_000;
const modes = ['payment_record', 'out_of_band'] as const;
type Settings = NonNullable<Parameters<typeof LaneHarness.inMemory>[0]>['settings'];

function harness(settings: Settings = {}): LaneHarness {
  return LaneHarness.inMemory({ settings });
}

/** What Stripe has, an empty database, and no key that Stripe still knows, some hours later. */
function restored(first: LaneHarness, settings: Settings = {}, hours = 26): LaneHarness {
  const h = harness(settings);
  h.clock.set(new Date(first.clock.now().getTime() + hours * HOUR_MS));
  for (const name of ['invoices', 'payments', 'references', 'records', 'notes'] as const)
    Object.assign(h.platform, { [name]: first.platform[name] });
  return h;
}

/** What changed anything on Stripe, by its kind. */
const changes = (harness: LaneHarness): Record<string, number> => harness.platform.effects;
const sent = (harness: LaneHarness): string[] => harness.platform.asked.filter((x) => !x.startsWith('read'));

async function apply(harness: LaneHarness): Promise<void> {
  await chooseItem(harness, 'apply', { kind: 'amount_mismatch' });
  await harness.idle(1);
}

it.each(modes)(
  'after the restore of an old backup, Crossbill finds a refund’s credit note on Stripe and issues no second one (%s)',
  async (markMode) => {
    const first = harness({ markMode });
    first.platform.put(anInvoice());
    await first.take(invoiceEvent('invoice.finalized'), aPaymentSucceeded());
    await first.take(aRefund());
    await first.idle(1);
    expect(first.platform.notes).toHaveLength(1);

    const h = restored(first, { markMode });
    await h.take(aPaymentSucceeded());
    await h.take(aRefund());
    await h.idle(48);
    const s = await h.state(INVOICE_ID);
    expect(changes(h)).toEqual({});
    expect(s.refunds).toMatchObject([{ mirror: 'done', creditNoteId: first.platform.notes[0]?.id }]);
    expect(openKinds(s)).toEqual([]);
  },
);

it.each(modes)(
  'after the restore of an old backup, Crossbill reports a refund missing on Stripe once, under its first key (%s)',
  async (markMode) => {
    const first = harness({ markMode });
    first.platform.put(anInvoice());
    await first.take(invoiceEvent('invoice.finalized'), aPaymentSucceeded());
    await first.idle(1);

    const h = restored(first, { markMode });
    await h.take(aPaymentSucceeded());
    await h.take(aRefund());
    await h.idle(48);
    const twin = { payment_record: { report_refund: 1, issue_credit_note: 1 }, out_of_band: { issue_credit_note: 1 } };
    expect(changes(h)).toEqual(twin[markMode]);
    const s = await h.state(INVOICE_ID);
    expect(s.calls.map((m) => [m.generation, m.status])).toEqual(s.calls.map(() => [1, 'done']));
    expect(s.refunds).toMatchObject([{ mirror: 'done' }]);
  },
);

it('after a restore, Crossbill finds an applied part payment on the Stripe invoice and attaches nothing', async () => {
  const first = harness();
  first.platform.put(anInvoice({ amountDue: 2990n }));
  await first.take(invoiceEvent('invoice.finalized', { amountDue: 2990n }), aPaymentSucceeded());
  await apply(first);
  expect(first.platform.invoices.get(INVOICE_ID)).toMatchObject({ status: 'open', amountPaid: 1000n });

  const h = restored(first);
  await h.take(aPaymentSucceeded());
  await h.idle(1);
  await apply(h);
  expect(changes(h)).toEqual({});
  expect((await h.state(INVOICE_ID)).payments).toMatchObject([{ mark: 'confirmed', paymentRecordId: 'pr_1' }]);
  expect(h.platform.invoices.get(INVOICE_ID)).toMatchObject({ status: 'open', amountPaid: 1000n });
});

it('after a restore, Crossbill does not attach an already attached part payment again, even if the same amount is left to pay', async () => {
  const first = harness();
  first.platform.put(anInvoice({ amountDue: 2000n }));
  await first.take(invoiceEvent('invoice.finalized', { amountDue: 2000n }), aPaymentSucceeded());
  await apply(first);

  const h = restored(first);
  await h.take(aPaymentSucceeded());
  await h.idle(48);
  expect(changes(h)).toEqual({});
  expect(h.platform.invoices.get(INVOICE_ID)).toMatchObject({ status: 'open', amountPaid: 1000n });
  expect(openKinds(await h.state(INVOICE_ID))).toEqual(['amount_mismatch']);
});

it('Crossbill attaches a part payment next to another payment, even if Stripe has too many payment records to search', async () => {
  const h = harness();
  h.clock.set(new Date(START.getTime() + 48 * HOUR_MS));
  h.platform.put(anInvoice({ amountDue: 2990n, amountPaid: 500n }));
  const check = h.platform.check.bind(h.platform);
  h.platform.check = (asked) =>
    asked.kind === 'report_payment'
      ? Promise.resolve(failed('unknown', { code: 'list_too_long', message: 'too many' }))
      : check(asked);
  await h.take(aPaymentSucceeded());
  await h.idle(1);
  await apply(h);
  expect(changes(h)).toEqual({ report_payment: 1, attach_payment: 1 });
  expect(openKinds(await h.state(INVOICE_ID))).toEqual([]);
});

it.each([0, 2_000])(
  'after a restore, a refund requested in the API and reported %d ms later appears once on Stripe',
  async (laterMs) => {
    const first = await paid();
    await ask(first, 300n);
    await first.drain();
    const at = new Date(first.clock.now().getTime() + laterMs);
    const event = aRefund({ refundId: 'rfnd_api1', processorRefundId: 're_api1', amount: 300, at });
    await first.take(event);
    await first.idle(1);

    const h = restored(first, {}, 3);
    h.platform.send = first.platform.send.bind(first.platform); // the same Stripe, keys and all
    await h.take(aPaymentSucceeded());
    await h.take(event);
    await h.idle(20);
    expect(first.platform.notes).toHaveLength(1);
    expect(first.platform.records.map((r) => r.refunds.length)).toEqual([1]);
    const s = await h.state(INVOICE_ID);
    expect(s.refunds).toMatchObject([{ mirror: 'done', creditNoteId: first.platform.notes[0]?.id }]);
    expect(openKinds(s)).toEqual([]);
  },
);

/** Marked out of band two days after its invoice was made; what was asked so far is forgotten. */
async function markedLate(): Promise<LaneHarness> {
  const h = harness({ markMode: 'out_of_band' });
  h.clock.set(new Date(START.getTime() + 48 * HOUR_MS));
  h.platform.put(anInvoice());
  await h.take(aPaymentSucceeded());
  await h.idle(1);
  h.platform.asked.length = 0;
  return h;
}

it('Crossbill repeats a failed search for a credit note on Stripe, and issues the note only after a reply', async () => {
  const h = await markedLate();
  h.platform.fail('probe', 'lost-request', 'lost-request');
  await h.take(aRefund());
  await h.idle(1);
  const key = 'crossbill:issue_credit_note:pay_oak:re_rfnd_1:1';
  const poll = 'probe issue_credit_note';
  expect(sent(h)).toEqual([poll, poll, poll, `issue_credit_note ${key}`]);
});

it('after Stripe’s reply to a credit note is lost, Crossbill repeats the call under the same key without a search', async () => {
  const h = await markedLate();
  h.platform.fail('issue_credit_note', 'lost-answer');
  await h.take(aRefund());
  await h.idle(1);
  const key = 'crossbill:issue_credit_note:pay_oak:re_rfnd_1:1';
  expect(sent(h)).toEqual(['probe issue_credit_note', `issue_credit_note ${key}`, `issue_credit_note ${key}`]);
  expect(changes(h)['issue_credit_note']).toBe(1);
});

it.each([
  [
    'Crossbill reports a refund at once on an invoice younger than 23 hours',
    22,
    ['report_refund', 'issue_credit_note'],
  ],
  [
    'Crossbill searches Stripe for a refund before it reports the refund on an older invoice',
    23,
    ['probe report_refund', 'report_refund', 'probe issue_credit_note', 'issue_credit_note'],
  ],
] as const)(
  'the age of an invoice decides whether Crossbill searches Stripe before it reports a refund: %s',
  async (_, hours, expected) => {
    const h = harness();
    h.platform.put(anInvoice({ createdAt: START }));
    await h.take(aPaymentSucceeded());
    await h.idle(1);
    h.platform.asked.length = 0;
    h.clock.set(new Date(START.getTime() + hours * HOUR_MS));
    await h.take(aRefund());
    expect(sent(h).map((x) => x.replace(/ crossbill:.*/, ''))).toEqual(expected);
  },
);

it('if nothing is paid on an old invoice yet, Crossbill marks the invoice without a search of Stripe for an earlier mark', async () => {
  const h = harness();
  h.clock.set(new Date(START.getTime() + 48 * HOUR_MS));
  h.platform.put(anInvoice());
  await h.take(aPaymentSucceeded());
  await h.idle(1);
  expect(sent(h).filter((x) => x.startsWith('probe'))).toEqual([]);
  expect(changes(h)).toEqual({ report_payment: 1, attach_payment: 1 });
});
