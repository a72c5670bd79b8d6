// The pairs of Node and PostgreSQL to run, and the tests for each.

import { LONG } from '../../../test/support/long.js';

export const NODES = ['20', '22', '24', '26'];
/** `15-debian` is Debian's own package and compiles with JIT; the others come from npm without JIT. */
export const SERVERS = ['14', '15', '15-debian', '16', '17', '18'];
/** The tests whose result depends on Node's and PostgreSQL's versions. */
export const TESTS = ['test/store', 'test/e2e', 'test/api'];

const IMAGE_NODE = '24';
const NEWEST_SERVER = '18';

/**
 * Every Node with the newest PostgreSQL, and every PostgreSQL with the newest Node. With `--node` or `--postgres`: every
 * named Node with every named PostgreSQL.
 */
export function pairsOf({ node, postgres, short }) {
  if (short) {
    const own = process.versions.node.split('.')[0];
    return [
      { node: NODES.includes(own) ? own : IMAGE_NODE, postgres: '15-debian' },
      { node: IMAGE_NODE, postgres: NEWEST_SERVER },
    ];
  }
  const nodes = chosen('--node', node, NODES);
  const servers = chosen('--postgres', postgres, SERVERS);
  const all = nodes.flatMap((n) => servers.map((p) => ({ node: n, postgres: p })));
  if (node !== undefined || postgres !== undefined) return all;
  return all.filter((pair) => pair.postgres === NEWEST_SERVER || pair.node === NODES.at(-1));
}

/**
 * Jest's arguments for a pair, without the folders. The long services depend on Node alone: each Node runs them only with
 * the newest PostgreSQL.
 */
export function without({ postgres }) {
  const flows = LONG.filter((path) => path.startsWith('test/e2e/'));
  return postgres === NEWEST_SERVER ? [] : [`--testPathIgnorePatterns=/(${flows.join('|')})\\.test\\.ts$`];
}

function chosen(option, text, known) {
  const names = text?.split(',') ?? known;
  const wrong = names.filter((name) => !known.includes(name));
  if (wrong.length === 0) return names;
  process.stderr.write(`${option}: ${wrong.join(', ')} is none of ${known.join(', ')}\n`);
  process.exit(2);
}
