// One replica of the whole-path benchmark as a separate process. Starts its work at SIGUSR2. Usage: `path-replica.js
// <database url> <url of the bench's Stripe> <lanes>`.
import { LaneSignal } from '#src/engine/lane-signal.js';
import { Database } from '#src/frames/store/database.js';
import { makeWorker } from './whole-path.js';

const [url = '', peerUrl = '', lanes = '64'] = process.argv.slice(2);
const db = await Database.open({ url, poolSize: 10, onError: () => undefined });
const worker = makeWorker(db, new LaneSignal(), { peerUrl, concurrency: Number(lanes) });
process.once('SIGUSR2', () => worker.start());
process.stdout.write('port 0\n');
setInterval(() => undefined, 60_000); // keeps the process alive until it is killed
