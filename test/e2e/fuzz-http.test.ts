// A second or two of `npm run fuzz` over HTTP: endpoints, API and console of a whole daemon take bent requests without a 500.
import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { furnish, type Rig } from '../../packages/proof/src/fuzz/rig.js';
import { runBatch } from '../../packages/proof/src/fuzz/runner.js';
import { remoteTargets } from '../../packages/proof/src/fuzz/targets/remote.js';
import { OPS_KEY, startWorld, type World } from '../support/world.js';
import { secretOf } from './support/endpoint.js';

const RUNS = 25;

describe('a daemon', () => {
  let world: World;
  let rig: Rig;
  let db: pg.Client;

  beforeAll(async () => {
    world = await startWorld({ LOG_LEVEL: 'warn' });
    const daemon = await world.startDaemon();
    db = new pg.Client({ connectionString: world.databaseUrl });
    await db.connect();
    rig = {
      url: daemon.url,
      key: OPS_KEY,
      secret: (endpoint) => secretOf(world, endpoint),
      query: async (sql, values) => (await db.query<Record<string, unknown>>(sql, [...values])).rows,
      errors: () => world.logLines.splice(0).filter((line) => /"level":[56]0/.test(line)),
      close: () => Promise.resolve(),
    };
    await furnish(rig);
  });
  afterAll(async () => {
    await db.end();
    await world.close();
  });

  it.each(remoteTargets.map(({ name, on }) => [name, on] as const))(
    'the daemon answers every fuzzed request at %s without revealing its inside or losing an event',
    async (_, on) => {
      const { seed, failure } = await runBatch(on(rig), randomInt(1, 2 ** 31), RUNS);
      expect(failure === null ? null : { seed, ...failure }).toBeNull();
    },
  );
});
