// Writes docs/reference/ from the code. If somebody forgets to run it, `test/docs/reference.test.ts` fails.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { referencePages } from './reference-pages.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..'); // from `dist/tools/docs`

for (const { path, text } of await referencePages()) {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  process.stdout.write(`${path}\n`);
}
