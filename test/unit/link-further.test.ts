// Several announcements on a payment link: the first counts, and one item asks a person about every further one while nothing is charged.
import { wordsOf } from '../support/item-words.js';
import { describe, expect, it } from '@jest/globals';
import { moneyAnnounced } from '../../src/engine/open-money.js';
import { type ReviewRow } from '../../src/domain/model.js';
import { announcedOn, type Observation } from '../../src/domain/mor-object.js';
import { furtherIn } from '../../src/links/rules/announced.js';
import {
  away,
  byKey,
  captured,
  CHARGED_NEXT,
  dismissed,
  givenBack,
  gone,
  hours,
  isPaid,
  notGiven,
  openItems,
  paid,
  taken,
  withLink,
  withLinkAsked,
  withTwoCharges,
} from '../support/announced-link.js';
import { aRefund, INVOICE_ID } from '../support/builders.js';
import { aLink, announced, withObjects } from '../support/channel-object.js';
import { retry, type rig, state } from '../support/retry-rig.js';
import { lane, payment } from '../support/waiting-payment.js';

type Rig = ReturnType<typeof rig>;

const FURTHER = `${INVOICE_ID}:announced`;
const NAMES = [
  ['a charge', { pspReference: 'ch_10' }],
  ['the MoR’s id', { pspReference: undefined, paymentId: 'pay_10' }],
  ['both', { pspReference: 'ch_10', paymentId: 'pay_10' }],
  ['nothing', { pspReference: undefined }],
] as const;

const again = (r: Rig, names: object = NAMES[2][1], id = 'evt_captured_2'): Promise<unknown> =>
  r.h.take(captured(r, id, { paymentLinkId: 'link_1', ...names }));

const items = async (r: Rig): Promise<readonly (readonly [ReviewRow['kind'], string])[]> =>
  (await openItems(r)).map((x) => [x.kind, x.kind === 'double_payment' ? '' : x.subject]);
const ONE_ITEM = [['conflicting_event', FURTHER]];
const SECOND = [['double_payment', '']];

/** A link whose first payment, of charge ch_9, is marked: a read of it showed the link as paid. */
async function marked(): Promise<Rig> {
  const r = await withLink(CHARGED_NEXT);
  r.links.pay('link_1');
  await r.h.take(captured(r));
  await hours(r, 2);
  expect(await taken(r)).toEqual(['ch_9 confirmed']);
  return r;
}

describe('a further payment that was announced on a link', () => {
  it.each(NAMES)('by %s is one item, and the first payment stays as it is', async (_, names) => {
    const r = await marked();
    await again(r, names);
    await hours(r, 3);
    expect([await taken(r), await items(r)]).toEqual([['ch_9 confirmed'], ONE_ITEM]);
    const s = await state(r);
    expect(s.entries.map((e) => e.reason)).toEqual(['payment_collected', 'payment_marked']);
    expect(s.objects[0]?.detail.observed?.map((x) => [x.source, x.eventId])).toEqual([
      ['event', 'evt_captured'],
      ['read', null],
      ['event', 'evt_captured_2'],
    ]);
  });

  it('is listed in the item with every other announcement: source, names, amount and time', async () => {
    const r = await marked();
    await again(r, { ...NAMES[2][1], amount: { amount: '10.00', currency: 'EUR' } });
    const [item] = await openItems(r);
    for (const fact of ['event evt_captured,', 'charge ch_9', '(read, ', 'payment pay_10, charge ch_10, 10.00 EUR'])
      expect(wordsOf(item).summary).toContain(fact);
  });

  it.each([
    ['charge', { pspReference: 'ch_9' }],
    ['charge, with its id', { pspReference: 'ch_9', paymentId: 'pay_9' }],
  ])('is none where it repeats the first one’s %s', async (_, names) => {
    const r = await marked();
    await again(r, names);
    await hours(r, 3);
    expect([await taken(r), await items(r)]).toEqual([['ch_9 confirmed'], []]);
  });

  it('is one item whatever comes after it, on one link or another', async () => {
    const r = await marked();
    for (const n of [10, 11, 10])
      await again(r, { pspReference: `ch_${n}` }, `evt_${n}_${(await state(r)).journal.length}`);
    expect(await items(r)).toEqual(ONE_ITEM);
    expect(wordsOf((await openItems(r))[0]).summary).toContain('charge ch_11');
  });

  it('is one item where the link is unknown to the MoR or was never given, beside that of the first', async () => {
    const known = await withTwoCharges(gone);
    await hours(known, 12);
    const { objects } = await state(known);
    expect((await items(known)).toSorted()).toEqual([...ONE_ITEM, ['conflicting_event', objects[0]?.id]].toSorted());
    const r = await withLinkAsked(notGiven);
    const key = await byKey(r);
    await r.h.take(captured(r, 'evt_captured', key));
    await paid(r, 'pay_9', 'ch_9');
    await r.h.take(captured(r, 'evt_captured_2', { ...key, pspReference: 'ch_10' }));
    expect(await items(r)).toContainEqual(ONE_ITEM[0]);
  });

  it('is not marked, whichever came first, though both came before a read of the link', async () => {
    const r = await withTwoCharges(away);
    isPaid(r);
    await hours(r, 12);
    expect([await taken(r), await items(r)]).toEqual([['ch_9 confirmed'], ONE_ITEM]);
  });

  it.each(['before', 'after'])('is a double payment once its own event comes, %s the announcement', async (when) => {
    const r = await marked();
    if (when === 'before') await paid(r, 'pay_10', 'ch_10');
    await again(r);
    if (when === 'after') await paid(r, 'pay_10', 'ch_10');
    await hours(r, 2);
    expect([await taken(r), await items(r)]).toEqual([['ch_9 confirmed', 'ch_10 parked'], SECOND]);
    await givenBack(r, 'pay_10', 'ch_10');
    await hours(r, 2);
    expect([await taken(r), await items(r)]).toEqual([['ch_9 confirmed', 'ch_10 closed'], []]);
  });

  it.each([
    ['without its amount', {}, ONE_ITEM],
    ['with its amount', { amount: { amount: '10.00', currency: 'EUR' } }, SECOND],
  ])('%s is closed once all of it was given back in the portal, and the books show it', async (_, sum, part) => {
    const r = await marked();
    await again(r, { ...NAMES[2][1], ...sum });
    await r.h.take(aRefund({ paymentId: 'pay_10', chargeId: 'ch_10', amount: 400 }));
    await hours(r, 1);
    expect(await items(r)).toEqual(part);
    const rest = { refundId: 'rfnd_2', amount: 600, total: 1000 };
    await r.h.take(aRefund({ paymentId: 'pay_10', chargeId: 'ch_10', ...rest }));
    await hours(r, 3);
    const { payments, refunds, entries } = await state(r);
    expect([await taken(r), await items(r)]).toEqual([['ch_9 confirmed', 'ch_10 closed'], []]);
    expect(payments.map((p) => p.amountRefunded)).toContain(1000n);
    expect(refunds.map((x) => x.mirror)).toEqual(['not_needed', 'not_needed']);
    expect(entries.slice(2).map((e) => [e.reason, e.amount.minor])).toEqual([
      ['payment_collected', 1000n],
      ['refund_paid', 400n],
      ['refund_paid', 600n],
      ['refund_of_unmarked', 400n],
      ['refund_of_unmarked', 600n],
    ]);
  });
});

describe('the item of a further announcement', () => {
  it('is dismissed for good, until another payment is announced', async () => {
    const r = await marked();
    await again(r);
    await dismissed(r);
    await again(r, { pspReference: 'ch_10' }, 'evt_repeat');
    await hours(r, 3);
    expect(await items(r)).toEqual([]);
    await again(r, { pspReference: 'ch_11' }, 'evt_news');
    await hours(r, 3);
    expect(await items(r)).toEqual(ONE_ITEM);
  });

  it('keeps everything from being charged while it is open: no retry, no relay, no link', async () => {
    const r = await withTwoCharges(gone);
    await hours(r, 12);
    const own = (await openItems(r)).findIndex((x) => x.subject !== FURTHER);
    await dismissed(r, own);
    expect(await items(r)).toEqual(ONE_ITEM);
    expect(moneyAnnounced(await state(r))).not.toBeNull();
    const before = (await state(r)).messages.length;
    expect(await retry(r)).toMatchObject({ ok: false });
    await hours(r, 72);
    expect((await state(r)).messages).toHaveLength(before);
    await dismissed(r);
    expect(moneyAnnounced(await state(r))).toBeNull();
    expect(await retry(r)).toMatchObject({ ok: true });
  });
});

describe('the payments that events announced on a link', () => {
  const on = (...observed: Observation[]) => aLink({ detail: { observed } });
  const named = (charge: string | null, paymentId: string | null) => announced({ charge, paymentId });
  const names = (x: Observation): readonly (string | null)[] => [x.charge, x.paymentId];

  it.each<[string, readonly Observation[], readonly (readonly (string | null)[])[]]>([
    [
      'of two charges are two',
      [named('ch_1', null), named('ch_2', null)],
      [
        ['ch_1', null],
        ['ch_2', null],
      ],
    ],
    ['of one charge are one', [named('ch_1', null), named('ch_1', 'pay_1')], [['ch_1', 'pay_1']]],
    ['of one id are one', [named(null, 'pay_1'), named('ch_1', 'pay_1')], [['ch_1', 'pay_1']]],
    [
      'of one id and two charges keep the first charge',
      [named('ch_1', 'pay_1'), named('ch_2', 'pay_1')],
      [['ch_1', 'pay_1']],
    ],
    [
      'without a name are not told to be one',
      [named(null, null), named(null, null)],
      [
        [null, null],
        [null, null],
      ],
    ],
    ['do not count what a read showed', [announced({ source: 'read' }), named('ch_1', null)], [['ch_1', null]]],
  ])('%s', (_, observed, expected) => {
    expect(announcedOn(on(...observed)).map(names)).toEqual(expected);
  });

  it('are further from the second on, unless the books have them', () => {
    const link = on(named('ch_1', null), named('ch_2', null), named(null, 'pay_3'), named('ch_4', null));
    const s = withObjects(lane(), { ...link, paymentRowId: 'pmt_1' });
    const books = [
      payment({ processorChargeId: 'ch_1' }),
      payment({ id: 'pmt_2', paymentId: 'pay_2', processorChargeId: 'ch_2' }),
      payment({ id: 'pmt_3', paymentId: 'pay_3', processorChargeId: null, identifiedBy: 'ada' }),
    ];
    expect(furtherIn({ ...s, payments: books }).map(names)).toEqual([
      [null, 'pay_3'],
      ['ch_4', null],
    ]);
  });

  it('are all further where the link’s payment in the books has another name of the MoR’s', () => {
    const s = withObjects(lane(), { ...on(named('ch_9', null)), paymentRowId: 'pmt_1' });
    expect(furtherIn({ ...s, payments: [payment({ processorChargeId: 'ch_1' })] }).map(names)).toEqual([
      ['ch_9', null],
    ]);
  });
});
