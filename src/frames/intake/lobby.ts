// Lets accepted connections wait before their first read, and admits them in small groups. A flood then cannot block
// the process.
import { type Server } from 'node:http';
import { type Socket } from 'node:net';

/** The number of connections read for the first time in one turn of the event loop. */
const AT_ONCE = 64;

/**
 * Admits a few connections in each turn of the event loop, the newest first: in a long queue the oldest senders have
 * probably given up. Node alone accepts all waiting connections in one turn, then reads up to 64 KB from each before it
 * collects garbage. So 5,000 connections would take 150 MB and delay every other sender.
 */
export function admitByHandfuls(server: Server): void {
  const [admitted, ...others] = server.listeners('connection');
  if (admitted === undefined || others.length > 0)
    throw new Error('the server has to be fresh: Node alone may listen for connections');
  server.removeAllListeners('connection');
  Object.assign(server, { pauseOnConnect: true }); // an option of net.Server; http.createServer does not pass it on
  const waiting: Socket[] = [];
  const admit = (): void => {
    for (let n = 0; n < AT_ONCE; n++) {
      const socket = waiting.pop();
      if (socket === undefined) return;
      Reflect.apply(admitted, server, [socket]);
      socket.resume();
    }
    if (waiting.length > 0) setImmediate(admit);
  };
  server.on('connection', (socket: Socket) => {
    if (waiting.push(socket) === 1) setImmediate(admit);
  });
}
