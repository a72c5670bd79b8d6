// The clients of flood.ts, in a separate process: otherwise their cost would count as the daemon's time. Reports to its
// parent.
import { connect } from 'node:net';

const [url, count, head, bytes] = process.argv.slice(2);
const { hostname, port } = new URL(url);
const all = Buffer.concat([Buffer.from(head), Buffer.alloc(Number(bytes) - 1, 'x')]);
const answered = {};
const tell = (status) => {
  answered[status] = (answered[status] ?? 0) + 1;
};

const one = () =>
  new Promise((resolve) => {
    let status = 0;
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    socket.once('data', (chunk) => {
      status = Number(/^HTTP\/1\.1 (\d{3})/.exec(chunk.toString('latin1'))?.[1]);
      tell(status);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      if (status === 0) tell(0);
      resolve();
    });
    socket.write(all, () => resolve());
  });

const report = (sent) => process.send({ sent, answered });
process.on('disconnect', () => process.exit(0));
setInterval(() => report(false), 200);
await Promise.all(Array.from({ length: Number(count) }, one));
report(true);
