// Makes the planner use the index of a list's filter.

/**
 * Writes `column = …` in a form that hides the single value from PostgreSQL's planner. The statement orders by
 * `column`, then by row number, and only the wanted index has this order. With a plain `=` the planner may choose
 * another way: read the table backwards by row number until enough rows match. If all matching rows are old, this reads
 * the whole table. The planner's statistics do not prevent this, since they may be old or missing.
 * @param value the value's text in the statement, for example `$2`
 */
export function ledBy(column: string, value: string): string {
  return `${column} = any (array[${value}])`;
}

/** Parts of a statement: the conditions and the order of a list, and its parameters. */
export type Led = { readonly where: string; readonly order: string; readonly values: readonly string[] };

/** The parameters before the filters. `$1`: the number of the last row before the page. `$2`: the most rows to read. */
export const LIST_PARAMETERS = 2;

/**
 * The parts of a statement for the rows with all these values, newest first. The columns in `lead` lead the index, so
 * they come first in the order. An undefined value filters nothing.
 * @param number the column with the row number; the index contains it after the `lead` columns
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
