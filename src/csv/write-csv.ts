// CSV a spreadsheet opens without running anything: RFC 4180, UTF-8, CRLF at the end of each line.

// Beginnings of a formula in a cell (OWASP, "CSV Injection"), in their wide forms too, also after blanks: some programs
// drop those.
const FORMULA = /^[\s\u00a0]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/;
const NUMBER = /^-\d+(\.\d+)?$/;

/**
 * One cell. A possible formula gets an apostrophe in front; a plain negative number is none. Quotes a text with an end
 * of a cell, also for spreadsheets with a semicolon or a tab as separator, and with blanks at either end.
 */
export function cell(text: string): string {
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",;\t\r\n]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function csvLine(cells: readonly string[]): string {
  return `${cells.map(cell).join(',')}\r\n`;
}
