// Many renewals at once, for tests in which processes die and connections break.
import { expect } from '@jest/globals';
import pg from 'pg';
import { type Subscriber, type World } from '../../support/rigs/world.js';
import { draftRenewal, stripeSides } from './story.js';

/**
 * Starts at least `count` renewals, several of each subscriber. The MoR charges them within the next seconds. Returns
 * their invoices.
 */
export async function renewAtOnce(world: World, subscribers: readonly Subscriber[], count: number): Promise<string[]> {
  const made: string[] = [];
  while (made.length < count) {
    made.push(...(await Promise.all(subscribers.map((s) => draftRenewal(world, s)))));
  }
  return made;
}

/** Waits until Stripe has received this many more requests, so the daemon is in the middle of its work. */
export async function untilSomeCalls(world: World, more: number): Promise<void> {
  const count = async (): Promise<number> => Number((await world.control('GET', '/stripe/stats')).body['requests']);
  const start = await count();
  await world.until('some calls were made', count, (n) => n >= start + more);
}

/** Ends the leases of a process's lanes, as time would, so any worker may claim them. */
export async function leasesRunOut(databaseUrl: string, pid: number): Promise<void> {
  const db = new pg.Client({ connectionString: databaseUrl });
  await db.connect();
  // A lease owner is named host:pid:name.
  await db.query(`update lane set lease_until = now() where lease_owner like '%:' || $1::int || ':%'`, [pid]);
  await db.end();
}

/**
 * Repeats missing deliveries and waits until every invoice is paid and `also` holds. Then checks that each payment of
 * 10.00 has one record, attached once.
 */
export async function allPaidOnce(world: World, invoices: readonly string[], also = () => true): Promise<void> {
  const sides = await world.until(
    'every renewal is paid',
    async () => {
      await world.advance(120); // time for the senders' next attempts
      return stripeSides(world);
    },
    (seen) => also() && invoices.every((id) => seen.get(id)?.status === 'paid'),
  );
  for (const id of invoices) {
    const side = sides.get(id);
    expect([id, side?.records.length, side?.attached.length, side?.amountPaid]).toEqual([id, 1, 1, 1000]);
  }
}
