// The few pieces of Markdown for the reference pages.

/** The line under each page's title. */
export function madeFrom(source: string): string {
  return `Made from ${source} by \`npm run docs\`; do not edit it by hand.`;
}

/** One table; cells may hold any text. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** A name or value as code; a dash for nothing. */
export function code(text: string | null): string {
  return text === null || text === '' ? '–' : `\`${text}\``;
}

/** Blocks with an empty line between them, and a line break at the end. */
export function page(blocks: readonly string[]): string {
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replace(/\s*\n\s*/g, ' ');
}
