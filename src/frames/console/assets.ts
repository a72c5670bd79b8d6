// The console's stylesheets and scripts. Each file's address has a hash of the content, so a browser may cache the file
// for ever.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

export type Asset = { readonly url: string; readonly type: string; readonly bytes: Buffer };

function asset(name: string, type: string): Asset {
  const bytes = readFileSync(new URL(`./assets/${name}`, import.meta.url));
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  return { url: `/console/assets/${hash}/${name}`, type, bytes };
}

export const assets = {
  frame: asset('frame.css', 'text/css; charset=utf-8'),
  parts: asset('parts.css', 'text/css; charset=utf-8'),
  acts: asset('acts.css', 'text/css; charset=utf-8'),
  keys: asset('keys.js', 'text/javascript; charset=utf-8'),
  script: asset('console.js', 'text/javascript; charset=utf-8'),
} as const;
