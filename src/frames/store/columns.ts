// Column names and column types shared by all entities.
import { type ColumnOptions, DefaultNamingStrategy, type ValueTransformer } from 'typeorm';

/** For numbers beyond 2^53: PostgreSQL sends and takes them as text. */
export const BIGINT: ValueTransformer = {
  to: (v: bigint | null | undefined) => v?.toString() ?? v,
  from: (v: string | null) => (v === null ? null : BigInt(v)),
};

/** Numbers the rows of a table in the order of their first write. The database assigns the numbers. */
export const SEQ: ColumnOptions = { type: 'bigint', generated: 'identity', generatedIdentity: 'ALWAYS' };

export function snake(name: string): string {
  return name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`);
}

/** Maps `invoiceId` to the column `invoice_id`. */
export class SnakeNames extends DefaultNamingStrategy {
  override columnName(property: string, given: string | undefined, prefixes: string[]): string {
    return given ?? snake([...prefixes, property].join('_'));
  }
}
