// The table of parts, as a test: a folder imports only what it may, nothing runs in a circle, files stay short.
import { describe, expect, it } from '@jest/globals';
import { brokenRules, readSources, tooLong } from './import-rules.js';

describe('the sources', () => {
  it('import only what the table of parts allows, in no circle, and leave the environment to the settings', () => {
    const files = [...readSources('src'), ...readSources('tools')];
    expect(files.length).toBeGreaterThan(5);
    expect(brokenRules(files)).toEqual([]);
  });

  it('have no file of more than 400 lines, tests included', () => {
    expect((['src', 'tools', 'test'] as const).flatMap((folder) => tooLong(readSources(folder)))).toEqual([]);
  });
});

describe('the rules themselves', () => {
  /** What is said about a file with this text, in a project that has the usual files. */
  function saidOf(path: string, text: string): string[] {
    const others = [
      'domain/money.ts',
      'store/inbox.ts',
      'config/index.ts',
      'mor/wire.ts',
      'mor/client.ts',
      'intake/refund.ts',
    ];
    return brokenRules([...others.map((other) => ({ path: other, text: '' })), { path, text }]);
  }

  it('see every way to import', () => {
    for (const text of [
      `import { a } from '../store/inbox.js';`,
      `import { type A } from '../store/inbox.js';`,
      `import '../store/inbox.js';`,
      `export * from '../store/inbox.js';`,
      `export const a = await import('../store/inbox.js');`,
      `export type A = import('../store/inbox.js').A;`,
    ]) {
      expect(saidOf('mor/pay.ts', text)).toEqual(['mor/pay.ts imports store/inbox.ts: mor may not']);
    }
  });

  it('let each arrow of the table pass and no other', () => {
    expect(saidOf('mor/pay.ts', `import '../domain/money.js'; import 'rxjs'; import './client.js';`)).toEqual([]);
    expect(saidOf('tools/sandbox/mor.ts', `import '#src/domain/money.js'; import '#src/mor/wire.js';`)).toEqual([]);
    expect(saidOf('tools/sandbox/mor.ts', `import '#src/mor/client.js';`)).toHaveLength(1);
    expect(saidOf('main.ts', `import './store/inbox.js'; import './config/index.js';`)).toEqual([]);
    expect(saidOf('mor/x.ts', `import '../intake/refund.js';`)).toHaveLength(1);
  });

  it('keep domain free of packages, and every folder inside src', () => {
    expect(saidOf('domain/x.ts', `import { readFile } from 'node:fs';`)).toHaveLength(1);
    expect(saidOf('domain/x.ts', `import { createHash } from 'node:crypto';`)).toEqual([]);
    expect(saidOf('store/x.ts', `import '../../migrations/1.js';`)).toHaveLength(1);
    expect(saidOf('helpers/x.ts', '')).toEqual(['helpers/x.ts: helpers is not in the table of parts']);
    expect(saidOf('store/x.ts', `import '../domain/gone.js';`)).toHaveLength(1);
  });

  it('find a circle, of types too', () => {
    const files = [
      { path: 'domain/a.ts', text: `import { type B } from './b.js';` },
      { path: 'domain/b.ts', text: `import { c } from './c.js';` },
      { path: 'domain/c.ts', text: `export * from './a.js';` },
    ];
    expect(brokenRules(files)).toEqual([
      'a circle of imports: domain/a.ts -> domain/b.ts -> domain/c.ts -> domain/a.ts',
    ]);
  });

  it('see every way to read the environment', () => {
    for (const text of [
      'process.env.PORT;',
      `process['env'].PORT;`,
      'globalThis.process.env;',
      'const { env } = process;',
      'const { env: e } = process;',
      `import { env } from 'node:process';`,
    ]) {
      expect(saidOf('store/x.ts', text)).toEqual([
        'store/x.ts reads process.env: only config/ and the main programs do',
      ]);
      expect(saidOf('config/x.ts', text)).toEqual([]);
    }
    expect(saidOf('store/x.ts', '// process.env is not read here\nconst s = "process.env";')).toEqual([]);
  });

  it('count lines as an editor does', () => {
    expect(tooLong([{ path: 'a.ts', text: 'x\n'.repeat(400) }])).toEqual([]);
    expect(tooLong([{ path: 'a.ts', text: 'x\n'.repeat(401) }])).toHaveLength(1);
  });
});
