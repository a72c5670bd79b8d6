// A sender that got no answer sends everything again: what is known already must cost a batch no more statements than what is new.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Delivery } from '../../src/domain/ports/inbox.js';
import { delivery } from '../support/builders.js';
import { laneOnPostgres, type LaneOnPostgres } from '../support/lane-on-postgres.js';

const KNOWN = 200;

describe('a batch of deliveries that came before', () => {
  let x: LaneOnPostgres;
  beforeAll(async () => {
    x = await laneOnPostgres();
  });
  afterAll(() => x.close());

  it('is told to be known by a handful of statements, however many deliveries it has', async () => {
    const batch = Array.from({ length: KNOWN }, (_, n): Delivery =>
      delivery('mor_payments', `k${n}`, 'payment.x', `in_k${n}`, { id: `k${n}` }),
    );
    await x.inbox.store(batch);
    let statements = 0;
    x.db.intake.on('acquire', () => statements++);
    expect(await x.inbox.store(batch)).toEqual(batch.map(() => 'duplicate'));
    expect(statements).toBeLessThan(5);
  });
});
