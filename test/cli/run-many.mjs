// Runs many command lines in one process, as cli.js runs one: starting Node for each would cost more than all the work.
// usage: node run-many.mjs <file with a JSON list of {argv, cwd, env}>
import { readFileSync } from 'node:fs';
import { processIo } from '../../dist/frames/cli/io.js';
import { runCli } from '../../dist/frames/cli/program.js';

for (const { argv, cwd, env } of JSON.parse(readFileSync(process.argv[2], 'utf8'))) {
  process.chdir(cwd);
  const io = processIo('ada', new AbortController().signal);
  const code = await runCli(argv, { ...io, env: { ...process.env, ...env } });
  await io.out(`#### ${code}\n`);
  if (!process.stderr.isTTY) io.err(`#### ${code}\n`);
}
