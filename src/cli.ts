#!/usr/bin/env node
// The operator's program: `crossbill --help` lists its commands.
import { writeSync } from 'node:fs';
import { userInfo } from 'node:os';
import { processIo } from './cli/io.js';
import { runCli } from './cli/program.js';

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'unknown'; // a container's user need not have a name
  }
}

const ending = new AbortController();
process.once('SIGINT', () => ending.abort()); // a second one ends the process at once
process.once('SIGTERM', () => ending.abort());
process.stdout.on('error', (e: Error & { code?: string }) => {
  if (e.code === 'EPIPE') process.exit(0); // a reader has enough, such as `head`
  try {
    writeSync(2, `Crossbill cannot write to standard output (${e.code ?? 'no code'}): the output is not complete.\n`);
  } catch {
    // nobody is there to be told
  }
  process.exit(1);
});

process.exitCode = await runCli(process.argv.slice(2), processIo(userName(), ending.signal));
