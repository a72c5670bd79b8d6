// `npm run matrix`: the store, end-to-end and API tests and the demo on every Node and PostgreSQL of our list, one pair
// after the other.
//   --node 24,26 --postgres 15,15-debian   only these pairs      --list     list the pairs, run nothing
//   --short                                CI's choice: only the demo, on two pairs
//   test/store/lanes.test.ts …             only these tests
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { cacheFolder, nodeBinary, postgresBinaries, Unavailable } from './fetch.mjs';
import { pairsOf, TESTS, without } from './pairs.mjs';
import { demo, onInterrupt, tests } from './programs.mjs';
import { withServer } from './server.mjs';
import { markdown } from './table.mjs';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    node: { type: 'string' },
    postgres: { type: 'string' },
    short: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  },
});

const say = (text) => console.log(text);
const pairs = pairsOf(options);
if (options.list) {
  for (const { node, postgres } of pairs) say(`Node ${node}, PostgreSQL ${postgres}`);
} else {
  onInterrupt(() => process.exit(130));
  process.exitCode = await main();
}

async function main() {
  const logs = join(cacheFolder(), 'logs');
  mkdirSync(logs, { recursive: true });
  say(`${pairs.length} pairs; their output is kept in ${logs}`);
  const results = [];
  for (const [i, pair] of pairs.entries()) results.push(await runPair(pair, `${i + 1}/${pairs.length}`, logs));
  say('');
  say(markdown(results));
  for (const { node, postgres, failures } of results) {
    for (const failure of failures) say(`failed on Node ${node}, PostgreSQL ${postgres}: ${failure}`);
  }
  const count = (key) => results.reduce((sum, r) => sum + r[key], 0);
  say(`${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`);
  return count('failed') === 0 ? 0 : 1;
}

/** Runs a pair and returns its row of the table. The demo counts as one test. Skips a pair this machine can't get. */
async function runPair(pair, place, logs) {
  const startedAt = performance.now();
  const result = { ...pair, jit: null, passed: 0, failed: 0, skipped: 0, demo: null, failures: [], note: null };
  const tell = (text) => say(`${place}  Node ${result.node}, PostgreSQL ${result.postgres}: ${text}`);
  const log = join(logs, `node-${pair.node}-postgres-${pair.postgres}`);
  try {
    const node = nodeBinary(pair.node, tell);
    const binaries = await postgresBinaries(pair.postgres, tell);
    result.node = node.version;
    await withServer(binaries, async (server) => {
      result.postgres = `${server.version}${pair.postgres.endsWith('-debian') ? ' (Debian)' : ''}`;
      result.jit = server.jit;
      // The demo waits for most of its time, so it runs next to the tests.
      const withDemo = positionals.length === 0;
      const ofDemo = withDemo ? demo(node.path, server.url, log) : Promise.resolve(null);
      if (!options.short) {
        tell(withDemo ? 'tests and demo' : 'tests');
        const paths = withDemo ? [...TESTS, ...without(pair)] : positionals;
        const found = await tests(node.path, server.url, paths, log, tell).finally(() => ofDemo);
        Object.assign(result, found);
        tell(`tests: ${found.passed} passed, ${found.failed} failed, ${found.skipped} skipped`);
      } else tell('demo');
      const failure = await ofDemo;
      if (!withDemo) return;
      result.demo = failure === null;
      result[failure === null ? 'passed' : 'failed'] += 1;
      if (failure !== null) result.failures = [...result.failures, `the demo: ${failure}`];
      tell(`demo: ${failure ?? 'the books agree'}`);
    });
  } catch (error) {
    result.note = error.message;
    if (error instanceof Unavailable) result.skipped += 1;
    else {
      result.failed += 1;
      result.failures = [...result.failures, error.message];
    }
    tell(`${error instanceof Unavailable ? 'skipped: ' : ''}${error.message}`);
  }
  result.seconds = Math.round((performance.now() - startedAt) / 1000);
  return result;
}
