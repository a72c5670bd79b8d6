// Parses CSV by RFC 4180, for tests of written files.

export function csvRows(text: string): string[][] {
  const rows: string[][] = [[]];
  const cells = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/gy;
  for (let m = cells.exec(text); m !== null; m = cells.exec(text)) {
    const [whole, quoted, plain, end] = m;
    if (whole === '' && cells.lastIndex >= text.length) break;
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain ?? '');
    if (end === '\r\n') rows.push([]);
    if (end === '') break;
  }
  if (rows.at(-1)?.length === 0) rows.pop();
  return rows;
}

/** Parses CSV with a head: each row becomes an object with the names of its columns. */
export function csvObjects(text: string): Record<string, string>[] {
  const [head = [], ...rows] = csvRows(text);
  return rows.map((row) => Object.fromEntries(head.map((name, i) => [name, row[i] ?? ''])));
}
