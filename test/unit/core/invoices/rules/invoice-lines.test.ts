// The lines at level info about an invoice: opened, settled, refused.
import { expect, it } from '@jest/globals';
import { invoiceLines } from '../../../../../src/core/invoices/rules/invoice-lines.js';
import { type LaneChange, LaneTrace, watchSteps } from '../../../../../src/engine/lane-trace.js';
import { createLogger } from '../../../../../src/shared/observe/index.js';
import {
  aPaymentFailed,
  aPaymentSucceeded,
  anInvoice,
  INVOICE_ID,
  invoiceEvent,
} from '../../../../support/builders/events.js';
import { LaneHarness } from '../../../../support/rigs/lane-harness.js';
import { type Json } from '../../../../support/rigs/world.js';

/** A lane whose commits and calls are logged. */
function logged() {
  const lines: Json[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Json) };
  const log = createLogger({ level: 'info', secrets: [], pretty: false, destination });
  const h = LaneHarness.inMemory({ watch: watchSteps(log, { logLines: invoiceLines }) });
  h.platform.put(anInvoice());
  const seen = (event: string): Json[] => lines.filter((l) => l['event'] === event);
  return { h, lines, seen };
}

it('an expected renewal and its payment are one line each, with id and amount', async () => {
  const { h, lines } = logged();
  await h.take(invoiceEvent('invoice.created'));
  await h.take(aPaymentSucceeded());
  await h.idle();
  const about = { invoice: INVOICE_ID, amount: 1000, currency: 'eur' };
  expect(lines).toMatchObject([
    { level: 'info', event: 'invoices.opened', ...about },
    { level: 'info', event: 'invoices.settled', ...about },
  ]);
});

it('each refusal of the MoR is one line with payment, amount and decline code', async () => {
  const { h, seen } = logged();
  await h.take(invoiceEvent('invoice.created'));
  await h.take(aPaymentFailed({ paymentId: 'pay_1' }));
  await h.take(aPaymentFailed({ paymentId: 'pay_2' }));
  await h.idle();
  const refused = { invoice: INVOICE_ID, amount: 1000, currency: 'eur', outcome: 'failed' };
  expect(seen('invoices.refused')).toMatchObject([
    { ...refused, payment: 'pay_1' },
    { ...refused, payment: 'pay_2' },
  ]);
  expect(seen('invoices.opened')).toHaveLength(1);
  expect(seen('invoices.settled')).toEqual([]);
});

it('words in place of a decline code do not reach the log', async () => {
  const { h, seen } = logged();
  await h.take(invoiceEvent('invoice.created'));
  await h.take(aPaymentFailed({ declineCode: 'Ada has no money' }));
  expect(seen('invoices.refused')).toHaveLength(1);
  expect(JSON.stringify(seen('invoices.refused'))).not.toContain('Ada');
});

it('a commit that leaves the invoice as it was has no line', async () => {
  const h = LaneHarness.withInvoice();
  await h.take(aPaymentSucceeded());
  const state = await h.state(INVOICE_ID);
  expect(invoiceLines({ ...state, attempts: [] }, { ...state, attempts: [] })).toEqual([]);
});

it('the line of a failed call says when Crossbill tries the call again', async () => {
  const { h, seen } = logged();
  await h.take(invoiceEvent('invoice.created'));
  h.platform.fail('report_payment', 'retry');
  await h.take(aPaymentSucceeded());
  const [call] = (await h.state(INVOICE_ID)).calls;
  expect(seen('calls.failed')).toMatchObject([
    {
      invoice: INVOICE_ID,
      call: 'report_payment',
      call_id: call?.id,
      outcome: 'retry',
      tried_again: true,
      next_try_at: call?.nextTryAt.toISOString(),
    },
  ]);
});

it('the line of a refused call says that Crossbill does not try the call again', async () => {
  const { h, seen } = logged();
  await h.take(invoiceEvent('invoice.created'));
  h.platform.fail('report_payment', 'refused');
  await h.take(aPaymentSucceeded());
  expect(seen('calls.failed')).toMatchObject([{ outcome: 'refused', tried_again: false, next_try_at: null }]);
});

it('a failed call whose failure could not be recorded is logged all the same', async () => {
  const calls: unknown[] = [];
  const onCalled = (...given: unknown[]): void => void calls.push(given);
  const trace = new LaneTrace({ lane: INVOICE_ID, fence: 1n, events: [] }, { onDecided: () => undefined, onCalled });
  const failure = { ok: false, kind: 'unknown', status: null, code: null, message: 'reset', errors: [] } as const;
  await trace.call(
    'report_payment',
    'out_1',
    Promise.resolve({ ...failure, retryAfterMs: null, requestId: null, replayed: false }),
  );
  expect(calls).toEqual([]);
  const gone: Promise<{ decided: []; change: LaneChange | null }> = Promise.reject(new Error('the database is gone'));
  await expect(trace.decision(gone)).rejects.toThrow();
  expect(calls).toMatchObject([[{ lane: INVOICE_ID }, { name: 'report_payment' }, null]]);
});
