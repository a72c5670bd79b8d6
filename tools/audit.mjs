// `npm run check:audit`: fails if the registry knows a vulnerability of a production package (1), and if the registry
// does not answer, as behind a mirror or without a network (2): a gate that cannot look must not open.
import { spawnSync } from 'node:child_process';

const GRAVE = ['high', 'critical'];

/** Turns the output of `npm audit --json` into a line for people and an exit code. */
export function verdictOf(printed) {
  let said;
  try {
    said = JSON.parse(printed);
  } catch {
    said = {};
  }
  const found = said.metadata?.vulnerabilities;
  if (found === undefined) {
    const why = typeof said.message === 'string' ? said.message.split('\n')[0] : 'no answer';
    return { code: 2, line: `the registry did not answer (${why}). Nothing was looked up.` };
  }
  const packages = Object.entries(said.vulnerabilities ?? {}).map(
    ([name, { severity, range }]) => `${name} ${range} (${severity})`,
  );
  if (packages.length === 0) return { code: 0, line: 'the registry knows no hole in any package of the run time' };
  const grave = GRAVE.some((severity) => (found[severity] ?? 0) > 0);
  return { code: grave ? 1 : 0, line: `known holes, \`npm audit --omit=dev\` says more: ${packages.join(', ')}` };
}

if (import.meta.filename === process.argv[1]) {
  const { stdout } = spawnSync('npm', ['audit', '--json', '--omit=dev', '--fetch-retries=2', '--fetch-timeout=15000'], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    shell: process.platform === 'win32',
  });
  const { code, line } = verdictOf(stdout ?? '');
  process.stdout.write(`${line}\n`);
  process.exitCode = code;
}
