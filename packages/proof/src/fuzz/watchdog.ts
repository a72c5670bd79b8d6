// A separate thread that notices if the fuzzing tries no further input. The thread then names the endless input and
// ends the process. The main thread cannot do this while a parser runs in a loop.
import { writeSync } from 'node:fs';
import { isMainThread, Worker, workerData } from 'node:worker_threads';

/** The limit of elapsed time for one input. A parser needs so long only in a loop, or if the machine sleeps. */
const TIMEOUT_MS = 120_000;
const POLL_MS = 5_000;
const ROOM = 128 * 1024;

type Shared = { readonly beat: SharedArrayBuffer; readonly text: SharedArrayBuffer };

/** Starts the thread. Call the returned function with each input before its try. */
export function startWatchdog(): (target: string, input: string) => void {
  const shared: Shared = { beat: new SharedArrayBuffer(8), text: new SharedArrayBuffer(ROOM) };
  new Worker(new URL(import.meta.url), { workerData: shared }).unref();
  const beat = new Int32Array(shared.beat);
  const bytes = new Uint8Array(shared.text);
  const encoder = new TextEncoder();
  return (target, input) => {
    const { written } = encoder.encodeInto(`${target}\n${input}`, bytes);
    Atomics.store(beat, 1, written);
    Atomics.add(beat, 0, 1);
  };
}

function watch({ beat, text }: Shared): void {
  const seen = new Int32Array(beat);
  let last = -1;
  let since = performance.now();
  setInterval(() => {
    const now = Atomics.load(seen, 0);
    if (now !== last) {
      last = now;
      since = performance.now();
      return;
    }
    if (now === 0 || performance.now() - since < TIMEOUT_MS) return;
    const input = Buffer.from(text).subarray(0, Atomics.load(seen, 1)).toString('utf8');
    const [target = '', ...rest] = input.split('\n');
    writeSync(2, `\n${target} does not come back from this input:\n${JSON.stringify(rest.join('\n'))}\n`);
    process.kill(process.pid, 'SIGKILL'); // a looping thread cannot stop on request
  }, POLL_MS);
}

if (!isMainThread) watch(workerData as Shared);
