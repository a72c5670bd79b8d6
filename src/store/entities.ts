// TypeORM's view of the tables that are listed: made from the same column tables as the hot paths use.
import { EntitySchema, type EntitySchemaColumnOptions } from 'typeorm';
import { type Codec, INVOICE, PAYMENT, REFUND, REVIEW, snake } from './codec.js';

const TYPES = {
  text: 'text',
  int: 'integer',
  bigint: 'bigint',
  time: 'timestamptz',
  bool: 'boolean',
  json: 'jsonb',
  texts: 'text',
} as const;

export type Stored<T> = T & { readonly seq: string };

const toBigint = {
  to: (v: bigint | null) => v?.toString() ?? null,
  from: (v: string | null) => (v === null ? null : BigInt(v)),
};

function entityOf<T>(name: string, codec: Codec<T>): EntitySchema<Stored<T>> {
  const columns: Record<string, EntitySchemaColumnOptions> = { seq: { type: 'bigint', insert: false, update: false } };
  for (const [field, kind] of Object.entries<keyof typeof TYPES>(codec.columns)) {
    columns[field] = {
      name: snake(field),
      type: TYPES[kind],
      array: kind === 'texts',
      nullable: true,
      primary: (codec.key as readonly string[]).includes(field),
      ...(kind === 'bigint' ? { transformer: toBigint } : {}),
    };
  }
  return new EntitySchema<Stored<T>>({ name, tableName: codec.table, columns: columns });
}

export const InvoiceEntity = entityOf('Invoice', INVOICE);
export const PaymentEntity = entityOf('Payment', PAYMENT);
export const RefundEntity = entityOf('Refund', REFUND);
export const ReviewEntity = entityOf('Review', REVIEW);

export const ENTITIES = [InvoiceEntity, PaymentEntity, RefundEntity, ReviewEntity];
