// Renewals in numbers, for tests with dying processes and connections.
import { expect } from '@jest/globals';
import pg from 'pg';
import { type Subscriber, type World } from '../../support/world.js';
import { draftRenewal, stripeSides } from './story.js';

/** At least `count` renewals, several of each subscriber, charged within the next seconds. Gives their invoices. */
export async function renewAtOnce(world: World, subscribers: readonly Subscriber[], count: number): Promise<string[]> {
  const made: string[] = [];
  while (made.length < count) {
    made.push(...(await Promise.all(subscribers.map((s) => draftRenewal(world, s)))));
  }
  return made;
}

/** Somewhere in the work: after so many calls at Stripe. */
export async function untilSomeCalls(world: World, more: number): Promise<void> {
  const count = async (): Promise<number> => Number((await world.control('GET', '/stripe/stats')).body['requests']);
  const start = await count();
  await world.until('some calls were made', count, (n) => n >= start + more);
}

/** The effect of time on a process's lanes: their leases run out, and anyone may have them. */
export async function leasesRunOut(databaseUrl: string, pid: number): Promise<void> {
  const db = new pg.Client({ connectionString: databaseUrl });
  await db.connect();
  // An owner's name is host:pid:name.
  await db.query(`update lane set lease_until = now() where lease_owner like '%:' || $1::int || ':%'`, [pid]);
  await db.end();
}

/**
 * Repeats the missing deliveries, and waits until every invoice is paid and `also` holds; then each payment of 10.00
 * has one record, attached once.
 */
export async function paidOnce(world: World, invoices: readonly string[], also = () => true): Promise<void> {
  const sides = await world.until(
    'every renewal is paid',
    async () => {
      await world.advance(120); // the senders' next tries
      return stripeSides(world);
    },
    (seen) => also() && invoices.every((id) => seen.get(id)?.status === 'paid'),
  );
  for (const id of invoices) {
    const side = sides.get(id);
    expect([id, side?.records.length, side?.attached.length, side?.amountPaid]).toEqual([id, 1, 1, 1000]);
  }
}
