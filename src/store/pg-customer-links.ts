// Links between customers and the MoR's customers in PostgreSQL: looked up, made one by one, or from a file as a whole.
import { Injectable } from '@nestjs/common';
import type pg from 'pg';
import { type Page, type PageRequest } from '../domain/ports/books.js';
import {
  type CustomerLink,
  CustomerLinks,
  type ImportCheck,
  type ImportRow,
  type LinkFilter,
  type Linked,
  type Migration,
  type NewLink,
  OUTSIDE_DAYS,
} from '../domain/ports/customer-links.js';
import { DatabaseTime, readTime, timeSql } from './database-time.js';
import { Database, inTransaction, onConnection } from './database.js';
import { CustomerLinkEntity } from './entities/customer-link.entity.js';
import { checkStaged, makeStage, stage, writeStaged } from './link-import.js';
import { inOrder } from './newest-first.js';
import { Parameters, walk, within } from './walk.js';

/** Links that people make wait for each other: what each finds to be free is still free when it writes. */
const ONE_AT_A_TIME = 'select pg_advisory_xact_lock(4812014)';

@Injectable()
export class PgCustomerLinks extends CustomerLinks {
  constructor(
    private readonly db: Database,
    private readonly time: DatabaseTime,
  ) {
    super();
  }

  async known(customerId: string): Promise<{ readonly linkedAt: Date | null; readonly paid: boolean }> {
    const found = await this.db.pool.query<{ linked_at: Date | null; paid: boolean }>({
      name: 'customer_known',
      text: `select (select min(linked_at) from customer_link where customer_id = $1) as linked_at,
                    exists (select from payment where customer_id = $1 and origin in ('renewal', 'signup')) as paid`,
      values: [customerId],
    });
    const row = found.rows[0];
    return { linkedAt: row?.linked_at ?? null, paid: row?.paid === true };
  }

  async list({ customerId, morCustomerId, ...span }: LinkFilter, page: PageRequest): Promise<Page<CustomerLink>> {
    const parameters = new Parameters();
    const few = [
      ...(customerId === undefined ? [] : [`x.customer_id = ${parameters.of(customerId)}`]),
      ...(morCustomerId === undefined ? [] : [`x.mor_customer_id = ${parameters.of(morCustomerId)}`]),
    ];
    const order = { from: 'customer_link x', key: 'seq', number: 'seq', at: 'x.linked_at', lead: [], looked: [] };
    const where = [...few, ...within('x.linked_at', span, parameters)];
    const found = await walk(this.db.orm, { ...order, where, parameters, few: few.length > 0 }, page);
    const data = await inOrder(this.db.orm.getRepository(CustomerLinkEntity), 'seq', found.data);
    return { data, nextCursor: found.nextCursor };
  }

  link(link: NewLink): Promise<Linked> {
    return inTransaction(this.db.pool, async (db): Promise<Linked> => {
      await db.query(ONE_AT_A_TIME);
      const { customerId, morCustomerId, reference, linkedBy } = link;
      const found = await db.query<LinkRow>(
        `select ${COLUMNS} from customer_link where customer_id = $1 or mor_customer_id = $2 order by seq`,
        [customerId, morCustomerId],
      );
      const links = found.rows.map(linkOf);
      const same = links.find((l) => l.customerId === customerId && l.morCustomerId === morCustomerId);
      if (same === undefined && links[0] !== undefined) return { outcome: 'otherwise', link: links[0] };
      const written = await db.query<LinkRow>(
        `insert into customer_link (customer_id, mor_customer_id, reference, linked_by, linked_at)
         values ($1, $2, $3, $4, ${timeSql(5)})
         on conflict (customer_id, mor_customer_id)
            do update set reference = coalesce(excluded.reference, customer_link.reference)
         returning ${COLUMNS}`,
        [customerId, morCustomerId, reference, linkedBy, this.time.given()],
      );
      const made = written.rows.map(linkOf)[0] ?? { ...link, signupId: null, linkedAt: await readTime(db, this.time) };
      return { outcome: same === undefined ? 'made' : 'known', link: made };
    });
  }

  import(
    rows: AsyncIterable<readonly ImportRow[]>,
    linkedBy: string,
    write: (check: ImportCheck) => boolean,
  ): Promise<{ readonly check: ImportCheck; readonly written: number | null }> {
    return onConnection(this.db.pool, async (db: pg.PoolClient) => {
      await db.query('begin');
      await makeStage(db);
      for await (const some of rows) await stage(db, some);
      await db.query(ONE_AT_A_TIME);
      const check = await checkStaged(db);
      const written = write(check) ? await writeStaged(db, linkedBy, await readTime(db, this.time)) : null;
      await db.query(written === null ? 'rollback' : 'commit');
      return { check, written };
    });
  }

  async migration(): Promise<Migration> {
    const found = await this.db.pool.query<Record<keyof Migration, string>>(
      `with linked as (select distinct customer_id from customer_link),
            moved as (
              select exists (select from payment p where p.customer_id = l.customer_id and p.origin = 'renewal' and p.succeeded_at is not null) as renewed,
                     exists (select from invoice i where i.customer_id = l.customer_id and i.expected_by is not null) as seen
                from linked l)
       select count(*) as linked,
              count(*) filter (where renewed) as renewed,
              count(*) filter (where not renewed and seen) as "notRenewed",
              count(*) filter (where not renewed and not seen) as waiting,
              (select count(distinct customer_id) from invoice
                where enrolled = false and first_seen_at > ${timeSql(1)} - interval '${OUTSIDE_DAYS} days') as outside
         from moved`,
      [this.time.given()],
    );
    const { linked, renewed, notRenewed, waiting, outside } = found.rows[0] ?? NOTHING;
    return {
      linked: Number(linked),
      renewed: Number(renewed),
      notRenewed: Number(notRenewed),
      waiting: Number(waiting),
      outside: Number(outside),
    };
  }
}

const NOTHING = { linked: 0, renewed: 0, notRenewed: 0, waiting: 0, outside: 0 };

const COLUMNS = 'customer_id, mor_customer_id, signup_id, reference, linked_by, linked_at';
type LinkRow = {
  customer_id: string;
  mor_customer_id: string;
  signup_id: string | null;
  reference: string | null;
  linked_by: string;
  linked_at: Date;
};

function linkOf(r: LinkRow): CustomerLink {
  return {
    customerId: r.customer_id,
    morCustomerId: r.mor_customer_id,
    signupId: r.signup_id,
    reference: r.reference,
    linkedBy: r.linked_by,
    linkedAt: r.linked_at,
  };
}
