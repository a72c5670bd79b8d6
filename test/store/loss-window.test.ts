// After an outage longer than the MoR's tries, Crossbill looks up all waiting rows, however many.
import { expect, it } from '@jest/globals';
import { MorLookups } from '../../src/frames/mor/mor-lookups.js';
import { type Database } from '../../src/frames/store/database.js';
import { EndpointsLogRepository } from '../../src/features/verify/endpoints-log.repository.js';
import { LossRepository } from '../../src/features/verify/loss.repository.js';
import { LossWindowService } from '../../src/features/verify/loss-window.service.js';
import { ManualClock } from '../support/fakes/clock.js';
import { FakeLinks } from '../support/fakes/fake-links.js';
import { databaseForAll } from '../support/rigs/use-database.js';

const WAITING = 1_001;
const NOW = new Date('2026-11-20T12:00:00Z');

let db: Database;
databaseForAll((opened) => {
  db = opened;
});

it('after a long outage, Crossbill reports each of a thousand renewals and payment links that waited for the MoR', async () => {
  await db.pool.query(
    `insert into endpoints_open (id, opened_at, seen_at)
     values ('before', '2026-11-18T00:00:00Z', '2026-11-18T12:00:00Z'), ('after', '2026-11-20T00:00:00Z', $1)`,
    [NOW],
  );
  await db.pool.query(
    `insert into invoice (invoice_id, customer_id, status, platform_status, platform_created_at, first_seen_at)
     select 'in_' || n, 'cus_' || n, 'expected', 'open', '2026-11-18T06:00:00Z', '2026-11-18T06:00:00Z' from generate_series(1, $1::int) n`,
    [WAITING],
  );
  await db.pool.query(
    `insert into mor_object (id, kind, mor_id, invoice_id, status, created_at, updated_at)
     select 'obj_' || n, 'payment_link', 'link_' || n, 'in_' || n, 'PAYABLE', '2026-11-18T06:00:00Z', '2026-11-18T06:00:00Z'
       from generate_series(1, $1::int) n`,
    [WAITING],
  );
  const clock = new ManualClock(NOW);
  const links = new FakeLinks(clock); // the MoR knows none of the links
  const endpoints = new EndpointsLogRepository(db, { given: () => NOW });
  const noLookups = new MorLookups({} as never); // without a payment intent there is nothing to look up
  const service = new LossWindowService(endpoints, new LossRepository(db), noLookups, links, clock);
  const report = await service.check(new Date('2026-11-01T00:00:00Z'), () => Promise.resolve());
  expect(report.compared).toEqual({ awaited_invoices: WAITING, awaited_refunds: 0, proformas_and_links: WAITING });
  expect(links.reads).toBe(WAITING);
  const about = new Set(report.differences.map((d) => `${d.kind} ${d.invoiceId ?? ''}`));
  expect([report.differences.length, about.size]).toEqual([2 * WAITING, 2 * WAITING]);
});
