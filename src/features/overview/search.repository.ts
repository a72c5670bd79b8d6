// Finds objects by the beginning of their id or number, with the existing indexes.
import { Injectable } from '@nestjs/common';
import { Database } from '../../frames/store/database.js';

export type Beginning = {
  readonly kind: 'invoice' | 'payment' | 'refund' | 'review' | 'customer';
  /** The id in the address of the object's page. */
  readonly id: string;
  /** The text people see, such as an invoice's number. */
  readonly shown: string;
  /** The whole matching id or number. */
  readonly matched: string;
  readonly minor: bigint | null;
  readonly currency: string | null;
  readonly status: string | null;
  readonly at: Date | null;
};

/**
 * The search reads this many index entries, from the typed text on. In some collations, texts in another letter case
 * come between the typed text and the texts that begin with it, so one entry is not enough.
 */
const NEAR = 40;

type Place = {
  readonly kind: Beginning['kind'];
  readonly from: string;
  /** A column of the table `x`. Some index of the table begins with this column. */
  readonly column: string;
  /** The condition of a partial index. */
  readonly where?: string;
  readonly id: string;
  readonly shown?: string;
  readonly columns: string;
};

const INVOICE = { kind: 'invoice', id: 'i.invoice_id', shown: 'coalesce(i.number, i.invoice_id)' } as const;

const INVOICE_COLUMNS = `i.amount_due as minor, i.currency, i.status, coalesce(i.platform_created_at, i.first_seen_at) as at`;

const PAYMENT = { kind: 'payment', from: 'payment x', id: 'coalesce(x.payment_id, x.id)' } as const;

const PAYMENT_COLUMNS = 'x.amount as minor, x.currency, x.status, x.succeeded_at as at';

const REFUND = { kind: 'refund', from: 'refund x', id: 'x.id' } as const;

const REFUND_COLUMNS = 'x.amount as minor, x.currency, x.status, coalesce(x.succeeded_at, x.created_at) as at';

const PLACES: readonly Place[] = [
  { ...INVOICE, from: 'invoice i', column: 'i.invoice_id', columns: INVOICE_COLUMNS },
  { ...INVOICE, from: 'invoice i', column: 'i.number', where: 'i.number is not null', columns: INVOICE_COLUMNS },
  {
    ...INVOICE,
    from: 'mor_object x join invoice i using (invoice_id)',
    column: 'x.number',
    where: 'x.number is not null',
    columns: INVOICE_COLUMNS,
  },
  { ...PAYMENT, column: 'x.payment_id', columns: PAYMENT_COLUMNS },
  { ...PAYMENT, column: 'x.id', columns: PAYMENT_COLUMNS },
  { ...PAYMENT, column: 'x.processor_charge_id', where: 'x.processor_charge_id is not null', columns: PAYMENT_COLUMNS },
  { ...REFUND, column: 'x.id', columns: REFUND_COLUMNS },
  { ...REFUND, column: 'x.mor_refund_id', where: 'x.mor_refund_id is not null', columns: REFUND_COLUMNS },
  {
    kind: 'review',
    from: 'review x',
    column: 'x.id',
    id: 'x.id',
    columns: 'null::bigint as minor, null as currency, x.status, x.created_at as at',
  },
  {
    kind: 'customer',
    from: 'customer_link x',
    column: 'x.customer_id',
    id: 'x.customer_id',
    columns: 'null::bigint as minor, null as currency, null as status, null::timestamptz as at',
  },
  {
    kind: 'customer',
    from: 'customer_link x',
    column: 'x.mor_customer_id',
    id: 'x.customer_id',
    columns: 'null::bigint as minor, null as currency, null as status, null::timestamptz as at',
  },
  {
    kind: 'customer',
    from: 'invoice x',
    column: 'x.customer_id',
    id: 'x.customer_id',
    columns: 'null::bigint as minor, null as currency, null as status, null::timestamptz as at',
  },
];

/** One statement for all tables and columns of the search, so a search takes one connection of the pool. */
const NEAREST = `${PLACES.map(
  ({ kind, from, column, where = 'true', id, shown = id, columns }, place) =>
    `(select * from (
        select ${place} as place, '${kind}' as kind, ${id} as id, ${shown} as shown, ${column} as matched, ${columns} from ${from}
         where ${column} >= $1 and ${where} order by ${column} limit ${NEAR}) near
       where starts_with(matched, $1))`,
).join(' union all ')} order by place, matched`;

type Row = Omit<Beginning, 'minor'> & { readonly place: number; readonly minor: string | null };

@Injectable()
export class SearchRepository {
  constructor(private readonly db: Database) {}

  /** Finds objects whose id or number begins with this text: at most `ofEach` per kind. */
  async beginning(text: string, ofEach: number): Promise<readonly Beginning[]> {
    const reply = await this.db.pool.query<Row>(NEAREST, [text]);
    const found = new Map<string, Beginning>();
    const many = new Map<string, number>();
    for (const { place: _, ...b } of reply.rows) {
      const key = `${b.kind} ${b.id}`;
      const n = many.get(b.kind) ?? 0;
      if (found.has(key) || n >= ofEach) continue;
      found.set(key, { ...b, minor: b.minor === null ? null : BigInt(b.minor) });
      many.set(b.kind, n + 1);
    }
    return [...found.values()];
  }
}
