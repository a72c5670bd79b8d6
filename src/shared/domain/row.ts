// Declares a kind of row: its type, its table and columns, its form in the log, and the first values of a new row.
// Rules import no package, so the declaration is plain data. `frames/store/entities.ts` makes TypeORM's entities from it.

/**
 * The type of a column. `texts`: an array of texts. `json`: plain JSON, or a value with amounts and times, converted by
 * a `JsonWay`.
 */
export type Kind = 'text' | 'int' | 'bigint' | 'time' | 'bool' | 'json' | 'texts';

/** Converts a value to JSON and back. */
export type JsonWay = { readonly to: (value: unknown) => unknown; readonly from: (json: unknown) => unknown };

type Options = {
  readonly key?: true;
  /** The column holds a code, such as a status. */
  readonly coded?: true;
  readonly nullable?: true;
  /** The name of the column. Absent: the property's name in snake_case. */
  readonly name?: string;
  /** The length of `char(n)`. */
  readonly length?: number;
  readonly way?: JsonWay;
  /** The column's value in a new row. */
  readonly first?: unknown;
  /** Returns the part of a personal value that an erasure keeps. `row`: its other columns, by name. */
  readonly erase?: (value: unknown, row: Readonly<Record<string, unknown>>) => unknown;
  /** True: words of a person, a bank, Stripe or the MoR. A card number in them never shows. */
  readonly said?: true;
};

/** One column. `T`: the type of its values. `F`: true if a new row has a first value. */
export class Column<T, F extends boolean = boolean> {
  declare readonly type: T;
  declare readonly hasFirst: F;

  constructor(
    readonly kind: Kind,
    readonly options: Options = {},
  ) {}

  /** Makes the column nullable. A new row has null in it. */
  get orNull(): Column<T | null, true> {
    return new Column(this.kind, { ...this.options, nullable: true, first: null });
  }

  named(name: string): Column<T, F> {
    return new Column(this.kind, { ...this.options, name });
  }

  first(first: T): Column<T, true> {
    return new Column(this.kind, { ...this.options, first });
  }

  /** Marks a column with data about a person. `erase` returns the part an erasure keeps. Absent: nothing (null). */
  personal(
    erase: (value: NonNullable<T>, row: Readonly<Record<string, unknown>>) => unknown = () => null,
  ): Column<T, F> {
    const kept: Options['erase'] = (value, row) => (value === null ? null : erase(value as NonNullable<T>, row));
    return new Column(this.kind, { ...this.options, erase: kept });
  }

  /**
   * Marks a column with words of a person, a bank, Stripe or the MoR. Such words stand nowhere else: the timeline, an
   * event's reason and the audit log have codes and ids. `erase` as in `personal`.
   */
  said(erase?: (value: NonNullable<T>) => unknown): Column<T, F> {
    return new Column(this.kind, { ...this.personal(erase).options, said: true });
  }
}

export const key = (): Column<string, false> => new Column('text', { key: true });
export const text = (): Column<string, false> => new Column('text');
/**
 * A code, such as a status. `T`: the codes of this release. A list must also show a row with a code of a newer release,
 * so code that looks up a code in a table also handles a miss.
 */
export const word = <T extends string = string>(): Column<T, false> => new Column('text', { coded: true });
/** A text of exactly `length` characters, such as a currency. */
export const code = (length: number): Column<string, false> => new Column('text', { length });
export const int = (): Column<number, false> => new Column('int');
/** Smallest units of money, and other numbers beyond 2^53. */
export const bigint = (): Column<bigint, false> => new Column('bigint');
export const time = (): Column<Date, false> => new Column('time');
export const bool = (): Column<boolean, false> => new Column('bool');
export const json = <T>(way?: JsonWay): Column<T, false> => new Column('json', way === undefined ? {} : { way });
/** Several codes (see `word`). */
export const words = <T extends string = string>(): Column<readonly T[], false> => new Column('texts', { coded: true });

/** The declaration of one kind of row. `T`: its values. `G`: the values a new row requires. */
export type Row<T, G = Partial<T>> = {
  /** Empty: the row has no table. It is only in the lane's log. */
  readonly table: string;
  readonly columns: Readonly<Record<keyof T & string, Column<unknown>>>;
  readonly key: readonly (keyof T & string)[];
  /**
   * The first value of each column, or null. A new row begins as a copy of this object. Copies of one complete object
   * share V8's shape of the row: adding the columns one by one takes 150 times as long.
   */
  readonly first: T;
  /** Null for each column. A row read from the log or from PostgreSQL begins as a copy of this object. */
  readonly none: Readonly<Record<string, null>>;
  /** Never set: this member only carries the type `G`. */
  readonly given?: G;
};

type Columns = Readonly<Record<string, Column<unknown>>>;
type Values<C extends Columns> = { readonly [K in keyof C]: C[K]['type'] };
type Given<C extends Columns> = {
  readonly [K in keyof C as C[K] extends Column<unknown, true> ? never : K]: C[K]['type'];
};

/** The values of a declared row. */
export type RowOf<R> = R extends Row<infer T, unknown> ? T : never;

export function rowOf<C extends Columns>(table: string, columns: C): Row<Values<C>, Given<C>> {
  const all = Object.entries(columns);
  return {
    table,
    columns: columns,
    key: all.flatMap(([name, { options }]) => (options.key === true ? [name] : [])),
    first: Object.fromEntries(all.map(([name, { options }]) => [name, options.first ?? null])) as Values<C>,
    none: Object.fromEntries(all.map(([name]) => [name, null])),
  };
}

/** Makes a new row from the first values and the given values. */
export function newRow<T extends object, G>(row: Row<T, G>, given: G & Partial<T>): T {
  return Object.assign({ ...row.first }, given); // `Given` requires every column without a first value
}

/** A row that a rule may change. */
export type Mutable<T> = { -readonly [K in keyof T]: T[K] };
