// When Crossbill reads an invoice that must be open.
import { describe, expect, it } from '@jest/globals';
import { type InvoiceRow } from '../../../src/domain/model.js';
import { openLook } from '../../../src/engine/facts.js';
import { never } from '../../support/never.js';
import { at, ctx, lane, withInvoice } from '../../support/waiting-payment.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

describe('the look at an invoice that must be open', () => {
  const look = (row: Partial<InvoiceRow>, now = ctx()) => openLook(withInvoice(lane(), row).invoice ?? never(), now);

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
});
