// The totals of tax calculations in a real PostgreSQL.
import { expect, it } from '@jest/globals';
import { money } from '../../src/shared/domain/money.js';
import { DAY_MS } from '../../src/shared/policy.js';
import { TaxTotalsRepository } from '../../src/core/signups/tax-totals.repository.js';
import { type LaneOnPostgres, laneForEach } from '../support/rigs/lane-on-postgres.js';

let x: LaneOnPostgres;
let totals: TaxTotalsRepository;
laneForEach((opened) => {
  x = opened;
  totals = new TaxTotalsRepository(x.db, x.harness.clock);
});

it('the total of a tax calculation is found for as long as the MoR takes the calculation, and its row goes afterwards', async () => {
  const total = money(3558n, 'EUR');
  await totals.keep('tc_1', total);
  await totals.keep('tc_1', money(1n, 'EUR')); // the MoR's ids are unique: the first total stands
  expect(await totals.find('tc_1')).toEqual(total);
  expect(await totals.find('tc_elsewhere')).toBeNull();
  x.harness.clock.advance(7 * DAY_MS);
  await totals.keep('tc_2', total);
  expect(await totals.find('tc_1')).toEqual(total);
  x.harness.clock.advance(2 * DAY_MS);
  await totals.keep('tc_3', total);
  expect([await totals.find('tc_1'), await totals.find('tc_2')]).toEqual([null, total]);
});
