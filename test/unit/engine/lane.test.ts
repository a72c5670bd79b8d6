// The draft of a lane: rules change rows in place, and the state behind the draft stays as it was.
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { addEntry, putPayment, putRefund, putInvoice, putObject } from '../../support/builders/put-rows.js';
import { newPayment } from '../../../src/core/books/rules/payment-rows.js';
import { type LaneState } from '../../../src/shared/domain/model.js';
import { moveMark } from '../../../src/shared/domain/payment-row.js';
import { type RefundRow, moveMirror } from '../../../src/shared/domain/refund-row.js';
import { Lane } from '../../../src/engine/lane.js';
import { paymentCollected } from '../../../src/shared/domain/postings.js';
import { LINK } from '../../support/builders/channel-lane.js';
import { aLink, aProforma, withObjects } from '../../support/builders/channel-object.js';
import { same } from '../../support/same.js';
import { at, ctx, lane, payment } from '../../support/builders/waiting-payment.js';

const aRefund = (over: Partial<RefundRow> = {}): RefundRow => ({
  ...{ id: 'ref_1', paymentRowId: 'pmt_1', invoiceId: 'in_1', morRefundId: 'rfnd_1', processorRefundId: null },
  ...{ amount: 300n, currency: 'EUR', status: 'succeeded', morStatus: null, reason: null, origin: 'event' },
  ...{
    askedOf: null,
    askedAs: null,
    counted: false,
    totalAfter: null,
    surplus: 0n,
    beyondSale: null,
    mirror: 'none',
    creditNoteId: null,
    failure: null,
  },
  ...{ createdAt: at(0), succeededAt: at(0), ...over },
});

function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.values(value).forEach(frozen);
  return value instanceof Date ? value : Object.freeze(value);
}

/** One payment, one refund, a proforma invoice and a link. */
const full = (): LaneState =>
  frozen(putRefund(withObjects(lane({}, payment()), aProforma(), aLink({ morId: LINK })), aRefund()));

/** The same change in place and on a value. `n` varies the change. */
type Step = {
  readonly inPlace: (lane: Lane, count: number) => void;
  readonly byValue: (state: LaneState, count: number) => LaneState;
};
const steps: readonly Step[] = [
  {
    inPlace: (l, n) => {
      for (const p of l.payments) p.amountRefunded = BigInt(n);
    },
    byValue: (s, n) => s.payments.reduce((x, p) => putPayment(x, { ...p, amountRefunded: BigInt(n) }), s),
  },
  {
    inPlace: (l, n) => {
      if (l.invoice !== null) l.invoice.holdUntil = at(n);
    },
    byValue: (s, n) => (s.invoice === null ? s : putInvoice(s, { ...s.invoice, holdUntil: at(n) })),
  },
  {
    inPlace: (l, n) => {
      for (const o of l.objects) o.detail = { ...o.detail, names: [`ch_${n}`] };
    },
    byValue: (s, n) =>
      s.objects.reduce((x, o) => putObject(x, { ...o, detail: { ...o.detail, names: [`ch_${n}`] } }), s),
  },
  {
    inPlace: (l, n) => void l.add('refunds', aRefund({ id: `ref_new_${n}` })),
    byValue: (s, n) => ({ ...s, refunds: [...s.refunds, aRefund({ id: `ref_new_${n}` })] }),
  },
  { inPlace: (l, n) => l.decideAgain(at(n)), byValue: (s) => s },
  {
    inPlace: (l, n) => l.log('decision', `step ${n}`),
    byValue: (s, n) => ({
      ...s,
      journal: [
        ...s.journal,
        { lane: s.lane, at: at(0), kind: 'decision', text: `step ${n}`, ref: null, detail: null },
      ],
    }),
  },
];
const anyScript = fc.array(fc.tuple(fc.nat(steps.length - 1), fc.nat(3)), { maxLength: 12 });
const step = (count: number): Step => steps[count] ?? { inPlace: () => undefined, byValue: (s) => s };

it('a rule that changes a working copy in place has the same result as a rule that returns a changed copy', () => {
  fc.assert(
    fc.property(anyScript, (script) => {
      const before = full();
      const lane = new Lane(before, ctx());
      let wanted = before;
      for (const [which, n] of script) {
        step(which).inPlace(lane, n);
        wanted = step(which).byValue(wanted, n);
      }
      same(lane.toState(), wanted);
      same(before, full());
    }),
  );
});

it('a rule without changes returns the state object it started from', () => {
  const before = full();
  const lane = new Lane(before, ctx());
  const read = [lane.invoice, lane.payments, lane.attempts, lane.refunds, lane.objects, lane.calls];
  expect([read.length, lane.reviews, lane.isPast(at(9)), lane.findPayment('pmt_1')?.amount]).toEqual([
    6,
    [],
    false,
    2990n,
  ]);
  expect(lane.toState()).toBe(before);
});

it('writing an equal value into the working copy of an invoice’s state leaves the state unchanged', () => {
  const before = full();
  const lane = new Lane(before, ctx());
  for (const p of lane.payments) p.succeededAt = new Date(p.succeededAt ?? 0);
  for (const o of lane.objects) o.detail = { ...o.detail };
  if (lane.invoice !== null) lane.invoice.currency = 'EUR';
  expect(lane.toState()).toBe(before);
});

it('changing one row in the working copy of an invoice’s state copies only this row', () => {
  const before = full();
  const lane = new Lane(before, ctx());
  const [first] = lane.objects;
  if (first !== undefined) first.number = 'PF-9';
  const after = lane.toState();
  expect(after.objects.map((o, n) => o === before.objects[n])).toEqual([false, true]);
  expect(after.payments).toBe(before.payments);
  expect(lane.toState()).toBe(after);
});

it('a state taken from a working copy does not change with later changes of the copy', () => {
  const lane = new Lane(full(), ctx());
  const [p] = lane.payments;
  if (p !== undefined) p.amountRefunded = 1n;
  const first = lane.toState();
  if (p !== undefined) p.amountRefunded = 2n;
  expect([first, lane.toState()].map((s) => s.payments[0]?.amountRefunded)).toEqual([1n, 2n]);
});

it('a rule can change a row after adding it to the working copy, and the given object stays unchanged', () => {
  const lane = new Lane(full(), ctx());
  const given = frozen(newPayment(ctx(), { id: 'pmt_2', invoiceId: 'in_1', customerId: 'cus_1', currency: 'EUR' }));
  lane.add('payments', given).paymentId = 'pay_2';
  expect(lane.toState().payments.map((p) => p.paymentId)).toEqual(['pay_1', 'pay_2']);
  expect(given.paymentId).toBeNull();
});

it('the working copy of an invoice’s state stores a call with its key, and appends a ledger entry', () => {
  const before = lane({}, payment());
  const changed = new Lane(before, ctx());
  changed.call({ kind: 'finalize_invoice', invoiceId: 'in_1' }, 'in_1', { id: 'pmt_1' });
  const entry = paymentCollected(payment(), 2990n, at(0), null);
  changed.post(entry);
  const after = changed.toState();
  expect(after.calls.map((m) => [m.key, m.paymentRowId])).toEqual([['crossbill:finalize_invoice:in_1:1', 'pmt_1']]);
  expect(after.entries).toEqual(addEntry(before, entry).entries);
});

it('if a rule asks about a future time, Crossbill looks at the lane again at that time; a past time causes no later look', () => {
  const asked: (Date | null)[] = [];
  const lane = new Lane(full(), ctx(), (when) => asked.push(when));
  expect([at(-1), at(0), at(1), null].map((when) => lane.isPast(when))).toEqual([true, true, false, false]);
  expect(asked).toEqual([at(1)]);
  expect([lane.age(at(-5)), lane.in(5)]).toEqual([5, at(5)]);
});

it('a forbidden change of a payment’s mark status throws, and an allowed change updates the row in place', () => {
  const lane = new Lane(full(), ctx());
  const [p, r] = [lane.findPayment('pmt_1'), lane.refunds[0]];
  if (p === undefined || r === undefined) throw new Error('the lane is empty');
  moveMark(p, 'reporting', { markMode: 'payment_record' });
  moveMirror(r, 'waiting');
  expect([p.mark, p.markMode, r.mirror]).toEqual(['reporting', 'payment_record', 'waiting']);
  expect(() => moveMark(p, 'closed')).toThrow('a mark cannot move from reporting to closed');
  moveMark(p, 'waiting');
  expect(p.markMode).toBeNull();
});
