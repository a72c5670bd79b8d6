// Which pairs of Node and PostgreSQL are run, and which tests on each.

export const NODES = ['20', '22', '24', '26'];
/** `15-debian` is Debian's own package, which compiles with JIT; the others come from npm and have none. */
export const SERVERS = ['14', '15', '15-debian', '16', '17', '18'];
/** The tests whose result depends on Node's and PostgreSQL's versions. */
export const TESTS = ['test/store', 'test/e2e', 'test/api'];

const IMAGE_NODE = '24';
const NEWEST_SERVER = '18';

/** Every Node with the newest PostgreSQL, every PostgreSQL with the oldest and the newest Node; or every one named with every one named. */
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
  if (node !== undefined && postgres !== undefined) return all;
  const ends = [NODES[0], NODES.at(-1)];
  return all.filter((pair) => pair.postgres === NEWEST_SERVER || ends.includes(pair.node) || node !== undefined);
}

function chosen(option, text, known) {
  const names = text?.split(',') ?? known;
  const wrong = names.filter((name) => !known.includes(name));
  if (wrong.length === 0) return names;
  process.stderr.write(`${option}: ${wrong.join(', ')} is none of ${known.join(', ')}\n`);
  process.exit(2);
}
