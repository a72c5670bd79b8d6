// Checks a time: a database and four-digit ISO 8601 can express only the years 1 to 9999.

const FIRST_MS = Date.parse('0001-01-01T00:00:00Z'); // a database has no year 0
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * True for a valid date in the years 1 to 9999 of UTC. An offset can move a time of the year 9999 into the year 10000.
 */
export function canBeKept(at: Date): boolean {
  return at.getTime() >= FIRST_MS && at.getTime() <= LAST_MS;
}
