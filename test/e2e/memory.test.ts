// Strangers send all but the last byte, over thousands of connections: the daemon as a separate process, its memory as
// the kernel counts it.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { OPS_KEY, startWorld, type World } from '../support/rigs/world.js';
import { DaemonProcess, ensureBuilt } from './support/daemon-process.js';
import { deliver, post } from './support/endpoint.js';
import { type Flood, flood, memoryOf, mustOpen } from './support/flood.js';

/** Of the API and the console. Seen on Node 22, 24 and 26: 185 to 230 MB. */
const MOST_MB = 250;
/**
 * At a webhook endpoint: Crossbill reads the body before it knows the sender. Measured on Node 22, 24 and 26: 220 to
 * 254 MB.
 */
const MOST_AT_AN_ENDPOINT_MB = 300;
/** Half a gigabyte of bodies, twice the daemon's limit. */
const CONNECTIONS = 2_000;
mustOpen(CONNECTIONS + 500); // its other files
const API_LIMIT = 256 * 1024;
const LOGIN_LIMIT = 4 * 1024;

const json = { 'content-type': 'application/json' };
const form = { 'content-type': 'application/x-www-form-urlencoded' };
const wrongKey = { authorization: `Bearer ${'wrong-key-'.repeat(4)}` };

const onLinux = process.platform === 'linux' ? describe : describe.skip; // /proc shows a process's memory

onLinux(`${CONNECTIONS} strangers who each send all but the last byte`, () => {
  let world: World;
  let daemon: DaemonProcess;
  let strangers: Flood;
  beforeAll(async () => {
    await ensureBuilt();
    world = await startWorld();
  }, 300_000); // the build is most of it, where there is none yet
  afterAll(() => world?.close());
  beforeEach(async () => {
    daemon = await DaemonProcess.on({ ...world.env, LOG_LEVEL: 'info' });
    await daemon.start();
  });
  afterEach(async () => {
    strangers.end();
    await daemon.end('SIGKILL');
  });

  it.each([
    ['a signup without a key', '/v1/signups', json, API_LIMIT, 401, MOST_MB],
    ['a signup with a wrong key', '/v1/signups', { ...json, ...wrongKey }, API_LIMIT, 401, MOST_MB],
    ['a login form', '/console/login', form, LOGIN_LIMIT, 503, MOST_MB],
    ['a login form far above its limit', '/console/login', form, API_LIMIT, 413, MOST_MB],
    ['a console form without a session', '/console/payments/pay_x/refunds', form, API_LIMIT, 303, MOST_MB],
    [
      'a delivery with a foreign signature',
      '/webhooks/stripe',
      { ...json, 'stripe-signature': `t=1,v1=${'a'.repeat(64)}` },
      API_LIMIT,
      503,
      MOST_AT_AN_ENDPOINT_MB,
    ],
  ])(
    'the daemon stays within its memory limit while 2,000 connections hold back the last byte of %s',
    async (what, path, headers, bytes, status, mostMb) => {
      const before = memoryOf(daemon.pid);
      let sent = false;
      const coming = flood(daemon.url, { path, headers, bytes }, CONNECTIONS).then((them) => {
        sent = true;
        return (strangers = them);
      });
      const took: number[] = [];
      const friends = async (count: number): Promise<void> => {
        const event = {
          id: `evt_${status}_${count}_${path}`,
          object: 'event',
          type: 'payment.unused',
          created: 1,
          data: {},
        };
        const startedAt = performance.now();
        const delivered = await deliver(world, 'stripe', JSON.stringify(event), { base: daemon.url });
        took.push(Math.round(performance.now() - startedAt));
        expect(delivered.status).toBe(200);
        // An answer to the body and not to the key: a field is missing in it.
        const asked = await post(`${daemon.url}/v1/signups`, '{}', { ...json, authorization: `Bearer ${OPS_KEY}` });
        expect(asked.status).toBe(400);
      };
      for (let n = 0; !sent || n === 0; n++) await friends(n);
      const them = await coming;
      await friends(-1);
      await world.until(
        'one was answered',
        async () => [...them.answered.keys()],
        (statuses) => statuses.includes(status),
      );
      // No other answers: 0 is a connection cut off while still sending, 503 one over its time.
      expect([...them.answered.keys()].filter((s) => ![0, 503, status].includes(s))).toEqual([]);

      const { peak } = memoryOf(daemon.pid);
      process.stdout.write(
        `${CONNECTIONS} × ${bytes} bytes of ${what}: ${before.now} MB before, ${peak} MB at most; the slowest of ${took.length} deliveries took ${Math.max(...took)} ms\n`,
      );
      expect(peak).toBeLessThanOrEqual(mostMb);
      expect(daemon.lines.join('').split('\n').length).toBeLessThan(100); // nor does it fill the log
    },
    120_000,
  );
});
