// A month of the ledger: whole days in UTC. A payment at 00:30 in Paris on 1 November belongs to October.

/** A month as a span. `until` is the first moment of the next month. */
export type Month = { readonly since: Date; readonly until: Date };

/** Reads `2026-11`. Null for any other text. */
export function monthOf(text: string): Month | null {
  const [, year, month] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(text) ?? [];
  if (year === undefined || month === undefined || Number(year) < 1970) return null;
  const since = new Date(Date.UTC(Number(year), Number(month) - 1));
  return { since, until: new Date(Date.UTC(Number(year), Number(month))) };
}

/** Writes the month as `2026-11`. */
export function nameOf({ since }: Month): string {
  return since.toISOString().slice(0, 7);
}

/** The month before (`by` -1) or after (`by` 1). */
export function monthBeside({ since }: Month, by: number): Month {
  const at = (count: number): Date => new Date(Date.UTC(since.getUTCFullYear(), since.getUTCMonth() + count));
  return { since: at(by), until: at(by + 1) };
}
