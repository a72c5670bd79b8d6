// The load: plain sockets send prepared requests, one at a time each, and measure the time of every response.
import { connect } from 'node:net';

export type LoadResult = {
  readonly requests: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The number of responses other than 200. */
  readonly refused: number;
};

/** Sends all requests over `connections` sockets. Each socket waits for a response before its next request. */
export async function load(port: number, requests: readonly Buffer[], connections: number): Promise<LoadResult> {
  const times: number[] = [];
  let next = 0;
  let refused = 0;
  const began = performance.now();
  const one = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1');
      socket.setNoDelay(true);
      let sentAt = 0;
      let seen = '';
      const send = (): void => {
        const request = requests[next++];
        if (request === undefined) {
          socket.end();
          return resolve();
        }
        sentAt = performance.now();
        socket.write(request);
      };
      socket.on('connect', send);
      socket.on('error', reject);
      socket.on('data', (chunk) => {
        seen += chunk.toString('latin1');
        const head = seen.indexOf('\r\n\r\n');
        if (head < 0) return;
        const length = /content-length: (\d+)/i.exec(seen)?.[1] ?? '0';
        if (seen.length < head + 4 + Number(length)) return;
        times.push(performance.now() - sentAt);
        if (!seen.startsWith('HTTP/1.1 200')) refused++;
        seen = '';
        send();
      });
    });
  await Promise.all(Array.from({ length: connections }, one));
  const seconds = (performance.now() - began) / 1000;
  times.sort((a, b) => a - b);
  const at = (text: number): number => times[Math.min(times.length - 1, Math.floor(text * times.length))] ?? 0;
  return { requests: times.length, perSecond: times.length / seconds, p50Ms: at(0.5), p99Ms: at(0.99), refused };
}
