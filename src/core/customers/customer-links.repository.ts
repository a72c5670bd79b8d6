// Stores the links between Stripe customers and MoR customers: one by one, or from a file as a whole.
import type pg from 'pg';
import { Injectable } from '@nestjs/common';
import { type Page, type PageRequest, type Span } from '../../shared/domain/page.js';
import { type CustomerLink } from '../../shared/domain/customer-link.js';
import { CustomerLinkEntity } from '../../frames/store/entities.js';
import { type ImportCheck, checkStaged, makeStage, stage, writeStaged } from './link-import.js';
import { type ImportRow } from './rules/import-line.js';
import { DatabaseTime, readTime, timeSql } from '../../frames/store/database-time.js';
import { Database, inTransaction, onConnection } from '../../frames/store/database.js';
import { inOrder } from '../../frames/store/newest-first.js';
import { Parameters, walk, within } from '../../frames/store/walk.js';

/** The filters of the list. `since` and `until`: the time of the link. */
export type LinkFilter = Span & {
  readonly customerId?: string | undefined;
  readonly morCustomerId?: string | undefined;
};

export type NewLink = Pick<CustomerLink, 'customerId' | 'morCustomerId' | 'reference' | 'linkedBy'>;

export type Linked =
  | { readonly outcome: 'made' | 'known'; readonly link: CustomerLink }
  /** The Stripe customer or the MoR customer already has another link, so Crossbill wrote nothing. */
  | { readonly outcome: 'otherwise'; readonly link: CustomerLink };

/** A lock for one new link at a time: nobody else can link the customer between check and write. */
const ONE_AT_A_TIME = 'select pg_advisory_xact_lock(4812014)';

@Injectable()
export class CustomerLinksRepository {
  constructor(
    private readonly db: Database,
    private readonly time: DatabaseTime,
  ) {}

  /** Lists the newest links first. Throws BadCursor for a malformed cursor. */
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

  /** Links a Stripe and a MoR customer, unless either has another link. A new reference replaces the old one. */
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

  /**
   * Checks all rows in one transaction, with bounded memory. Then writes all rows if `write` returns true. Writes
   * nothing if `write` returns false or `rows` throws.
   */
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
}

const COLUMNS = 'customer_id, mor_customer_id, signup_id, reference, linked_by, linked_at';

type LinkRow = {
  customer_id: string;
  mor_customer_id: string;
  signup_id: string | null;
  reference: string | null;
  linked_by: string;
  linked_at: Date;
};

function linkOf(object: LinkRow): CustomerLink {
  return {
    customerId: object.customer_id,
    morCustomerId: object.mor_customer_id,
    signupId: object.signup_id,
    reference: object.reference,
    linkedBy: object.linked_by,
    linkedAt: object.linked_at,
  };
}
