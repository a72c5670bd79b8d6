// Makes TypeORM's entities from the declarations of the domain's rows.
import { Column, type ColumnOptions, type ColumnType, Entity } from 'typeorm';
import { CUSTOMER_LINK } from '../../shared/domain/customer-link.js';
import { INVOICE } from '../../shared/domain/invoice-row.js';
import { LEDGER_ENTRY } from '../../shared/domain/ledger-entry.js';
import { PAYMENT } from '../../shared/domain/payment-row.js';
import { REFUND } from '../../shared/domain/refund-row.js';
import { REVIEW } from '../../shared/domain/review-row.js';
import { MOR_OBJECT } from '../../shared/domain/mor-object.js';
import { type Column as Declared, type JsonWay, type Kind, type Row } from '../../shared/domain/row.js';
import { SIGNUP } from '../../shared/domain/signup.js';
import { shownWords } from '../../shared/domain/foreign-words.js';
import { BIGINT, SEQ } from './columns.js';

const TYPES: Readonly<Record<Kind, ColumnType>> = {
  text: 'text',
  texts: 'text',
  int: 'integer',
  bigint: 'bigint',
  time: 'timestamptz',
  bool: 'boolean',
  json: 'jsonb',
};

/** `C`: the name of the column with the row number, which the database assigns. */
type Stored<T, C extends string> = new () => T & { readonly [K in C]: string };

function entityOf<T>(row: Row<T, unknown>): Stored<T, 'seq'>;
function entityOf<T>(row: Row<T, unknown>, counted: 'id'): Stored<T, 'id'>;
function entityOf(row: Row<object, unknown>, counted = 'seq'): new () => object {
  // TypeORM's messages contain the class name, so the class gets the table's name.
  const RowEntity = { [row.table]: class {} }[row.table] ?? class {};
  Entity(row.table)(RowEntity);
  const prototype = RowEntity.prototype;
  for (const [name, column] of Object.entries<Declared<unknown>>(row.columns))
    Column(optionsOf(column))(prototype, name);
  Column({ ...SEQ, primary: counted === 'id' })(prototype, counted);
  return RowEntity;
}

/** Values as the database stores them. */
const AS_STORED: JsonWay = { to: (value) => value, from: (stored) => stored };

function optionsOf({ kind, options }: Declared<unknown>): ColumnOptions {
  const { key, name, length, nullable, said, first } = options;
  const way = said === true ? shown(options.way) : options.way;
  const hasDefault = first !== undefined && first !== null;
  return {
    type: length === undefined ? TYPES[kind] : 'char',
    primary: key === true,
    nullable: nullable === true,
    ...(name !== undefined && { name }),
    ...(length !== undefined && { length }),
    ...(kind === 'texts' && { array: true }),
    ...(kind === 'bigint' && { transformer: BIGINT }),
    ...(way !== undefined && { transformer: way }),
    ...(hasDefault && {
      default: typeof first === 'object' ? () => "'{}'" : typeof first === 'bigint' ? Number(first) : first,
    }),
  };
}

function shown({ to, from }: JsonWay = AS_STORED): JsonWay {
  return { to, from: (stored) => from(shownWords(stored)) };
}

export const InvoiceEntity = entityOf(INVOICE);
export const PaymentEntity = entityOf(PAYMENT);
export const RefundEntity = entityOf(REFUND);
export const ReviewEntity = entityOf(REVIEW);
export const MorObjectEntity = entityOf(MOR_OBJECT);
export const SignupEntity = entityOf(SIGNUP);
export const CustomerLinkEntity = entityOf(CUSTOMER_LINK);
export const LedgerEntryEntity = entityOf(LEDGER_ENTRY, 'id');
export type ReviewEntity = InstanceType<typeof ReviewEntity>;
export type LedgerEntryEntity = InstanceType<typeof LedgerEntryEntity>;
