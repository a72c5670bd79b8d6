// Writes the generated half of packages/client. If somebody forgets to run it, `test/client/generated.test.ts` fails.
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generatedClient } from './generate.js';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..'); // from `dist/tools/client`

for (const { path, text } of await generatedClient()) {
  writeFileSync(join(root, path), text);
  process.stdout.write(`${path}\n`);
}
