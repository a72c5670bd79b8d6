// CSV that a spreadsheet opens without running anything: RFC 4180, UTF-8, CRLF at the end of each line.

// What makes a formula of a cell (OWASP, "CSV Injection"), in their wide forms too, also after blanks, which some programs drop.
const FORMULA = /^[\s\u00a0]*[=+\-@\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/;
const NUMBER = /^-\d+(\.\d+)?$/;

/**
 * One cell. A text that a spreadsheet would take for a formula gets an apostrophe in front; a plain negative number is none. Quoted is
 * what would end the cell, also where a spreadsheet's own separator is a semicolon or a tab, and blanks at either end.
 */
export function cell(text: string): string {
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",;\t\r\n]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function csvLine(cells: readonly string[]): string {
  return `${cells.map(cell).join(',')}\r\n`;
}
