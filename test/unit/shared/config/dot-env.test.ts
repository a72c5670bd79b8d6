// The settings file as it comes from people's editors.
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, withDotEnv } from '../../../../src/shared/config/index.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'crossbill-env-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const read = (bytes: Buffer) => {
  writeFileSync(join(folder, '.env'), bytes);
  return withDotEnv({}, folder).env;
};
const TEXT = 'LOG_LEVEL=debug\n';

it.each([
  ['little-endian UTF-16 with a mark', Buffer.from(`\uFEFF${TEXT}`, 'utf16le')],
  ['little-endian UTF-16 without a mark', Buffer.from(TEXT, 'utf16le')],
  ['big-endian UTF-16', Buffer.from(`\uFEFF${TEXT}`, 'utf16le').swap16()],
  ['Windows-1252', Buffer.from('MOR_CLIENT_SECRET=gr\u00fcn\n', 'latin1')],
])('a .env in %s is named as the trouble', (_, bytes) => {
  expect(() => read(bytes)).toThrow(ConfigError);
  expect(() => read(bytes)).toThrow(/\.env.*UTF-8/);
});

it('a .env in UTF-8 counts, with or without a byte order mark', () => {
  expect(read(Buffer.from(TEXT))).toEqual({ LOG_LEVEL: 'debug' });
  expect(read(Buffer.from(`\uFEFF${TEXT}`))).toEqual({ LOG_LEVEL: 'debug' });
});
