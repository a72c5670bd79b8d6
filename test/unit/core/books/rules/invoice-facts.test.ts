// An invoice by events and reads of Stripe in any order, and the next read of an invoice that must be open.
import { expect, it } from '@jest/globals';
import { type InvoiceRow } from '../../../../../src/shared/domain/invoice-row.js';
import { type LaneState } from '../../../../../src/shared/domain/model.js';
import { type InvoiceFacts } from '../../../../../src/shared/domain/ports/billing-platform.js';
import { emptyLane } from '../../../../../src/engine/context.js';
import { isFresh, pollOpenAt, invoiceLookup } from '../../../../../src/core/books/rules/invoice-facts.js';
import { aCtx, facts, NOW } from '../../../../support/builders/channel-lane.js';
import { askAgain, requireRead, recordEvent, recordRead } from '../../../../support/rigs/decide.js';
import { never } from '../../../../support/never.js';
import { nextLookup } from '../../../../../src/engine/lookup.js';
import { refusal } from '../../../../support/builders/asked-refund.js';
import { applyRead } from '../../../../support/rigs/settle-rule.js';
import * as waiting from '../../../../support/builders/waiting-payment.js';
import { Lane } from '../../../../../src/engine/lane.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const at = (seconds: number): Date => new Date(NOW.getTime() + seconds * 1_000);
const lane = emptyLane('in_1');
const STATUSES = ['draft', 'open', 'uncollectible', 'void', 'paid', 'deleted'] as const;
const of = (state: LaneState): InvoiceRow => state.invoice ?? never();

const seen = (first: Partial<InvoiceFacts>, then: Partial<InvoiceFacts>, when: number): InvoiceRow => {
  const s = recordEvent(lane, aCtx(), facts(first), NOW);
  return of(recordEvent(s, aCtx(at(60)), facts(then), at(when)));
};

it('a Stripe event with a later invoice status always replaces the known status, and an event with an earlier status never does', () => {
  for (const [n, before] of STATUSES.entries()) {
    for (const [m, after] of STATUSES.entries()) {
      const same = (value: number): number => Math.min(value, 3); // void, paid and deleted are as far along
      const wanted = same(m) > same(n) ? after : before;
      expect([before, after, seen({ status: before }, { status: after }, -1).platformStatus]).toEqual([
        before,
        after,
        wanted,
      ]);
    }
  }
});

it('a Stripe event with the same invoice status counts unless Crossbill knows a newer event', () => {
  expect(seen({ amountDue: 100n }, { amountDue: 200n }, 1)).toMatchObject({ amountDue: 200n, factsAt: at(1) });
  expect(seen({ amountDue: 100n }, { amountDue: 200n }, 0)).toMatchObject({ amountDue: 200n });
  expect(seen({ amountDue: 100n }, { amountDue: 200n }, -1)).toMatchObject({ amountDue: 100n, factsAt: NOW });
  expect(seen({ status: 'paid' }, { status: 'void' }, 1).platformStatus).toBe('void');
});

it('a late Stripe event fills only the unknown fields of an invoice', () => {
  const blank = { customerCountry: null, number: null, billingReason: null, subscriptionId: null, createdAt: null };
  const news = {
    customerId: 'cus_9',
    customerCountry: 'DE',
    number: 'A-1',
    billingReason: 'manual',
    subscriptionId: 'sub_9',
    createdAt: at(-9),
  };
  const names = (invoice: InvoiceRow) => [
    invoice.customerId,
    invoice.customerCountry,
    invoice.number,
    invoice.billingReason,
    invoice.subscriptionId,
    invoice.platformCreatedAt,
  ];
  const filled = seen({ status: 'paid', ...blank }, { status: 'open', ...news, amountDue: 1n }, 9);
  expect(names(filled)).toEqual(['cus_1', 'DE', 'A-1', 'manual', 'sub_9', at(-9)]);
  expect(filled).toMatchObject({ platformStatus: 'paid', amountDue: 2990n, factsAt: NOW });
  const known = { status: 'paid', customerCountry: 'GB', number: 'B-2' } as const;
  expect(names(seen(known, { status: 'open', ...news }, 9))).toEqual([
    'cus_1',
    'GB',
    'B-2',
    'subscription_cycle',
    'sub_1',
    NOW,
  ]);
});

it('a draft invoice keeps the error of its failed finalization until the invoice is open', () => {
  const error = { finalizationError: 'no address' };
  expect(seen({ status: 'draft' }, { status: 'draft', ...error }, -1).finalizationError).toBe('no address');
  expect(seen({ status: 'open' }, { status: 'draft', ...error }, -1).finalizationError).toBeNull();
  expect(seen({ status: 'draft', ...error }, { status: 'draft' }, 1).finalizationError).toBe('no address');
  expect(seen({ status: 'draft', ...error }, { status: 'open', ...error }, 1).finalizationError).toBeNull();
  expect(
    seen({ status: 'draft', ...error }, { status: 'draft', finalizationError: 'no tax' }, -1).finalizationError,
  ).toBe('no address');
});

it('an invoice keeps its number and creation time when a later event omits them', () => {
  expect(seen({ number: 'A-1' }, { number: null, createdAt: null }, 1)).toMatchObject({
    number: 'A-1',
    platformCreatedAt: NOW,
  });
});

it('a read of an invoice from Stripe replaces the values of all earlier events', () => {
  const s = recordEvent(lane, aCtx(), facts({ status: 'paid' }), at(100));
  const read = of(
    recordRead({ ...s, invoice: { ...of(s), readDueAt: NOW, readAttempts: 3 } }, aCtx(at(1)), facts({ amountDue: 1n })),
  );
  expect(read).toMatchObject({
    platformStatus: 'open',
    amountDue: 1n,
    readAt: at(1),
    factsAt: at(1),
    readDueAt: null,
    readAttempts: 0,
  });
});

it('Crossbill shows an invoice missing on Stripe as deleted, and keeps its known values', () => {
  const s = recordRead(recordRead(lane, aCtx(), facts()), aCtx(at(1)), null);
  expect(of(s)).toMatchObject({ platformStatus: 'deleted', customerId: 'cus_1', amountDue: 2990n, readAt: at(1) });
  expect(of(recordRead(lane, aCtx(), null))).toMatchObject({
    invoiceId: 'in_1',
    platformStatus: 'deleted',
    firstSeenAt: NOW,
  });
});

it('a read of an invoice counts as fresh for ten seconds, even if the clock steps back', () => {
  const i = of(recordRead(lane, aCtx(), facts()));
  expect([0, 10, 10.001, -10, -10.001].map((s) => isFresh(i, at(s)))).toEqual([true, true, false, true, false]);
  expect(isFresh(null, NOW)).toBe(false);
  expect(isFresh({ ...i, readAt: null }, NOW)).toBe(false);
});

it('a rule can make Crossbill treat the last read of an invoice as old, and can also schedule a new read', () => {
  const s = recordRead(lane, aCtx(), facts());
  expect(of(requireRead(s))).toMatchObject({ readAt: null, readDueAt: null });
  expect(of(askAgain(s, aCtx(at(1))))).toMatchObject({ readAt: null, readDueAt: at(1) });
  expect([requireRead(lane), askAgain(lane, aCtx())]).toEqual([lane, lane]);
});

const poll = (row: Partial<InvoiceRow>, now = waiting.ctx()) =>
  pollOpenAt(waiting.withInvoice(waiting.lane(), row).invoice ?? never(), now);

it('Crossbill reads an open invoice again if its last read is too old, but never reads a finished invoice again', () => {
  for (const platformStatus of ['open', 'unknown'] as const) {
    expect(poll({ platformStatus })).toBeNull();
    expect(poll({ platformStatus, readAt: null })).toEqual(waiting.at(0));
  }
  for (const platformStatus of ['paid', 'void', 'uncollectible', 'deleted'] as const)
    expect(poll({ platformStatus, readAt: null })).toBeNull();
});

it('Crossbill reads a draft a minute after its planned finalization, then every quarter of an hour', () => {
  const draft = { platformStatus: 'draft', readAt: null } as const;
  expect(poll({ ...draft, finalizesAt: waiting.at(5 * HOUR_MS) })).toEqual(waiting.at(5 * HOUR_MS + MINUTE_MS));
  expect(poll({ ...draft, factsAt: waiting.at(2 * HOUR_MS) })).toEqual(waiting.at(3 * HOUR_MS + MINUTE_MS));
  expect(poll({ ...draft, factsAt: null, firstSeenAt: waiting.at(-HOUR_MS) })).toEqual(waiting.at(MINUTE_MS));
  const read = (readAt: Date) => poll({ ...draft, finalizesAt: waiting.at(0), readAt });
  expect(read(waiting.at(10 * MINUTE_MS))).toEqual(waiting.at(25 * MINUTE_MS));
  expect(read(waiting.at(-HOUR_MS))).toEqual(waiting.at(MINUTE_MS));
});

const laneWith = (over: Partial<InvoiceFacts> = {}, row: Partial<InvoiceRow> = {}): LaneState =>
  waiting.withInvoice(waiting.lane(over), row);
const texts = (state: LaneState) => state.journal.map((l) => l.text);

const read = (value: InvoiceFacts | null) =>
  applyRead(
    laneWith({}, { readAttempts: 2 }),
    { ok: true, value, status: 200, requestId: 'req_1' },
    waiting.ctx({}, 5_000),
  );

it('the timeline shows the result of an invoice’s read, with Stripe’s request id', () => {
  const s = read(facts({ amountRemaining: 1990n }));
  expect(s.invoice).toMatchObject({ amountRemaining: 1990n, readAt: waiting.at(5_000), readAttempts: 0 });
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
] as const)(
  'Crossbill repeats a failed read of an invoice from Stripe (outcome %s, failure number %i) %i ms later',
  (kind, readAttempts, pause) => {
    const s = applyRead(
      laneWith({}, { readAttempts }),
      refusal({ kind, status: 500, requestId: 'req_2' }),
      waiting.ctx(),
    );
    expect(s.invoice).toMatchObject({ readAttempts: readAttempts + 1, readDueAt: waiting.at(pause), amountDue: 2990n });
    const said = {
      text: 'read from Stripe failed: 500 not_refundable',
      detail: { call: 'read_invoice', requestId: 'req_2' },
    };
    expect(s.journal).toMatchObject(readAttempts < 3 ? [said] : []);
  },
);

it('the timeline shows only the first three failed reads of an invoice in a row', () => {
  const noted = (readAttempts: number) =>
    texts(applyRead(laneWith({}, { readAttempts }), refusal(), waiting.ctx())).length;
  expect([0, 2, 3].map(noted)).toEqual([1, 1, 0]);
});

it('Crossbill reads an invoice from Stripe at the requested time, not earlier', () => {
  const request = (state: LaneState, isDue = true) =>
    nextLookup(invoiceLookup)(new Lane(state, waiting.ctx({}, isDue ? 0 : -1)));
  const asked = laneWith({}, { readAt: null, readDueAt: waiting.at(0) });
  expect(request(asked)).toMatchObject({ name: 'read-invoice', question: 'in_1' });
  expect(request(asked, false)).toBeNull();
  for (const row of [{ readAt: null, readDueAt: null }, { readDueAt: waiting.at(0) }])
    expect(request(laneWith({}, row))).toBeNull();
  expect(request(emptyLane('in_1'))).toBeNull();
});
