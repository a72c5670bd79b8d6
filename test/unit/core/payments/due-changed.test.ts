// What is due on an invoice changes while its mark is under way: nothing is marked that the money does not pay exactly, or a person is told.
import { eur } from '../../../support/builders/channel-object.js';
import { expect, it } from '@jest/globals';
import { openFacts } from '../../../support/builders/channel-lane.js';
import { chooseItem } from '../../../support/rigs/choose-item.js';
import { applyRead } from '../../../support/rigs/settle-rule.js';
import { type MarkMode } from '../../../../src/shared/domain/payment-row.js';
import { aPaymentSucceeded, INVOICE_ID } from '../../../support/builders/events.js';
import { failed } from '../../../support/fakes/fake-platform.js';
import { balances, LaneHarness } from '../../../support/rigs/lane-harness.js';
import { Crash } from '../../../support/fakes/mortal-repository.js';

const differs = (due: bigint) => [{ code: 'amount-differs', taken: eur(1000n), due: eur(due) }];

/** 10.00 are taken and decided to be marked, Stripe does not answer `kind` for half a minute, and meanwhile `due` is due. */
async function changed(markMode: MarkMode, kind: string, due: bigint): Promise<LaneHarness> {
  const h = LaneHarness.withInvoice({}, { settings: { markMode } });
  h.platform.fail(kind, 'retry', 'retry', 'retry', 'retry', 'retry');
  await h.take(aPaymentSucceeded());
  h.platform.change(INVOICE_ID, { amountDue: due, amountRemaining: due, total: due });
  await h.idle(1);
  return h;
}

/** 10.00 hang on the invoice, once and as marked, and a person is told that 2.00 are due. */
async function expectAttached(harness: LaneHarness, crashes: number): Promise<void> {
  const s = await harness.state(INVOICE_ID);
  expect([harness.crashes, harness.platform.invoices.get(INVOICE_ID)?.amountPaid]).toEqual([crashes, 1000n]);
  expect(s.payments.map((p) => p.mark)).toEqual(['confirmed']);
  expect(openFacts(s)).toMatchObject([{ code: 'rest-due', status: 'open', due: eur(200n) }]);
}

it.each([
  ['out_of_band', 'set_reference', 1500n],
  ['out_of_band', 'set_reference', 600n],
  ['out_of_band', 'pay_out_of_band', 1500n],
  ['out_of_band', 'pay_out_of_band', 600n],
  ['payment_record', 'report_payment', 1500n],
  ['payment_record', 'report_payment', 600n],
] as const)(
  'if the amount due changes before the mark (mode %s, call %s, new amount %s cents), Crossbill marks nothing and opens a review item',
  async (markMode, kind, due) => {
    const h = await changed(markMode, kind, due);
    const s = await h.state(INVOICE_ID);
    expect(h.platform.invoices.get(INVOICE_ID)).toMatchObject({ status: 'open', amountPaid: 0n });
    expect([s.payments.map((p) => p.mark), balances(s)['unmarked_payments']]).toEqual([['parked'], -1000n]);
    expect(openFacts(s)).toMatchObject(differs(due));
  },
);

it('if the operator applies a payment after the amount due rose, the payment’s existing record pays a part of the invoice', async () => {
  const h = await changed('payment_record', 'report_payment', 1500n);
  await chooseItem(h, 'apply');
  await h.idle(1);
  expect((await h.state(INVOICE_ID)).payments.map((p) => p.mark)).toEqual(['confirmed']);
  expect([h.platform.records.length, h.platform.invoices.get(INVOICE_ID)?.amountPaid]).toEqual([1, 1000n]);
});

it('Crossbill reports a payment once after a crash, even if the amount due changes meanwhile', async () => {
  const h = LaneHarness.withInvoice({}, { settings: { markMode: 'payment_record' } });
  const send = h.platform.send.bind(h.platform);
  h.platform.send = async (call) => {
    const outcome = await send(call);
    if (call.asked.kind === 'report_payment' && h.repository.dieBefore === null) {
      h.repository.dieBefore = h.repository.transactions + 1;
      h.platform.change(INVOICE_ID, { amountDue: 1500n, amountRemaining: 1500n, total: 1500n });
    }
    return outcome;
  };
  await h.take(aPaymentSucceeded());
  await h.idle(1);
  const s = await h.state(INVOICE_ID);
  expect(openFacts(s)).toMatchObject(differs(1500n));
  await chooseItem(h, 'apply');
  await h.idle(1);
  expect((await h.state(INVOICE_ID)).payments.map((p) => p.mark)).toEqual(['confirmed']);
  expect([h.platform.records.length, h.platform.invoices.get(INVOICE_ID)?.amountPaid]).toEqual([1, 1000n]);
});

it.each([
  ['Stripe replies', []],
  ['Stripe’s reply is lost', ['lost-answer', 'retry', 'retry', 'retry', 'retry', 'retry']],
] as const)(
  'if the amount due rises during an out-of-band mark, a review item reports the difference (%s)',
  async (_, trouble) => {
    const h = LaneHarness.withInvoice({}, { settings: { markMode: 'out_of_band' } });
    h.platform.fail('pay_out_of_band', ...trouble);
    const send = h.platform.send.bind(h.platform);
    h.platform.send = async (call) => {
      const { status } = h.platform.invoices.get(INVOICE_ID) ?? {};
      if (call.asked.kind === 'pay_out_of_band' && status === 'open')
        h.platform.change(INVOICE_ID, { amountDue: 1500n, amountRemaining: 1500n });
      return send(call);
    };
    await h.take(aPaymentSucceeded());
    await h.idle(1);
    const s = await h.state(INVOICE_ID);
    expect([s.invoice?.platformStatus, s.payments.map((p) => p.mark)]).toEqual(['paid', ['confirmed']]);
    expect(openFacts(s)).toMatchObject([{ code: 'marked-beyond', shown: eur(1500n), taken: eur(1000n) }]);
    await expect(chooseItem(h, 'retry')).rejects.toThrow('resolution_not_available');
    await chooseItem(h, 'dismiss');
    await h.idle(1);
    expect(openFacts(await h.state(INVOICE_ID))).toEqual([]);
  },
);

const parts = [
  ['a card that Stripe charged', null],
  ['a payment record that somebody attached', 'pr_hand'],
] as const;
const replies = ['comes', 'is lost', 'comes after a crash'] as const;
it.each(parts.flatMap((part) => replies.map((reply) => [...part, reply] as const)))(
  'an out-of-band mark of the rest opens no review item after a part payment by %s (record %s), if Stripe’s reply %s',
  async (_, recordId, reply) => {
    const h = LaneHarness.withInvoice(
      { amountDue: 1000n, amountPaid: 200n, amountRemaining: 800n },
      { settings: { markMode: 'out_of_band' } },
    );
    h.platform.payments.set(INVOICE_ID, [{ recordId, minor: 200n }]);
    let tries = 0;
    const send = h.platform.send.bind(h.platform);
    h.platform.send = async (call) => {
      const outcome = await send(call);
      if (call.asked.kind !== 'pay_out_of_band' || ++tries > 1 || reply === 'comes') return outcome;
      h.clock.advance(15_000);
      if (reply === 'is lost') return failed('unknown');
      h.repository.dieBefore = h.repository.transactions + 1;
      return outcome;
    };
    await h.take(aPaymentSucceeded({ amount: 800 }));
    await h.idle(1);
    const s = await h.state(INVOICE_ID);
    expect([s.invoice?.platformStatus, s.payments.map((p) => p.mark), openFacts(s)]).toEqual([
      'paid',
      ['confirmed'],
      [],
    ]);
    expect(balances(s)).toEqual({ mor_receivable: 800n, settled_invoices: -800n });
  },
);

it('after a crash during the attach call, Crossbill finds the attached payment on Stripe, even if the amount due has risen', async () => {
  const h = LaneHarness.withInvoice();
  const send = h.platform.send.bind(h.platform);
  h.platform.send = (call) => {
    if (call.asked.kind === 'attach_payment' && h.crashes === 0) {
      h.platform.change(INVOICE_ID, { amountDue: 1200n, amountRemaining: 1200n, total: 1200n });
      h.repository.dieBefore = h.repository.transactions + 1;
    }
    return send(call);
  };
  await h.take(aPaymentSucceeded());
  await h.idle(1);
  await expectAttached(h, 1);
});

it('if a second process attaches the payment after a crash, Crossbill confirms the payment and opens no item', async () => {
  const h = LaneHarness.withInvoice();
  const send = h.platform.send.bind(h.platform);
  h.platform.send = async (call) => {
    if (call.asked.kind !== 'attach_payment' || h.crashes > 1) return send(call);
    if (h.crashes === 1) {
      h.platform.change(INVOICE_ID, { amountDue: 1200n, amountRemaining: 1200n, total: 1200n });
      await send(call);
    }
    throw new Crash();
  };
  await h.take(aPaymentSucceeded());
  await h.idle(1);
  await expectAttached(h, 2);
});

it.each(['report_payment', 'attach_payment'] as const)(
  'a read with a changed amount due does not withdraw a running %s call: Stripe’s reply counts',
  async (kind) => {
    const h = LaneHarness.withInvoice({}, { settings: { markMode: 'payment_record' } });
    const send = h.platform.send.bind(h.platform);
    h.platform.send = async (call) => {
      if (call.asked.kind === kind) {
        h.platform.change(INVOICE_ID, { amountDue: 1200n, amountRemaining: 1200n, total: 1200n });
        const value = h.platform.invoices.get(INVOICE_ID) ?? null;
        const read = { ok: true, value, status: 200, requestId: null } as const;
        // As `verify --repair` does.
        await h.command(INVOICE_ID, (s, ctx) => ({ ok: true, state: applyRead(s, read, ctx), value: null }));
      }
      return send(call);
    };
    await h.take(aPaymentSucceeded());
    await h.idle(1);
    if (kind === 'report_payment') await chooseItem(h, 'apply');
    await h.idle(1);
    expect((await h.state(INVOICE_ID)).payments.map((p) => p.mark)).toEqual(['confirmed']);
    expect([h.platform.records.length, h.platform.invoices.get(INVOICE_ID)?.amountPaid]).toEqual([1, 1000n]);
  },
);

it.each(['payment_record', 'out_of_band'] as const)(
  'Crossbill never withdraws the last call of a mark while a frozen process may still send the call (%s)',
  async (markMode) => {
    const h = LaneHarness.withInvoice({}, { settings: { markMode } });
    const send = h.platform.send.bind(h.platform);
    const read = h.platform.readInvoice.bind(h.platform);
    let stands: { readonly sinceMs: number; readonly call: Parameters<typeof send>[0] } | null = null;
    h.platform.send = (call) => {
      if (h.crashes > 0 || !['attach_payment', 'pay_out_of_band'].includes(call.asked.kind)) return send(call);
      stands = { sinceMs: h.clock.now().getTime(), call };
      h.platform.change(INVOICE_ID, { amountDue: 1200n, amountRemaining: 1200n, total: 1200n });
      return Promise.reject(new Crash());
    };
    /** It goes on after 40 seconds, when its lane is in other hands. */
    const goesOn = async (): Promise<void> => {
      if (stands === null || h.clock.now().getTime() - stands.sinceMs < 40_000) return;
      const { call } = stands;
      stands = null;
      await send(call);
    };
    h.platform.readInvoice = async (id) => {
      await goesOn();
      return read(id);
    };
    await h.take(aPaymentSucceeded());
    await h.idle(1);
    await goesOn();
    const s = await h.state(INVOICE_ID);
    expect(s.payments.map((p) => p.mark)).toEqual(['confirmed']);
    expect(openFacts(s)).toMatchObject([
      markMode === 'payment_record'
        ? { code: 'rest-due', status: 'open', due: eur(200n) }
        : { code: 'marked-beyond', shown: eur(1200n), taken: eur(1000n) },
    ]);
  },
);

it('Crossbill withdraws an attach call with an outdated amount as soon as no process can send the call', async () => {
  const h = LaneHarness.withInvoice();
  const send = h.platform.send.bind(h.platform);
  h.platform.send = (call) => {
    if (h.crashes > 0 || call.asked.kind !== 'attach_payment') return send(call);
    h.platform.change(INVOICE_ID, { amountDue: 1200n, amountRemaining: 1200n, total: 1200n });
    return Promise.reject(new Crash());
  };
  await h.take(aPaymentSucceeded());
  await h.idle(1);
  const s = await h.state(INVOICE_ID);
  expect(openFacts(s)).toMatchObject(differs(1200n));
  expect(h.platform.asked.filter((x) => x.startsWith('attach_payment'))).toEqual([]);
});
