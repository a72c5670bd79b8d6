// The ids of a customer and of the customer's things, at Stripe, the MoR and the processor: an event may name any one of
// them.
import { secondBodySubject } from '../shared/domain/events/own-event.js';
import { type AnyRow } from '../frames/store/codec.js';
import { snake } from '../frames/store/columns.js';
import { type Database } from '../frames/store/database.js';
import { LOGGED } from './lane-log.js';
import { type Named } from './named-bodies.js';

/** The entities of a lane's read model. */
export const ROWS: readonly AnyRow[] = Object.values(LOGGED).filter((row) => row.table !== '');

export class CustomerIds {
  constructor(
    private readonly db: Database,
    /** `subjects`: SQL queries for subjects of review items without an invoice, for the customer `$1`. */
    private readonly parts: {
      readonly rows: readonly { readonly row: AnyRow }[];
      readonly subjects: readonly string[];
    },
  ) {}

  /** The entities with a customer id. */
  get byCustomer(): readonly AnyRow[] {
    return [...ROWS, ...this.parts.rows.map(({ row }) => row)].filter(({ columns }) => 'customerId' in columns);
  }

  /** The customer's invoices. Their ids are the names of their lanes. */
  lanesOf(customerId: string): Promise<readonly string[]> {
    return this.idsOf(customerId, 'invoiceId');
  }

  /**
   * Every id of the customer's things, at Stripe, the MoR and the processor: payments, charges, refunds, objects,
   * signups. An event may name any one of them and no customer.
   */
  async thingsOf(customerId: string, lanes: readonly string[]): Promise<readonly string[]> {
    const found = new Set<string>();
    for (const { table, columns } of [...ROWS, ...this.parts.rows.map(({ row }) => row)]) {
      const ids = Object.keys(columns).filter((name) => /(^i|I)d$/.test(name) && name !== 'customerId');
      const owners = Object.entries({ customerId: [customerId], invoiceId: lanes }).filter(([name]) => name in columns);
      if (owners.length === 0) continue;
      const mine = owners.map(([name], n) => `${snake(name)} = any($${n + 1})`).join(' or ');
      const rows = await this.db.pool.query<Record<string, string | null>>(
        `select ${ids.map(snake).join(', ')} from ${table} where ${mine}`,
        owners.map(([, values]) => values),
      );
      for (const row of rows.rows) for (const id of Object.values(row)) if (id !== null) found.add(id);
    }
    const announced = await this.db.pool.query<{ id: string }>(
      `select jsonb_path_query(detail, '$.observed[*].*') #>> '{}' as id from mor_object where invoice_id = any($1)`,
      [lanes],
    );
    for (const { id } of announced.rows) if (/^[a-z]+_\w+$/i.test(id)) found.add(id);
    return [...found];
  }

  /** The values of this column in all rows of the customer. */
  async idsOf(customerId: string, member: 'invoiceId' | 'morCustomerId'): Promise<readonly string[]> {
    const column = snake(member);
    const named = this.byCustomer
      .filter(({ columns }) => member in columns)
      .map(({ table }) => `select ${column} as id from ${table} where customer_id = $1 and ${column} is not null`);
    if (named.length === 0) return [];
    const found = await this.db.pool.query<{ id: string }>(named.join(' union '), [customerId]);
    return found.rows.map((r) => r.id);
  }

  /** The subjects of review items without an invoice about the customer or about these events. */
  async subjectsOf(customerId: string, events: readonly Named[]): Promise<readonly string[]> {
    const found = new Set(
      events.flatMap(({ source, event_id: event }) => [event, secondBodySubject({ source, event })]),
    );
    for (const sql of this.parts.subjects)
      for (const { subject } of (await this.db.pool.query<{ subject: string }>(sql, [customerId])).rows)
        found.add(subject);
    return [...found];
  }
}
