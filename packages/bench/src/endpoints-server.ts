// Crossbill's intake as a separate process: the front server, the endpoints and the inbox. With `work` it also runs the
// lane workers.
import { SystemClock } from '#src/engine/system-ports.js';
import { Endpoints } from '#src/frames/intake/endpoints.js';
import { FrontServer } from '#src/frames/intake/front-server.js';
import { ServerTime } from '#src/frames/store/database-time.js';
import { Database } from '#src/frames/store/database.js';
import { PgInbox } from '#src/frames/store/inbox.repository.js';
import { eventParser } from '#src/core/events/event-parser.js';
import { ParsedEvents } from '#src/engine/parsed-events.js';
import { LaneSignal } from '#src/engine/lane-signal.js';
import { SECRET } from './events.js';
import { makeWorker } from './whole-path.js';

const [url = '', mode = 'idle'] = process.argv.slice(2);
const db = await Database.open({ url, poolSize: 10, onError: (e) => console.error(e.message) });
const clock = new SystemClock();
const signal = new LaneSignal();
const parsed = new ParsedEvents(eventParser);
const endpoints = new Endpoints(
  {
    secrets: { stripe: [SECRET], mor_payments: [SECRET], mor_events: [SECRET] },
    toleranceSec: 3_600,
    bodyLimitBytes: 1_048_576,
    onReply: (_endpoint, outcome) => {
      if (outcome === 'stored') signal.lanes();
    },
  },
  new PgInbox(db, new ServerTime()),
  clock,
  parsed,
);
if (mode === 'work') {
  const worker = makeWorker(db, signal, { peerUrl: null, concurrency: 64, parsed });
  worker.giveWay(() => endpoints.crowded);
  worker.start();
}
const front = new FrontServer();
front.setEndpoints(endpoints);
endpoints.open();
const address = await front.listen(0, '127.0.0.1');
process.stdout.write(`port ${address.port}\n`);
