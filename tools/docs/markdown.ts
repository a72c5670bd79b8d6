// The few parts of Markdown that the reference pages need.

/** The line under each page's title. */
export function madeFrom(source: string): string {
  return `Made from ${source} by \`npm run docs\`; do not edit it by hand.`;
}

/** A table. Cells may contain any text. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** A name or value as code; a dash for null. */
export function code(text: string | null): string {
  return text === null || text === '' ? '–' : `\`${text}\``;
}

/** Joins blocks with an empty line between two, and ends with a line break. */
export function page(blocks: readonly string[]): string {
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replace(/\s*\n\s*/g, ' ');
}
