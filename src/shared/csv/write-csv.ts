// Writes CSV that a spreadsheet opens without running anything: RFC 4180, UTF-8, CRLF at the end of each line.

// A spreadsheet runs a cell with such a first character as a formula (OWASP, "CSV Injection"). The pattern has the
// full-width forms of the characters too, and skips leading blanks, since some programs drop blanks.
const FORMULA = /^[\s\u00a0]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/;
const NUMBER = /^-\d+(\.\d+)?$/;

/**
 * Writes one cell. A possible formula gets an apostrophe in front; a plain negative number is no formula. Quotes
 * surround a text with a separator (comma, semicolon or tab), a line end, or blanks at either end.
 */
export function cell(text: string): string {
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",;\t\r\n]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function csvLine(cells: readonly string[]): string {
  return `${cells.map(cell).join(',')}\r\n`;
}
