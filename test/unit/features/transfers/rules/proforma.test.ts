// What the MoR says of a proforma invoice, in its answers and its events, and what a bank transfer for it brings.
import { expect, it } from '@jest/globals';
import { type LaneState } from '../../../../../src/shared/domain/model.js';
import { type MorObjectRow } from '../../../../../src/shared/domain/mor-object.js';
import { type ProformaFacts } from '../../../../../src/shared/domain/ports/mor-channels.js';
import { declares } from '../../../../../src/engine/items.js';
import {
  createProformaCall,
  applyIssuanceFailed,
  applyIssued,
  applySettled,
  unheardTransfers,
} from '../../../../../src/features/transfers/rules/proforma.js';
import { refusal } from '../../../../support/builders/asked-refund.js';
import { NOW, open, PROFORMA } from '../../../../support/builders/channel-lane.js';
import {
  aLink,
  aProforma,
  asking,
  channelEvent,
  eur,
  proformaFacts,
  withObjects,
} from '../../../../support/builders/channel-object.js';
import { aKind } from '../../../../support/builders/item-facts.js';
import { never } from '../../../../support/never.js';
import { applyObjectRead } from '../../../../support/rigs/object-calls.js';
import { asSettleRule } from '../../../../support/rigs/settle-rule.js';
import { at, ctx, lane } from '../../../../support/builders/waiting-payment.js';
import { asEventRule, openReview, onStates } from '../../../../support/rigs/decide.js';

const later = ctx({}, 5_000);
const HOUR_MS = 3_600_000;
const texts = (state: LaneState) => state.journal.map((l) => l.text);
const failure = { code: 'tax_input_invalid', message: 'the VAT number', failedAt: at(-1_000) };
const kept = { ...failure, failedAt: at(-1_000).toISOString() };

const requested = (...others: MorObjectRow[]) =>
  asking(withObjects(lane(), ...others), aProforma({ id: 'pfm_2', status: 'REQUESTED', morId: null, number: null }));
const made = (over: Partial<ProformaFacts> = {}, retryAfterMs: number | null = null) =>
  ({ kind: 'create_proforma', made: { kind: 'made', proforma: proformaFacts(over), retryAfterMs } }) as const;
const taken = { kind: 'create_proforma', made: { kind: 'reference_taken', morId: PROFORMA } } as const;
const rows = (state: LaneState) => state.objects.map((o) => [o.id, o.status, o.morId, o.readDueAt?.getTime() ?? null]);
const other = aProforma({ morId: 'pf_other' });
const due = at(5_000).getTime();

it("the MoR's answer to a proforma request updates that proforma invoice and no other", () => {
  const { s, m } = requested(other);
  const done = onStates(createProformaCall).answered(s, m, made({ status: 'PENDING_TAX_TRANSACTION' }), later);
  expect(rows(done)).toEqual([
    ['pfm_1', 'ISSUED', 'pf_other', null],
    ['pfm_2', 'PENDING_TAX_TRANSACTION', PROFORMA, null],
  ]);
  expect(done.objects[1]).toMatchObject({
    number: 'PF-1',
    updatedAt: at(5_000),
    detail: { merchantReference: 'in_1' },
  });
  for (const reply of [made(), taken])
    expect(onStates(createProformaCall).answered(lane(), m, reply, later)).toEqual(lane());
});

it('Crossbill reads a new proforma invoice only after the Retry-After time of the MoR', () => {
  const { s, m } = requested();
  const done = onStates(createProformaCall).answered(s, m, made({ status: 'PENDING_TAX_TRANSACTION' }, 2_000), later);
  expect(done.objects[0]?.readDueAt).toEqual(at(7_000));
});

it('a late answer to a proforma request does not overwrite the status and number from an earlier event', () => {
  const { s, m } = requested();
  const notified = withObjects(s, aProforma({ id: 'pfm_2', status: 'ISSUED', number: 'PF-7' }));
  const done = onStates(createProformaCall).answered(
    notified,
    m,
    made({ status: 'PENDING_TAX_TRANSACTION', number: null }),
    later,
  );
  expect(done.objects).toMatchObject([{ status: 'ISSUED', number: 'PF-7', updatedAt: NOW }]);
});

it('if the MoR already has a proforma invoice for this invoice, Crossbill adopts and reads that proforma invoice', () => {
  const { s, m } = requested(other);
  const done = onStates(createProformaCall).answered(s, m, taken, later);
  expect(rows(done)).toEqual([
    ['pfm_1', 'ISSUED', 'pf_other', null],
    ['pfm_2', 'REQUESTED', PROFORMA, due],
  ]);
  expect(done.objects[1]).toMatchObject({ readAttempts: 0, updatedAt: at(5_000) });
  expect(texts(done)).toEqual([`the MoR already has proforma invoice ${PROFORMA}: Crossbill uses it`]);
});

it.each([
  ['created', made(), 0],
  ['reference taken', taken, 1],
])(
  "if the MoR's answer (%s) names a known proforma invoice, the new row becomes REPLACED and Crossbill reads the known one",
  (_, reply, notes) => {
    const { s, m } = requested(aLink({ morId: PROFORMA }), aProforma({ readAttempts: 3 }));
    const done = onStates(createProformaCall).answered(s, m, reply, later);
    expect(rows(done)).toEqual([
      ['lnk_1', 'PAYABLE', PROFORMA, null],
      ['pfm_1', 'ISSUED', PROFORMA, due],
      ['pfm_2', 'REPLACED', null, null],
    ]);
    expect(done.objects[1]).toMatchObject({ readAttempts: 0, updatedAt: NOW });
    expect(done.objects[2]).toMatchObject({ detail: { replacedBy: 'pfm_1' }, updatedAt: at(5_000) });
    expect(texts(done)).toHaveLength(notes);
  },
);

it('a proforma invoice becomes REFUSED if the MoR refuses its request, and is marked unanswered without a reply', () => {
  const { s, m } = requested();
  expect(onStates(createProformaCall).refused(s, m, refusal(), later).objects).toMatchObject([{ status: 'REFUSED' }]);
  const silent = onStates(createProformaCall).silent(s, m, refusal({ kind: 'unknown' }), later);
  expect(silent?.objects).toMatchObject([{ status: 'REQUESTED', detail: { unanswered: true } }]);
});

const read = (object: MorObjectRow, proforma: Partial<ProformaFacts>) => {
  const facts = { kind: 'proforma', proforma: proformaFacts(proforma) } as const;
  const outcome = { ok: true, status: 200, requestId: null, value: facts } as const;
  return applyObjectRead(withObjects(lane(), object), object.id, outcome, later);
};
const shown = (object: MorObjectRow, proforma: Partial<ProformaFacts>) => {
  const { readAttempts: _, ...row } = read(object, proforma).objects[0] ?? never();
  return row;
};

it('a proforma invoice takes status, number and reference from the MoR, and keeps values that the MoR leaves out', () => {
  const o = aProforma({ detail: { merchantReference: 'in_0' } });
  expect(shown(o, { status: 'CANCELLED', number: 'PF-2', merchantReference: 'in_1' })).toMatchObject({
    ...{ status: 'CANCELLED', number: 'PF-2', detail: { merchantReference: 'in_1' }, updatedAt: at(5_000) },
  });
  const { readAttempts: _, ...same } = o;
  expect(shown(o, { number: null, merchantReference: null })).toEqual(same);
  expect(shown(aProforma(), { merchantReference: null }).detail).toEqual({ merchantReference: null });
});

it("a failed proforma invoice stores the MoR's reason, and the time if the MoR gives one", () => {
  const status = 'ISSUANCE_FAILED';
  expect(shown(aProforma(), { status, failure }).detail.failure).toEqual(kept);
  const undated = { ...failure, failedAt: null };
  expect(shown(aProforma(), { status, failure: undated }).detail.failure).toEqual(undated);
});

it('the timeline has a line only for a proforma invoice with a new status', () => {
  const o = aProforma({ readAttempts: 2 });
  const same = read(o, { status: 'ISSUED' });
  expect([same.objects[0]?.readAttempts, texts(same)]).toEqual([0, []]);
  expect(texts(read(o, { status: 'SETTLED' }))).toEqual(['proforma invoice PF-1 is SETTLED']);
});

const tell = (state: LaneState, data: object, failed = false) => {
  const type = failed ? 'proforma_invoice.issuance_failed' : 'proforma_invoice.issued';
  return asEventRule(failed ? applyIssuanceFailed : applyIssued)(state, channelEvent(type, data), later);
};
const id = { proformaInvoiceId: PROFORMA };

it('a proforma_invoice.issued event adds an unknown proforma invoice with its number', () => {
  const { state, verdict: outcome } = tell(lane(), { ...id, number: 'PF-9' });
  expect(state.objects).toMatchObject([
    { kind: 'proforma', morId: PROFORMA, status: 'ISSUED', number: 'PF-9', updatedAt: at(5_000) },
  ]);
  expect(outcome).toEqual({ status: 'done', reason: 'proforma invoice PF-9 is ISSUED' });
  expect(tell(lane(), id).verdict.reason).toBe(`proforma invoice ${PROFORMA} is ISSUED`);
  expect(tell(withObjects(lane(), aProforma()), { ...id, number: 'PF-9' }).state.objects[0]?.number).toBe('PF-1');
});

it.each([
  ['REQUESTED', 'ISSUED'],
  ['PENDING_TAX_TRANSACTION', 'ISSUED'],
  ['ISSUED', 'ISSUED'],
  ['ISSUANCE_FAILED', 'ISSUANCE_FAILED'],
  ['SETTLED', 'SETTLED'],
  ['BOOKED', 'BOOKED'],
])('a proforma_invoice.issued event turns the status %s into %s', (before, after) => {
  expect(tell(withObjects(lane(), aProforma({ status: before })), id).state.objects[0]?.status).toBe(after);
});

it("a proforma event finds its proforma invoice by the MoR's id anywhere in the event, and never a payment link", () => {
  const s = withObjects(
    lane(),
    aLink({ morId: 'pf_3' }),
    aProforma({ morId: null }),
    aProforma({ id: 'pfm_2', morId: 'pf_2' }),
  );
  expect(tell(s, { about: { x: 'pf_2', y: 'pf_3' } }, true).state.objects.map((o) => o.status)).toEqual([
    ...['PAYABLE', 'ISSUED', 'ISSUANCE_FAILED'],
  ]);
  for (const data of [{ about: 'pf_3' }, { about: 'pf_9' }]) {
    const { state, verdict: outcome } = tell(s, data);
    expect(state).toBe(s);
    expect(outcome.reason).toBe('names no proforma invoice of ours');
  }
});

it.each([
  ['with its code, reason and time', { issuanceFailure: { ...kept, reason: 'x' } }, kept, kept.code],
  ['with a reason alone', { reason: 'no' }, { code: null, message: 'no', failedAt: null }, 'no code given'],
  ['with a code alone', { code: 'c1' }, { code: 'c1', message: null, failedAt: null }, 'c1'],
  ['without a reason', {}, { code: null, message: null, failedAt: null }, 'no code given'],
])('a proforma_invoice.issuance_failed event %s marks the proforma invoice as failed', (_, data, notified, why) => {
  const { state, verdict: outcome } = tell(
    withObjects(lane(), aProforma({ detail: { merchantReference: 'in_1' } })),
    { ...id, ...data },
    true,
  );
  expect(state.objects).toMatchObject([
    {
      status: 'ISSUANCE_FAILED',
      detail: { merchantReference: 'in_1', failure: notified },
      updatedAt: at(5_000),
      number: 'PF-1',
    },
  ]);
  expect(outcome.reason).toBe(`proforma invoice PF-1 was not issued: ${why}`);
  expect(tell(lane(), { ...id, ...data }, true).verdict.reason).toContain(`proforma invoice ${PROFORMA} was not`);
});

const amount = (minor: string, currency = 'EUR') => ({ amount: minor, currency });
function came(received: object, total: object = amount('29.90'), state = withObjects(lane(), aProforma())) {
  const settledAt = at(-1_000).toISOString();
  const data = { proformaInvoiceId: PROFORMA, status: 'SETTLED', settledAt, total, amountReceived: received };
  const e = channelEvent('proforma_invoice.settled', data);
  if (e.kind !== 'proforma_invoice.settled') throw new Error(e.kind);
  return asEventRule(applySettled)(state, e, later);
}

it("Crossbill books a full bank transfer at the MoR's time, and its invoice waits to be marked paid", () => {
  const { state, verdict: outcome } = came(amount('29.90'));
  expect(state.payments).toMatchObject([
    { origin: 'proforma', reference: PROFORMA, amount: 2990n, succeededAt: at(-1_000), mark: 'waiting' },
  ]);
  expect(state.entries).toMatchObject([{ reason: 'payment_collected', amount: eur(2990n) }]);
  expect(state.objects).toMatchObject([
    { status: 'SETTLED', amount: 2990n, currency: 'EUR', updatedAt: at(5_000), paymentRowId: state.payments[0]?.id },
  ]);
  expect([open(state), outcome.reason]).toEqual([[], '29.90 EUR came by bank transfer for proforma invoice PF-1']);
});

it('Crossbill books and parks a partial bank transfer, and the review item names the missing amount', () => {
  const { state, verdict: outcome } = came(amount('29.89'));
  expect(state.payments).toMatchObject([{ amount: 2989n, mark: 'parked' }]);
  expect(open(state)).toMatchObject([
    {
      ...{ kind: 'partial_transfer', subject: state.payments[0]?.id, paymentRowId: state.payments[0]?.id },
      fact: { code: 'transfer-short', received: eur(2989n), total: eur(2990n), missing: eur(1n), proforma: 'PF-1' },
    },
  ]);
  expect(outcome.reason).toBe('the customer sent 29.89 EUR, 0.01 EUR is missing: the invoice stays open');
  const unknown = came(amount('29.89'), amount('29.90'), lane()).state;
  expect(open(unknown)[0]?.fact).toMatchObject({ proforma: PROFORMA, missing: eur(1n) });
  expect(unknown.objects).toMatchObject([{ status: 'SETTLED' }]);
  const again = came(amount('29.89'), amount('29.90'), state);
  expect([again.state.payments, again.state.reviews]).toEqual([state.payments, state.reviews]);
  expect(again.verdict.reason).toBe('this payment is already recorded');
});

it('a bank transfer above the total or in another currency waits for the comparison with the invoice', () => {
  for (const received of [amount('30.00'), amount('10.00', 'USD')]) {
    const { state } = came(received);
    expect([state.payments[0]?.mark, open(state)]).toEqual(['waiting', []]);
  }
});

it('a late transfer event leaves a proforma invoice BOOKED', () => {
  expect(
    came(amount('29.90'), amount('29.90'), withObjects(lane(), aProforma({ status: 'BOOKED' }))).state.objects,
  ).toMatchObject([{ status: 'BOOKED' }]);
});

const settleTransfers = asSettleRule(declares(unheardTransfers));

const polls: (Date | null)[] = [];
const settled = (state: LaneState, ms = HOUR_MS): LaneState => {
  polls.length = 0;
  return settleTransfers(state, ctx({}, ms), (when) => polls.push(when));
};

it.each(['SETTLED', 'INVOICED', 'BOOKED'])(
  'a %s proforma invoice without a transfer event for an hour opens a review item',
  (status) => {
    const s = withObjects(lane(), aProforma({ status }));
    expect(settled(s, HOUR_MS - 1)).toBe(s);
    expect(polls).toEqual([at(HOUR_MS)]);
    expect(open(settled(s))).toMatchObject([
      {
        ...{ kind: 'conflicting_event', subject: 'pfm_1' },
        fact: { code: 'transfer-unheard', object: 'proforma invoice PF-1' },
      },
    ]);
    const [nameless] = open(settled(withObjects(lane(), aProforma({ status, number: null }))));
    expect(nameless?.fact).toMatchObject({ object: `proforma invoice ${PROFORMA}` });
  },
);

it('for an unpaid proforma invoice or a settled payment link, Crossbill opens no item about a missing transfer event', () => {
  for (const o of [aProforma(), aLink({ status: 'SETTLED' })]) {
    const s = withObjects(lane(), o);
    expect(settled(s)).toBe(s);
    expect(polls).toEqual([]);
  }
});

it('a late transfer event closes only the review item of its own proforma invoice', () => {
  const subjects = [
    ['conflicting_event', 'pfm_2'],
    ['effect_failed', 'pfm_1'],
  ] as const;
  const asked = subjects.reduce(
    (s, [kind, subject]) => openReview(s, ctx(), { ...aKind(kind), subject }),
    settled(withObjects(lane(), aProforma({ status: 'SETTLED' }))),
  );
  const done = settled(withObjects(asked, aProforma({ status: 'SETTLED', paymentRowId: 'pmt_1' })));
  expect(open(done).map((r) => [r.kind, r.subject])).toEqual(subjects);
  expect(done.reviews[0]).toMatchObject({ resolution: 'cleared' });
  expect(polls).toEqual([]);
});
