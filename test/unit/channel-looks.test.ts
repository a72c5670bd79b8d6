// When a proforma invoice or a payment link is looked at, should its event be lost for good.
import { FACTS } from '../support/item-facts.js';
import { describe, expect, it } from '@jest/globals';
import { openReview } from '../../src/engine/change.js';
import { isPayableLink, type MorObjectRow, dueDate } from '../../src/domain/mor-object.js';
import { lookAtObjects, nextLook, objectErrand } from '../../src/mor-objects/rules/looks.js';
import { LINK, PROFORMA } from '../support/channel-lane.js';
import { aLink, aProforma, withObjects } from '../support/channel-object.js';
import { at, ctx as on, lane } from '../support/waiting-payment.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

describe('the looks at an object of which nothing is announced', () => {
  const look = (o: MorObjectRow, ms: number) => nextLook(o, at(ms))?.getTime() ?? null;
  const in_ = (ms: number) => at(ms).getTime();

  it('come after pauses of half its age, from a minute to a day', () => {
    const o = aProforma({ deadline: at(30 * DAY_MS) });
    expect([0, 10 * MINUTE_MS, 4 * DAY_MS].map((ms) => look(o, ms))).toEqual([
      ...[in_(MINUTE_MS), in_(15 * MINUTE_MS), in_(5 * DAY_MS)],
    ]);
  });

  it('at a link end a minute after it expires', () => {
    const link = aLink({ deadline: at(10 * MINUTE_MS) });
    expect(look(link, 9 * MINUTE_MS)).toBe(in_(11 * MINUTE_MS));
    expect(look(link, 0)).toBe(in_(MINUTE_MS));
    expect(look(link, 11 * MINUTE_MS)).toBe(in_(16.5 * MINUTE_MS));
    expect(look(aLink({ deadline: null }), 10 * MINUTE_MS)).toBe(in_(15 * MINUTE_MS));
    for (const status of ['PAID', 'EXPIRED', 'REQUESTED']) expect(look(aLink({ status }), 0)).toBeNull();
  });

  it('at a link of a status that no document has go on, and until its end the customer may pay it', () => {
    const link = aLink({ status: 'PROCESSING', deadline: at(10 * MINUTE_MS) });
    expect(look(link, 0)).toBe(in_(MINUTE_MS));
    expect(look(link, 20 * DAY_MS)).toBe(in_(21 * DAY_MS));
    expect([isPayableLink(link, at(0)), isPayableLink(link, at(DAY_MS))]).toEqual([true, false]);
    for (const status of ['UNKNOWN', 'PAID']) expect(isPayableLink(aLink({ status }), at(0))).toBe(false);
  });

  it('at a proforma invoice of a status that no document has go on', () => {
    expect(look(aProforma({ status: 'UNDER_REVIEW' }), 0)).toBe(in_(MINUTE_MS));
  });

  it('at a proforma invoice end when it is paid, dead or thirty days past its date', () => {
    for (const status of ['REQUESTED', 'SETTLED', 'ISSUANCE_FAILED']) expect(look(aProforma({ status }), 0)).toBeNull();
    expect([dueDate(aProforma()), dueDate(aProforma({ deadline: at(1) }))]).toEqual([at(30 * DAY_MS), at(1)]);
    expect(look(aProforma(), 60 * DAY_MS)).toBe(in_(61 * DAY_MS));
    expect(look(aProforma(), 60 * DAY_MS + 1)).toBeNull();
    expect(look({ ...aLink({ status: 'ISSUED' }), kind: 'e_invoice' }, 0)).toBeNull();
  });

  it('are planned for what has a name at the MoR and no look yet, and are errands when they are due', () => {
    const objects = [
      aLink({ id: 'lnk_0', morId: null }),
      aLink({ id: 'lnk_1', readDueAt: at(1) }),
      aLink({ id: 'lnk_2' }),
    ];
    const s = lookAtObjects(withObjects(lane(), ...objects), on());
    expect(s.objects.map((o) => o.readDueAt)).toEqual([null, at(1), at(MINUTE_MS)]);
    const errand = (due: Date, ...of: MorObjectRow[]) =>
      objectErrand(withObjects(lane(), ...of), on(), (when) => when?.getTime() === due.getTime());
    const read = { do: 'read-object', objectId: 'lnk_1', kind: 'payment_link', morId: LINK };
    expect(errand(at(1), aLink({ id: 'lnk_0', readDueAt: at(2) }), aLink({ readDueAt: at(1) }))).toEqual(read);
    expect(errand(at(1), aProforma({ readDueAt: at(1) }))).toMatchObject({ kind: 'proforma', morId: PROFORMA });
    const nothing = [
      aLink(),
      aLink({ morId: null, readDueAt: at(1) }),
      { ...aLink({ readDueAt: at(1) }), kind: 'dispute' as const },
    ];
    for (const o of nothing) expect(errand(at(1), o)).toBeNull();
  });

  it('change nothing else in the lane', () => {
    const s = openReview(withObjects(lane(), aLink({ status: 'PAID' })), on(), {
      ...{ kind: 'dispute', subject: 'x', fact: FACTS.dispute },
    });
    expect(lookAtObjects(s, on())).toBe(s);
  });
});
