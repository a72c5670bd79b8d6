// When a refused renewal gets a payment link by itself, for how much, in which country, and when its invoice is read for that.
import { FACTS } from '../support/item-facts.js';
import { describe, expect, it } from '@jest/globals';
import { type Ctx, openReview, putPayment, putRefund } from '../../src/engine/change.js';
import { type InvoiceRow, type LaneState, type PaymentRow } from '../../src/domain/model.js';
import { type MorObjectRow, endOfLink } from '../../src/domain/mor-object.js';
import { type InvoiceFacts } from '../../src/domain/ports/billing-platform.js';
import { type FlowSettings } from '../../src/domain/settings.js';
import {
  hasFallback,
  makeLink,
  openLook,
  recoveryErrand,
  recoveryLook,
  settleRecovery,
} from '../../src/links/rules/recovery.js';
import { byEvent } from '../support/asked-refund.js';
import { aLink, aProforma, withObjects } from '../support/channel-object.js';
import { never } from '../support/never.js';
import { TRAIL } from '../support/refused-renewal.js';
import { SCHEDULE } from '../support/retry-rig.js';
import * as waiting from '../support/waiting-payment.js';

const { at } = waiting;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const LINKS = { jurisdiction: 'GB', returnUrl: 'https://shop.example/thanks', expiresSec: 600 };
const ctx = (ms = 0, over: Partial<FlowSettings> = {}): Ctx => waiting.ctx({ recoveryLinks: LINKS, ...over }, ms);
const refused = (over: Partial<PaymentRow> = {}): PaymentRow => ({
  ...waiting.payment({ mark: 'none', status: 'failed', succeededAt: null, verdictAt: at(0), ...over }),
  amount: over.amount ?? 2990n,
});
/** A renewal of 29.90 EUR, read just now, whose charge was refused. */
function lane(row: Partial<InvoiceRow> = {}, facts: Partial<InvoiceFacts> = {}, ...payments: PaymentRow[]): LaneState {
  const s = (payments.length === 0 ? [refused()] : payments).reduce(putPayment, waiting.lane(facts));
  return waiting.withInvoice(s, { expectedBy: at(HOUR_MS), ...row });
}
const made = (s: LaneState, of = ctx()): readonly MorObjectRow[] =>
  settleRecovery(s, of).objects.filter((o) => !s.objects.includes(o));
const invoice = (s: LaneState): InvoiceRow => s.invoice ?? never();
const own = { automatic: true, jurisdiction: 'GB' };

describe('a refused renewal', () => {
  it('gets a link over what is due, and the request for it', () => {
    const s = settleRecovery(lane({}, { amountRemaining: 1990n }), ctx());
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
      lane({ platformStatus: 'draft' }),
      lane({ platformStatus: 'unknown' }),
      lane({ readAt: at(-10_001) }),
    ])
      expect(settleRecovery(s, ctx())).toBe(s);
    expect(made(lane({ readAt: at(-10_000) }))).toHaveLength(1);
    const nothing = { ...lane(), invoice: null };
    expect(settleRecovery(nothing, ctx())).toBe(nothing);
  });

  const second = refused({ id: 'pmt_2', paymentId: 'pay_2' });
  const item = openReview(lane(), ctx(), { kind: 'dispute', subject: 'x', fact: FACTS.dispute });
  it.each<readonly [string, LaneState, Ctx?]>([
    ['no links are wanted', lane(), ctx(0, { recoveryLinks: null })],
    ['a schedule of retries says when', lane(), ctx(0, { retrySchedule: SCHEDULE })],
    ['no charge was refused', { ...lane(), payments: [] }],
    ['the invoice is a signup’s', lane({ billingReason: 'subscription_create' })],
    ['no charge by the MoR is expected', lane({ expectedBy: null })],
    ['one of two payments was taken', lane({}, {}, second, refused({ mark: 'waiting' }))],
    ['a payment came by bank transfer', lane({}, {}, second, refused({ origin: 'proforma' }))],
    ['something was refunded', putRefund(lane(), byEvent())],
    ['a person is asked about the invoice', item],
    ['a proforma invoice is out', withObjects(lane(), aProforma())],
    ['a link can be paid', withObjects(lane(), aLink())],
    ['a link is being made', withObjects(lane(), aLink({ status: 'REQUESTED' }))],
    ['its link was refused', withObjects(lane(), aLink({ status: 'REFUSED', detail: own }))],
    ['a charge that a person ordered waits', lane({ retries: { ...TRAIL, waitingSince: at(0).toISOString() } })],
  ])('gets no link where %s', (_, s, of = ctx()) => {
    expect(made(s, of)).toEqual([]);
    expect(recoveryLook(s, ctx(HOUR_MS, of.settings))).toBeNull();
  });

  it.each<readonly [string, LaneState]>([
    ['the item about it is closed', { ...item, reviews: item.reviews.map((r) => ({ ...r, status: 'resolved' })) }],
    ['its proforma invoice was not issued', withObjects(lane(), aProforma({ status: 'ISSUANCE_FAILED' }))],
    ['a link that a person asked for was refused', withObjects(lane(), aLink({ status: 'REFUSED' }))],
    ['a refused link was set aside', withObjects(lane(), aLink({ status: 'REPLACED', detail: own }))],
    ['no retry is waited for', lane({ retries: TRAIL })],
  ])('gets a link although %s', (_, s) => {
    expect(made(s)).toHaveLength(1);
  });

  it('gets another link only after a refusal that came after the end of each link before', () => {
    const ended = (over: Partial<MorObjectRow> = {}) =>
      aLink({ id: 'lnk_a', status: 'EXPIRED', detail: own, deadline: at(-1_000), ...over });
    const after = (deadlines: (Date | null)[], over: Partial<MorObjectRow> = {}, ...verdicts: (Date | null)[]) => {
      const links = deadlines.map((deadline, i) => ended({ id: `lnk_${i}`, deadline, ...over }));
      const tries = verdicts.map((verdictAt, i) => refused({ id: `pmt_${i}`, paymentId: `pay_${i}`, verdictAt }));
      return made(withObjects(lane({}, {}, ...tries), ...links), ctx()).length;
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
    const three = withObjects(lane(), ended(1, own), ended(2, own));
    expect(made(withObjects(three, ended(3, {}), ended(4, {})))).toHaveLength(1);
    expect(made(withObjects(three, ended(3, own)))).toEqual([]);
  });

  it('gets each link under a name of its own, the same after a restored backup', () => {
    const name = (s: LaneState) => made(s)[0]?.id;
    const first = name(lane());
    expect(first).toMatch(/^lnk_[0-9a-f]{32}$/);
    expect(name(lane({}, {}, refused({ verdictAt: at(HOUR_MS) })))).toBe(first);
    const beside = [aLink({ id: 'lnk_x', status: 'REFUSED' }), aProforma({ status: 'REFUSED', detail: own })];
    expect(name(withObjects(lane(), ...beside))).toBe(first);
    const aside = (n: number) => aLink({ id: `lnk_${n}`, status: 'REPLACED', detail: own });
    const names = [first, name(withObjects(lane(), aside(1))), name(withObjects(lane(), aside(1), aside(2)))];
    expect(new Set(names).size).toBe(3);
  });
});

describe('a payment link of what is due', () => {
  const asked = (row: Partial<InvoiceRow>, of = ctx(), s = lane(row)) => makeLink(s, invoice(s), 'lnk_9', of);

  it.each<readonly [string, Partial<InvoiceRow>, Ctx?]>([
    ['nothing is due', { amountRemaining: 0n }],
    ['less than nothing is due', { amountRemaining: -1n }],
    ['it is not known what is due', { amountRemaining: null }],
    ['the currency is not known', { currency: null }],
    ['the settings want none', {}, ctx(0, { recoveryLinks: null })],
  ])('is not asked for when %s', (_, row, of = ctx()) => {
    const s = lane(row);
    expect(makeLink(s, invoice(s), 'lnk_9', of)).toBe(s);
  });

  it('is asked for from one cent on; in shadow mode it is written down as refused and not sent', () => {
    expect(asked({ amountRemaining: 1n }).objects).toMatchObject([{ id: 'lnk_9', amount: 1n, status: 'REQUESTED' }]);
    const shadow = asked({}, ctx(0, { shadow: true }));
    expect([shadow.objects[0]?.status, shadow.messages[0]?.status]).toEqual(['REFUSED', 'cancelled']);
  });

  it('is asked for in the customer’s country, until the MoR has refused to collect there', () => {
    const refusal = (status: number | null, ...fields: string[]): MorObjectRow['detail'] => ({
      ...{ automatic: true, jurisdiction: 'AT' },
      refusal: { status, code: 'no', message: 'no', errors: fields.map((field) => ({ field, message: 'no' })) },
    });
    const country = (...objects: MorObjectRow[]) =>
      asked({}, ctx(), withObjects(lane({ customerCountry: 'AT' }), ...objects)).objects.at(-1)?.detail.jurisdiction;
    const gone = (detail: MorObjectRow['detail'], over: Partial<MorObjectRow> = {}) =>
      aLink({ status: 'REPLACED', detail, ...over });
    expect(asked({ customerCountry: null }).objects[0]?.detail.jurisdiction).toBe('GB');
    expect(country()).toBe('AT');
    expect(country(gone(refusal(409)))).toBe('GB');
    expect(country(gone(refusal(400, 'amount', 'jurisdiction')))).toBe('GB');
    expect(country(aProforma(), gone(refusal(409)))).toBe('GB');
    for (const other of [
      gone(refusal(400, 'amount')),
      gone(refusal(null)),
      gone({ automatic: true, jurisdiction: 'AT' }),
      gone({ ...refusal(409), jurisdiction: 'DE' }),
      gone({ ...refusal(409), automatic: false }),
      aProforma({ status: 'REPLACED', detail: refusal(409) }),
    ]) {
      expect(country(other)).toBe('AT');
    }
  });

  it('that was refused for its country can be asked for in the one of the settings, unless it was that', () => {
    const status = { status: 409, code: null, message: 'no', errors: [] };
    const link = (detail: MorObjectRow['detail']) => aLink({ detail: { automatic: true, refusal: status, ...detail } });
    expect(hasFallback(link({ jurisdiction: 'AT' }), ctx())).toBe(true);
    expect(hasFallback(link({ jurisdiction: 'GB' }), ctx())).toBe(false);
    expect(hasFallback(link({}), ctx())).toBe(false);
    expect(hasFallback(aLink({ detail: { ...own, jurisdiction: 'AT' } }), ctx())).toBe(false);
    expect(hasFallback(link({ jurisdiction: 'AT' }), ctx(0, { recoveryLinks: null }))).toBe(true);
  });

  it('takes money until its deadline, or ended when it changed last', () => {
    expect(endOfLink(aLink({ deadline: at(1), updatedAt: at(2) }))).toEqual(at(1));
    expect(endOfLink(aLink({ deadline: null, updatedAt: at(2) }))).toEqual(at(2));
  });
});

describe('the look at an invoice that must be open', () => {
  const look = (row: Partial<InvoiceRow>, now = ctx()) => openLook(invoice(lane(row)), now);

  it('is due now where the last read is more than ten seconds old, and never once the invoice is over', () => {
    for (const platformStatus of ['open', 'unknown'] as const) {
      expect(look({ platformStatus })).toBeNull();
      expect(look({ platformStatus, readAt: null })).toEqual(at(0));
    }
    for (const platformStatus of ['paid', 'void', 'uncollectible', 'deleted'] as const)
      expect(look({ platformStatus, readAt: null })).toBeNull();
  });

  it('of a draft comes a minute after Stripe finalizes it, or after its usual hour, and then every quarter of an hour', () => {
    const draft = { platformStatus: 'draft', readAt: null } as const;
    expect(look({ ...draft, finalizesAt: at(5 * HOUR_MS) })).toEqual(at(5 * HOUR_MS + MINUTE_MS));
    expect(look({ ...draft, factsAt: at(2 * HOUR_MS) })).toEqual(at(3 * HOUR_MS + MINUTE_MS));
    expect(look({ ...draft, factsAt: null, firstSeenAt: at(-HOUR_MS) })).toEqual(at(MINUTE_MS));
    const read = (readAt: Date) => look({ ...draft, finalizesAt: at(0), readAt });
    expect(read(at(10 * MINUTE_MS))).toEqual(at(25 * MINUTE_MS));
    expect(read(at(-HOUR_MS))).toEqual(at(MINUTE_MS));
  });

  it('is an errand when it is due, after the pause that a failed read asks for', () => {
    const stale = lane({ readAt: null, readDueAt: at(1_000) });
    const due = (now: Ctx) => (when: Date | null) => when === null || when.getTime() <= now.now.getTime();
    const errand = (s: LaneState, now: Ctx) => recoveryErrand(s, now, due(now));
    const read = { name: 'read-invoice', question: 'in_1' };
    expect(errand(stale, ctx(1_000))).toMatchObject(read);
    expect(errand(stale, ctx(999))).toBeNull();
    expect(errand(lane({ readAt: null }), ctx())).toMatchObject(read);
    expect(errand(lane(), ctx())).toBeNull();
    expect(errand(lane({ platformStatus: 'draft', finalizesAt: at(HOUR_MS) }), ctx())).toBeNull();
    expect(errand({ ...lane(), invoice: null }, ctx())).toBeNull();
    expect(recoveryLook(lane({ platformStatus: 'unknown', expectedBy: null, readAt: null }), ctx())).toEqual(at(0));
  });
});
