// A fresh read of the invoice from Stripe: what the lane takes from it, and when it is made again.
import { describe, expect, it } from '@jest/globals';
import { emptyLane } from '../../../src/engine/context.js';
import { nextLookup } from '../../../src/engine/lookup.js';
import { invoiceLookup } from '../../../src/engine/read-invoice.js';
import { type InvoiceRow, type LaneState } from '../../../src/domain/model.js';
import { type InvoiceFacts } from '../../../src/domain/ports/billing-platform.js';
import { refusal } from '../../support/asked-refund.js';
import { facts } from '../../support/channel-lane.js';
import { applyRead } from '../../support/settle-rule.js';
import * as waiting from '../../support/waiting-payment.js';
import { Lane } from '../../../src/engine/draft.js';

const { at, ctx } = waiting;
const lane = (over: Partial<InvoiceFacts> = {}, row: Partial<InvoiceRow> = {}): LaneState =>
  waiting.withInvoice(waiting.lane(over), row);
const texts = (s: LaneState) => s.journal.map((l) => l.text);

describe('a read of the invoice', () => {
  const read = (value: InvoiceFacts | null) =>
    applyRead(lane({}, { readAttempts: 2 }), { ok: true, value, status: 200, requestId: 'req_1' }, ctx({}, 5_000));

  it('says what is due, or that there is no such invoice, with the number of Stripe’s request', () => {
    const s = read(facts({ amountRemaining: 1990n }));
    expect(s.invoice).toMatchObject({ amountRemaining: 1990n, readAt: at(5_000), readAttempts: 0 });
    expect(s.journal).toMatchObject([
      {
        text: 'read from Stripe: open, 19.90 EUR due',
        detail: { call: 'read_invoice', requestId: 'req_1' },
        kind: 'call',
      },
    ]);
    expect(texts(read(null))).toEqual(['read from Stripe: no such invoice']);
    expect(read(null).invoice?.platformStatus).toBe('deleted');
  });

  it.each([
    ['retry', 1, 2_000],
    ['unknown', 1, 2_000],
    ['stopped', 1, 60_000],
    ['refused', 1, 60_000],
    ['retry', 4, 16_000],
  ] as const)('that fails (%s, after %i tries) is made again after %i ms', (kind, readAttempts, pause) => {
    const s = applyRead(lane({}, { readAttempts }), refusal({ kind, status: 500, requestId: 'req_2' }), ctx());
    expect(s.invoice).toMatchObject({ readAttempts: readAttempts + 1, readDueAt: at(pause), amountDue: 2990n });
    const said = {
      text: 'read from Stripe failed: 500 not_refundable no',
      detail: { call: 'read_invoice', requestId: 'req_2' },
    };
    expect(s.journal).toMatchObject(readAttempts < 3 ? [said] : []);
  });

  it('that fails is noted three times', () => {
    const noted = (readAttempts: number) => texts(applyRead(lane({}, { readAttempts }), refusal(), ctx())).length;
    expect([0, 2, 3].map(noted)).toEqual([1, 1, 0]);
  });

  it('is an errand where somebody asked for one, when its time has come', () => {
    const errand = (s: LaneState, isDue = true) => nextLookup(invoiceLookup)(new Lane(s, ctx({}, isDue ? 0 : -1)));
    const asked = lane({}, { readAt: null, readDueAt: at(0) });
    expect(errand(asked)).toMatchObject({ name: 'read-invoice', question: 'in_1' });
    expect(errand(asked, false)).toBeNull();
    for (const row of [{ readAt: null, readDueAt: null }, { readDueAt: at(0) }])
      expect(errand(lane({}, row))).toBeNull();
    expect(errand(emptyLane('in_1'))).toBeNull();
  });
});
