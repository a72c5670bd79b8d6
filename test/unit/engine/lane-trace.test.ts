// Log lines about the work on a lane: a line about a failure names the lane and its events.
import { expect, it } from '@jest/globals';
import { type Json } from '../../support/rigs/world.js';
import { createLogger, Metrics } from '../../../src/shared/observe/index.js';
import { LaneTrace, watchLanes, watchSteps } from '../../../src/engine/lane-trace.js';
import { failed } from '../../support/fakes/fake-platform.js';

const work = {
  lane: 'in_oak',
  events: [{ source: 'mor_payments', eventId: 'evt_paid', type: 'payment.succeeded' }],
} as const;

function setUp(level: 'info' | 'debug' = 'info') {
  const lines: Json[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Json) };
  const log = createLogger({ level, secrets: [], pretty: false, destination });
  return { log, lines };
}

it('the log line of a failed call to Stripe names the events behind the call', () => {
  const { log, lines } = setUp();
  const call = {
    name: 'report_payment',
    callId: 'out_1',
    status: 503,
    requestId: null,
    ms: 1,
    failure: failed('unknown'),
  };
  watchSteps(log, { logLines: () => [] }).onCalled(work, call, null);
  expect(lines).toMatchObject([
    { events: ['mor_payments:evt_paid'], invoice: 'in_oak', call: 'report_payment', call_id: 'out_1' },
  ]);
});

it('the words of a refusal are in the log at level debug only; the warning has status and code', () => {
  const { log, lines } = setUp('debug');
  const failure = { ...failed('refused'), status: 422, code: 'no_name', message: 'Ada has no name' };
  const call = { name: 'create_proforma', callId: 'out_1', status: 422, requestId: null, ms: 1, failure };
  watchSteps(log, { logLines: () => [] }).onCalled(work, call, { at: null });
  expect(lines).toMatchObject([
    { level: 'warn', event: 'calls.failed', status: 422, code: 'no_name', why: '422 no_name' },
    { level: 'debug', said: 'Ada has no name' },
  ]);
  expect(JSON.stringify(lines[0])).not.toContain('Ada');
});

it('the lane gets a refusal with masked card numbers', async () => {
  const trace = new LaneTrace({ ...work, fence: 1n }, null);
  const errors = [{ field: 'card', message: '4242–4242–4242–4242' }];
  const failure = { ...failed('refused'), message: 'card 4242 4242 4242 4242 12/29 123', errors };
  expect(await trace.call('create_proforma', 'out_1', Promise.resolve(failure))).toMatchObject({
    ...{ message: 'card [masked]', errors: [{ field: 'card', message: '[masked]' }] },
  });
});

it('the log line of a lane with an unexpected error names the lane and its events', () => {
  const { log, lines } = setUp();
  const metrics = new Metrics({ eventTypes: [], now: () => new Date(0) });
  watchLanes(metrics, log).onError('a lane could not be worked', new Error('broken'), work);
  expect(lines).toMatchObject([
    { events: ['mor_payments:evt_paid'], invoice: 'in_oak', msg: 'a lane could not be worked' },
  ]);
});
