// Shadow mode: what was decided and only watched.
import { expect, it } from '@jest/globals';
import { type InvoiceRow, type LaneState, type OutboxRow, type PaymentRow } from '../../../../src/domain/model.js';
import { type InvoiceFacts } from '../../../../src/domain/ports/billing-platform.js';
import { type FlowSettings } from '../../../../src/domain/settings.js';
import { type Ctx } from '../../../../src/engine/context.js';
import { putPayment, putMessage } from '../../../support/put-rows.js';
import { beforeTheMark, decideShadowedAgain, isShadowed, settleShadowed } from '../../../../src/payments/rules/mark.js';
import { eur } from '../../../support/channel-object.js';
import { never } from '../../../support/never.js';
import * as waiting from '../../../support/waiting-payment.js';
import { decide, addMessage } from '../../../support/decide.js';

const { payment } = waiting;
const ctx = (over: Partial<FlowSettings> = {}, ms = 0): Ctx => waiting.ctx(over, ms);
const lane = (over: Partial<InvoiceFacts> = {}, row: Partial<InvoiceRow> = {}, ...payments: PaymentRow[]): LaneState =>
  waiting.withInvoice(waiting.lane(over, ...payments), row);
const texts = (s: LaneState) => s.journal.map((l) => l.text);

const followed = (s: LaneState, p: PaymentRow) =>
  decide(s, ctx(), (l) => settleShadowed(l, Object.assign(l.findPayment(p.id) ?? never(), { amount: p.amount })));

const shadow = { status: 'cancelled', lastCode: 'shadow_mode' } as const;
const reporting = payment({ mark: 'reporting' });
const wish = { peer: 'stripe', kind: 'report_payment', wire: { method: 'POST', path: '/x', body: null } } as const;
const decided = (
  over: Partial<OutboxRow> = shadow,
  p: PaymentRow = reporting,
  status: InvoiceFacts['status'] = 'open',
) => {
  const s = addMessage(putPayment(lane({ status }), p), ctx(), { ...wish, subject: p.paymentId ?? p.id });
  return putMessage(s, { ...(s.messages[0] ?? never()), ...over });
};

it('a mark is a shadow mark if its newest call is stored and unsent', () => {
  expect(isShadowed(decided(), reporting)).toBe(true);
  expect(isShadowed(decided({ ...shadow, subject: 'pmt_1' }), reporting)).toBe(true);
  for (const over of [
    { ...shadow, status: 'done' },
    { status: 'cancelled', lastCode: null },
    { ...shadow, subject: 'pay_9' },
    { ...shadow, kind: 'attach_payment' },
  ] as const)
    expect(isShadowed(decided(over), reporting)).toBe(false);
  expect(isShadowed(lane(), reporting)).toBe(false);
  const s = decided();
  const later = putMessage(s, { ...(s.messages[0] ?? never()), id: 'out_9', status: 'done', lastCode: null });
  expect(isShadowed(later, reporting)).toBe(false);
});

it("Crossbill compares a shadow mark with the invoice before somebody else's mark", () => {
  const of = (row: Partial<InvoiceRow>) =>
    beforeTheMark({ ...(lane().invoice ?? never()), amountRemaining: 0n, ...row });
  expect(of({ platformStatus: 'paid' })).toMatchObject({ platformStatus: 'open', amountRemaining: 2990n });
  expect(of({ platformStatus: 'void' })).toMatchObject({ platformStatus: 'void', amountRemaining: 0n });
});

it("Crossbill books a shadow mark only after somebody else's mark", () => {
  const s = followed(decided(shadow, reporting, 'paid'), reporting);
  expect(s.payments).toMatchObject([{ mark: 'confirmed' }]);
  expect(s.entries).toMatchObject([{ reason: 'payment_marked', amount: eur(2990n) }]);
  expect(texts(s)).toEqual(['payment pay_1 is marked as shadow mode decided; somebody else did it']);
  for (const before of [decided(), { ...decided(), invoice: null }]) expect(followed(before, reporting)).toBe(before);
  const paid = decided(shadow, reporting, 'paid');
  expect(followed(paid, { ...reporting, amount: null }).payments).toMatchObject([{ mark: 'reporting' }]);
});

it("after shadow mode a person's request decides an open shadow mark again", () => {
  const other = payment({ id: 'pmt_2', paymentId: 'pay_2', mark: 'reporting' });
  const s = putPayment(decided(), other);
  const anew = decide(s, ctx(), decideShadowedAgain);
  expect(anew.payments.map((p) => p.mark)).toEqual(['waiting', 'reporting']);
  expect(texts(anew)).toEqual(['payment pay_1 was decided in shadow mode and nobody marked it: decided again']);
  expect(decide(s, ctx({ shadow: true }), decideShadowedAgain)).toBe(s);
  const paid = decided(shadow, reporting, 'paid');
  expect(decide(paid, ctx(), decideShadowedAgain)).toBe(paid);
  expect(decide({ ...s, invoice: null }, ctx(), decideShadowedAgain).payments[0]?.mark).toBe('waiting');
});
