// Puts the example feature where it would stand: its folder as src/features/payouts, and its two lines in features.ts.
import { fileURLToPath } from 'node:url';

export const EXAMPLE = { name: 'payouts', folder: fileURLToPath(new URL('example-feature', import.meta.url)) };

/** The text of features.ts, as source or built, with the example first in the list. */
export function listWithExample(text) {
  const { name } = EXAMPLE;
  const listed = text.replace(/(export const FEATURES = \[)/, `$1\n  ${name},`);
  return `import { ${name} } from './features/${name}/feature.js';\n${listed}`;
}
