// An invoice that waits for a bank transfer: when it is overdue.
import { describe, expect, it } from '@jest/globals';
import { type LaneState } from '../../../src/domain/model.js';
import { type MorObjectRow, newMorObject } from '../../../src/domain/mor-object.js';
import { type FlowSettings } from '../../../src/domain/settings.js';
import { type Ctx } from '../../../src/engine/context.js';
import { debitLookup } from '../../../src/invoices/rules/verdict.js';
import { aCtx, anOpenInvoice, hear, NOW, open, PROFORMA } from '../../support/channel-lane.js';
import { settle } from '../../support/settled.js';
import { decide } from '../../support/decide.js';
import { putObject } from '../../support/put-rows.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const at = (ms: number, settings: Partial<FlowSettings> = {}): Ctx => aCtx(new Date(NOW.getTime() + ms), settings);

function aProforma(over: Partial<MorObjectRow> = {}): MorObjectRow {
  const known = { id: 'pfm_1', kind: 'proforma', invoiceId: 'in_1', status: 'ISSUED', morId: PROFORMA } as const;
  return newMorObject(NOW, { ...known, ...over });
}

describe('an invoice that waits for a bank transfer', () => {
  const deadline = new Date(NOW.getTime() + 14 * DAY_MS);
  /** Settled once it was looked up that the customer does not pay by debit, which comes before any alarm. */
  const settledNotByDebit = (s: LaneState, ctx: Ctx): LaneState =>
    settle(
      decide(settle(s, ctx), ctx, (lane) => debitLookup.take(lane, false, 'cus_1')),
      ctx,
    );

  it('is overdue after its own due date, not after the renewal’s', () => {
    const s = settle(putObject(anOpenInvoice(), { ...aProforma({ deadline }), readDueAt: deadline }), aCtx());
    expect(open(settle(s, at(2 * DAY_MS, {})))).toEqual([]);
    const late = settledNotByDebit(s, at(14 * DAY_MS, {}));
    expect(open(late)).toMatchObject([{ kind: 'renewal_overdue' }]);
  });

  it('is overdue no more when it was made after the alarm, and again once it was not issued', () => {
    const overdue = settledNotByDebit(anOpenInvoice(), at(2 * DAY_MS, {}));
    expect(open(overdue)).toMatchObject([{ kind: 'renewal_overdue' }]);
    const s = settle(putObject(overdue, aProforma({ deadline })), at(2 * DAY_MS, {}));
    expect(open(s)).toEqual([]);
    const data = { proformaInvoiceId: PROFORMA, message: 'no' };
    expect(open(hear(s, 'proforma_invoice.issuance_failed', data, at(2 * DAY_MS, {})))).toMatchObject([
      { kind: 'renewal_overdue' },
    ]);
  });
});
