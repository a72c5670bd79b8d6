// How a list is told to use the index of what it is filtered by.

/**
 * `column = …`, said so that the planner does not know that it is one value. A list of these rows is ordered by `column` first and
 * then by its number; only an index on both gives that order. Told `=`, the planner may as well walk back through the whole table
 * by number until enough rows match, which is quick for a common value and reads everything for one whose rows are old. It would
 * choose by what it has counted, and that may be old or missing.
 * @param value as it stands in the statement, for example `$2`
 */
export function ledBy(column: string, value: string): string {
  return `${column} = any (array[${value}])`;
}

/** A part of a statement: conditions and order of a list, and its parameters. */
export type Led = { readonly where: string; readonly order: string; readonly values: readonly string[] };

/** Of every list, `$1` is the number before which it begins and `$2` how many rows it takes: its filters follow. */
export const LIST_PARAMETERS = 2;

/**
 * Rows with all these values, the newest first, led by some of the columns. A value that is undefined filters nothing.
 * @param number the column that counts the rows, also of the index that leads
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
