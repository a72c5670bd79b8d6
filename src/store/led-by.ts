// Makes a list use the index of its filter.

/**
 * `column = …`, hidden from the planner as a single value. Such a list is ordered by `column` first and then by its
 * number; only an index on both gives this order. With `=`, the planner may walk back through the whole table by number
 * until enough rows match: quick for a common value, and a full read for one with old rows. It would choose by its
 * counts, perhaps old or missing.
 * @param value its text in the statement, for example `$2`
 */
export function ledBy(column: string, value: string): string {
  return `${column} = any (array[${value}])`;
}

/** A part of a statement: conditions and order of a list, and its parameters. */
export type Led = { readonly where: string; readonly order: string; readonly values: readonly string[] };

/** Of every list, `$1` is the number it begins before and `$2` its count of rows: its filters follow. */
export const LIST_PARAMETERS = 2;

/**
 * Rows with all these values, the newest first, led by some of the columns. An undefined value filters nothing.
 * @param number the counting column of the rows, also in the leading index
 */
export function listLedBy(
  columns: Readonly<Record<string, string | undefined>>,
  lead: readonly string[],
  number: string,
): Led {
  const values: string[] = [];
  const conditions = Object.entries(columns).flatMap(([column, value]) => {
    if (value === undefined) return [];
    const parameter = `$${LIST_PARAMETERS + values.length + 1}`;
    values.push(value);
    return [lead.includes(column) ? ledBy(column, parameter) : `${column} = ${parameter}`];
  });
  return {
    where: conditions.length === 0 ? 'true' : conditions.join(' and '),
    order: [...lead.filter((column) => columns[column] !== undefined), `${number} desc`].join(', '),
    values,
  };
}
