// When a refused renewal gets a payment link.
import { FACTS } from '../../support/item-facts.js';
import { describe, expect, it } from '@jest/globals';
import { type Ctx } from '../../../src/engine/context.js';
import { putPayment, putRefund } from '../../support/put-rows.js';
import { type InvoiceRow, type LaneState, type PaymentRow } from '../../../src/domain/model.js';
import { type MorObjectRow } from '../../../src/domain/mor-object.js';
import { type InvoiceFacts } from '../../../src/domain/ports/billing-platform.js';
import { type FlowSettings } from '../../../src/domain/settings.js';
import { recoveryLookup, settleRecovery } from '../../../src/links/rules/link.js';
import { Lane } from '../../../src/engine/draft.js';
import { byEvent } from '../../support/asked-refund.js';
import { TRAIL } from '../../support/refused-renewal.js';
import { SCHEDULE } from '../../support/retry-rig.js';
import { aLink, aProforma, withObjects } from '../../support/channel-object.js';
import { at, ctx, lane, payment, withInvoice } from '../../support/waiting-payment.js';
import { openReview, decide } from '../../support/decide.js';

const HOUR_MS = 3_600_000;
const LINKS = { jurisdiction: 'GB', returnUrl: 'https://shop.example/thanks', expiresSec: 600 };
const asked = (ms = 0, over: Partial<FlowSettings> = {}): Ctx => ctx({ recoveryLinks: LINKS, ...over }, ms);
const refused = (over: Partial<PaymentRow> = {}): PaymentRow => ({
  ...payment({ mark: 'none', status: 'failed', succeededAt: null, verdictAt: at(0), ...over }),
  amount: over.amount ?? 2990n,
});
/** A renewal of 29.90 EUR, read just now, whose charge was refused. */
function renewal(
  row: Partial<InvoiceRow> = {},
  facts: Partial<InvoiceFacts> = {},
  ...payments: PaymentRow[]
): LaneState {
  const s = (payments.length === 0 ? [refused()] : payments).reduce(putPayment, lane(facts));
  return withInvoice(s, { expectedBy: at(HOUR_MS), ...row });
}
const made = (s: LaneState, of = asked()): readonly MorObjectRow[] =>
  decide(s, of, settleRecovery).objects.filter((o) => !s.objects.includes(o));
const own = { automatic: true, jurisdiction: 'GB' };

describe('a refused renewal', () => {
  it('gets a link over what is due, and the request for it', () => {
    const s = decide(renewal({}, { amountRemaining: 1990n }), asked(), settleRecovery);
    expect(s.objects).toMatchObject([
      {
        ...{ kind: 'payment_link', invoiceId: 'in_1', status: 'REQUESTED', amount: 1990n, currency: 'EUR' },
        ...{ morId: null, detail: own },
      },
    ]);
    expect(s.messages).toMatchObject([{ kind: 'create_payment_link', status: 'pending', subject: s.objects[0]?.id }]);
    expect(JSON.parse(s.messages[0]?.wire.body ?? '')).toMatchObject({
      ...{ ...LINKS, amount: { minor: '1990', currency: 'EUR' } },
    });
    expect(s.journal.map((l) => l.text)).toEqual(['make a payment link of 19.90 EUR (GB): the renewal was not paid']);
  });

  it('of an invoice that is not open, or was read more than ten seconds ago, gets none before it is read', () => {
    for (const s of [
      renewal({ platformStatus: 'draft' }),
      renewal({ platformStatus: 'unknown' }),
      renewal({ readAt: at(-10_001) }),
    ])
      expect(decide(s, asked(), settleRecovery)).toBe(s);
    expect(made(renewal({ readAt: at(-10_000) }))).toHaveLength(1);
    const nothing = { ...lane(), invoice: null };
    expect(decide(nothing, asked(), settleRecovery)).toBe(nothing);
  });

  const second = refused({ id: 'pmt_2', paymentId: 'pay_2' });
  const item = openReview(renewal(), asked(), { kind: 'dispute', subject: 'x', fact: FACTS.dispute });
  it.each<readonly [string, LaneState, Ctx?]>([
    ['no links are wanted', renewal(), asked(0, { recoveryLinks: null })],
    ['a schedule of retries says when', renewal(), asked(0, { retrySchedule: SCHEDULE })],
    ['no charge was refused', { ...lane(), payments: [] }],
    ['the invoice is a signup’s', renewal({ billingReason: 'subscription_create' })],
    ['no charge by the MoR is expected', renewal({ expectedBy: null })],
    ['one of two payments was taken', renewal({}, {}, second, refused({ mark: 'waiting' }))],
    ['a payment came by bank transfer', renewal({}, {}, second, refused({ origin: 'proforma' }))],
    ['something was refunded', putRefund(renewal(), byEvent())],
    ['a person is asked about the invoice', item],
    ['a proforma invoice is out', withObjects(renewal(), aProforma())],
    ['a link can be paid', withObjects(renewal(), aLink())],
    ['a link is being made', withObjects(renewal(), aLink({ status: 'REQUESTED' }))],
    ['its link was refused', withObjects(renewal(), aLink({ status: 'REFUSED', detail: own }))],
    ['a charge that a person ordered waits', renewal({ retries: { ...TRAIL, waitingSince: at(0).toISOString() } })],
  ])('gets no link where %s', (_, s, of = asked()) => {
    expect(made(s, of)).toEqual([]);
    const later = asked(HOUR_MS, of.settings);
    expect(recoveryLookup.wanted(new Lane(s, later))).toBeNull();
  });

  it.each<readonly [string, LaneState]>([
    ['the item about it is closed', { ...item, reviews: item.reviews.map((r) => ({ ...r, status: 'resolved' })) }],
    ['its proforma invoice was not issued', withObjects(renewal(), aProforma({ status: 'ISSUANCE_FAILED' }))],
    ['a link that a person asked for was refused', withObjects(renewal(), aLink({ status: 'REFUSED' }))],
    ['a refused link was set aside', withObjects(renewal(), aLink({ status: 'REPLACED', detail: own }))],
    ['no retry is waited for', renewal({ retries: TRAIL })],
  ])('gets a link although %s', (_, s) => {
    expect(made(s)).toHaveLength(1);
  });

  it('gets another link only after a refusal that came after the end of each link before', () => {
    const ended = (over: Partial<MorObjectRow> = {}) =>
      aLink({ id: 'lnk_a', status: 'EXPIRED', detail: own, deadline: at(-1_000), ...over });
    const after = (deadlines: (Date | null)[], over: Partial<MorObjectRow> = {}, ...verdicts: (Date | null)[]) => {
      const links = deadlines.map((deadline, i) => ended({ id: `lnk_${i}`, deadline, ...over }));
      const tries = verdicts.map((verdictAt, i) => refused({ id: `pmt_${i}`, paymentId: `pay_${i}`, verdictAt }));
      return made(withObjects(renewal({}, {}, ...tries), ...links), asked()).length;
    };
    expect(after([at(-1_000)])).toBe(1);
    expect(after([at(-1)], {}, at(0))).toBe(1);
    expect(after([at(0)], {}, at(0))).toBe(0);
    expect(after([at(-1_000), at(0)], {}, at(0))).toBe(0);
    expect(after([at(-1_000)], {}, at(-2_000), at(0))).toBe(1);
    expect(after([at(-1_000)], {}, at(-2_000), null)).toBe(0);
    expect(after([at(-1_000)], { readDueAt: at(0) }, at(0))).toBe(0);
    expect(after([null], { updatedAt: at(-1) }, at(0))).toBe(1);
    expect(after([null], { updatedAt: at(0) }, at(0))).toBe(0);
  });

  it('gets three links at most, beside those that a person asked for', () => {
    const ended = (n: number, detail: MorObjectRow['detail']) =>
      aLink({ id: `lnk_${n}`, status: 'EXPIRED', detail, deadline: at(-1_000) });
    const three = withObjects(renewal(), ended(1, own), ended(2, own));
    expect(made(withObjects(three, ended(3, {}), ended(4, {})))).toHaveLength(1);
    expect(made(withObjects(three, ended(3, own)))).toEqual([]);
  });

  it('gets each link under a name of its own, the same after a restored backup', () => {
    const name = (s: LaneState) => made(s)[0]?.id;
    const first = name(renewal());
    expect(first).toMatch(/^lnk_[0-9a-f]{32}$/);
    expect(name(renewal({}, {}, refused({ verdictAt: at(HOUR_MS) })))).toBe(first);
    const beside = [aLink({ id: 'lnk_x', status: 'REFUSED' }), aProforma({ status: 'REFUSED', detail: own })];
    expect(name(withObjects(renewal(), ...beside))).toBe(first);
    const aside = (n: number) => aLink({ id: `lnk_${n}`, status: 'REPLACED', detail: own });
    const names = [first, name(withObjects(renewal(), aside(1))), name(withObjects(renewal(), aside(1), aside(2)))];
    expect(new Set(names).size).toBe(3);
  });

  it('is read before a request for its link, after the pause of a failed read', () => {
    const wanted = (s: LaneState, of: Ctx) => recoveryLookup.wanted(new Lane(s, of));
    const stale = renewal({ readAt: null, readDueAt: at(1_000) });
    expect(wanted(stale, asked(1_000))).toBe('in_1');
    expect(wanted(stale, asked(999))).toBeNull();
    expect(wanted(renewal({ readAt: null }), asked())).toBe('in_1');
    expect(wanted(renewal(), asked())).toBeNull();
    expect(wanted(renewal({ platformStatus: 'draft', finalizesAt: at(HOUR_MS) }), asked())).toBeNull();
    expect(wanted({ ...renewal(), invoice: null }, asked())).toBeNull();
    expect(wanted(renewal({ platformStatus: 'unknown', expectedBy: null, readAt: null }), asked())).toBe('in_1');
  });
});
