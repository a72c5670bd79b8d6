// `npm test` runs every test except the long ones; `npm run test:long` runs those. If an argument is a path, only this
// file or folder runs, long or not. All other arguments go to jest unchanged.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import config from '../jest.config.js';
import { LONG } from '../test/support/long.js';

const given = process.argv.slice(2);
const long = given[0] === '--long';
const args = long ? given.slice(1) : given;

/** Returns the arguments that choose jest's files. Empty if an argument is a path or a file of settings. */
function found() {
  if (args.some((arg) => existsSync(arg))) return [];
  const files = long
    ? { testMatch: LONG.map((path) => `**/${path}.test.ts`) }
    : { testPathIgnorePatterns: LONG.map((path) => `/${path}\\.test\\.ts$`) };
  return ['--config', JSON.stringify({ ...config, rootDir: fileURLToPath(new URL('..', import.meta.url)), ...files })];
}

const command = ['node_modules/jest/bin/jest.js', ...found(), ...args];
const jest = spawn(process.execPath, command, { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => jest.kill(signal));
jest.on('close', (code) => (process.exitCode = code ?? 1));
