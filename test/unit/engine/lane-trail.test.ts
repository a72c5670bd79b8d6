// Log lines about the work on a lane: a line about a failure names the lane and its events.
import { expect, it } from '@jest/globals';
import { type Json } from '../../support/world.js';
import { createLogger, Metrics } from '../../../src/observe/index.js';
import { watchLanes, watchSteps } from '../../../src/engine/lane-trail.js';
import { failed } from '../../support/fakes.js';

const work = {
  lane: 'in_oak',
  events: [{ source: 'mor_payments', eventId: 'evt_paid', type: 'payment.succeeded' }],
} as const;

function setUp() {
  const lines: Json[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Json) };
  const log = createLogger({ level: 'info', secrets: [], pretty: false, destination });
  return { log, lines };
}

it('the log line of a failed call to Stripe names the events behind the call', () => {
  const { log, lines } = setUp();
  const call = {
    name: 'report_payment',
    messageId: 'out_1',
    status: 503,
    requestId: null,
    ms: 1,
    failure: failed('unknown'),
  };
  watchSteps(log).onCalled(work, call);
  expect(lines).toMatchObject([{ events: ['mor_payments:evt_paid'], lane: 'in_oak', message: 'out_1' }]);
});

it('the log line of a lane with an unexpected error names the lane and its events', () => {
  const { log, lines } = setUp();
  const metrics = new Metrics({ eventTypes: [], now: () => new Date(0) });
  watchLanes(metrics, log).onError('a lane could not be worked', new Error('broken'), work);
  expect(lines).toMatchObject([
    { events: ['mor_payments:evt_paid'], lane: 'in_oak', msg: 'a lane could not be worked' },
  ]);
});
