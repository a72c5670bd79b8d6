#!/usr/bin/env node
// The operator's program: `crossbill --help` lists its commands.
import { writeSync } from 'node:fs';
import { userInfo } from 'node:os';
import { processIo } from './frames/cli/io.js';
import { runCli } from './frames/cli/program.js';

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'unknown'; // in a container the user may have no name
  }
}

const ending = new AbortController();
process.once('SIGINT', () => ending.abort()); // a second SIGINT ends the process at once
process.once('SIGTERM', () => ending.abort());
process.stdout.on('error', (e: Error & { code?: string }) => {
  if (e.code === 'EPIPE') process.exit(0); // the reader, such as `head`, has closed the pipe
  try {
    writeSync(2, `Crossbill cannot write to standard output (${e.code ?? 'no code'}): the output is not complete.\n`);
  } catch {
    // Standard error is also closed: nobody can read the message.
  }
  process.exit(1);
});

process.exitCode = await runCli(process.argv.slice(2), processIo(userName(), ending.signal));
