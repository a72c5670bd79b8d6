// A second or two of `npm run fuzz` over HTTP: endpoints, API and console of a whole daemon take bent requests without a 500.
import { randomInt } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { furnish, type Rig } from '../../packages/proof/src/fuzz/rig.js';
import { runTurn } from '../../packages/proof/src/fuzz/runner.js';
import { remoteTargets } from '../../packages/proof/src/fuzz/targets/remote.js';
import { OPS_KEY, useWorld } from '../support/rigs/world.js';
import { secretOf } from './support/endpoint.js';

const RUNS = 25;

describe('a daemon', () => {
  const world = useWorld({ LOG_LEVEL: 'warn' });
  let rig: Rig;

  beforeAll(async () => {
    rig = {
      url: world.daemons[0]?.url ?? '',
      key: OPS_KEY,
      secret: (endpoint) => secretOf(world, endpoint),
      query: (sql, values) => world.query(sql, [...values]),
      errors: () => world.logLines.splice(0).filter((line) => /"level":[56]0/.test(line)),
      close: () => Promise.resolve(),
    };
    await furnish(rig);
  });

  it.each(remoteTargets.map(({ name, on }) => [name, on] as const))(
    'the daemon answers every fuzzed request at %s without revealing an internal detail or losing an event',
    async (_, on) => {
      const seed = randomInt(1, 2 ** 31);
      const { failure } = await runTurn(on(rig), { seed, runs: RUNS });
      expect(failure === null ? null : { seed, ...failure }).toBeNull();
    },
  );
});
