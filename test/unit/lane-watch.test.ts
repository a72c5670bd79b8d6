// What the log says of the work on a lane: each line about a failure names the events it is about, those of a retry too.
import { expect, it } from '@jest/globals';
import { type Json } from '../support/world.js';
import { createLogger, Metrics } from '../../src/observe/index.js';
import { watchLanes, watchSteps } from '../../src/engine/watch-lanes.js';
import { failed } from '../support/fakes.js';

const named = [{ source: 'mor_payments', eventId: 'evt_paid' }] as const;

function setUp() {
  const lines: Json[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Json) };
  const log = createLogger({ level: 'info', secrets: [], pretty: false, destination });
  return { log, lines };
}

it('a call that fails in a later claim is logged with the event that led to it', () => {
  const { log, lines } = setUp();
  const call = {
    name: 'report_payment',
    messageId: 'out_1',
    status: 503,
    requestId: null,
    ms: 1,
    failure: failed('unknown'),
  };
  const work = { lane: 'in_oak', events: [], named };
  watchSteps(log).onCalled(work, call);
  expect(lines).toMatchObject([{ events: ['mor_payments:evt_paid'], lane: 'in_oak', message: 'out_1' }]);
});

it('a lane that could not be worked is logged with its events', () => {
  const { log, lines } = setUp();
  const metrics = new Metrics({ eventTypes: [], now: () => new Date(0) });
  watchLanes(metrics, log).onError('a lane could not be worked', new Error('broken'), 'in_oak', named);
  expect(lines).toMatchObject([
    { events: ['mor_payments:evt_paid'], lane: 'in_oak', msg: 'a lane could not be worked' },
  ]);
});
