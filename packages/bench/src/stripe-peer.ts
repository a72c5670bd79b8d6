// The bench's Stripe: answers the routes of a mark and of verify at once, or after a set time, over bare sockets, and
// counts effects. A separate process: `stripe-peer.js <delay in ms> <invoices to list> <events to list>`. `GET /_seen`
// returns the counts.
import { createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { invoiceCreated, invoiceObject } from './events.js';

const delayMs = Number(process.argv[2] ?? 0);
const listed = Number(process.argv[3] ?? 0);
const listedEvents = Number(process.argv[4] ?? 0);
const PAGE = 100;
/** The time of the first listed object. Listed objects are two seconds apart, and the newest is ten minutes old. */
const FIRST_SEC = Math.floor(Date.now() / 1000) - 600 - 2 * Math.max(listed, listedEvents);

/** The idempotency key of each effect, by invoice. A repeat under the same key is no second effect. */
const reported = new Map<string, string>();
const attached = new Map<string, string>();
const seen = { calls: 0, repeats: 0, twice: 0 };

// The program makes these texts one time, but sends them for each response: the bench must measure bytes and parsing.
const [OPEN, PAID] = [JSON.stringify(invoiceObject('ID', false)), JSON.stringify(invoiceObject('ID', true))];
const invoice = (id: string): string => {
  const done = attached.has(id) || id.startsWith('in_old');
  return (done ? PAID : OPEN).replaceAll('ID', id.slice(3));
};

const record = (count: number): string =>
  `{"id":"pr_in_old${count}","object":"payment_record","created":1793491200,"amount_requested":{"currency":"eur","value":2990},"metadata":{"invoice_id":"in_old${count}"}}`;

function effect(done: Map<string, string>, id: string, key: string): void {
  const before = done.get(id);
  if (before === undefined) done.set(id, key);
  else if (before === key) seen.repeats++;
  else seen.twice++;
}

const EVENT = invoiceCreated(0).toString();

/** A page of old invoices, payment records or events, newest first, bounded by `created` and `starting_after`. */
function page(query: string, count: number, name: string, one: (count: number) => string): string {
  const after = new RegExp(`starting_after=${name}(\\d+)`).exec(query)?.[1];
  const bound = (of: string): string | undefined =>
    new RegExp(`created(?:%5B|\\[|_)${of}(?:%5D|\\])?=(\\d+)`).exec(query)?.[1];
  const [since, before] = [bound('gte') ?? bound('after'), bound('lt') ?? bound('before')];
  const oldest = since === undefined ? 1 : Math.max(1, Math.ceil((Number(since) - FIRST_SEC) / 2));
  const newest = before === undefined ? count : Math.min(count, Math.ceil((Number(before) - FIRST_SEC) / 2) - 1);
  const first = after === undefined ? newest : Number(after) - 1;
  const numbers = Array.from({ length: Math.max(0, Math.min(PAGE, first - oldest + 1)) }, (_, i) => first - i);
  const dated = (count: number): string =>
    one(count).replace('"created":1793491200', `"created":${FIRST_SEC + 2 * count}`);
  return `{"object":"list","has_more":${first - oldest + 1 > PAGE},"data":[${numbers.map(dated).join(',')}]}`;
}

function replyTo(method: string, target: string, head: string, body: string): string {
  const [path = '', query = ''] = target.split('?');
  if (path === '/_seen') return JSON.stringify({ ...seen, reports: reported.size, attached: attached.size });
  seen.calls++;
  if (path === '/v1/invoices') return page(query, listed, 'in_old', (n) => invoice(`in_old${n}`));
  if (path === '/v1/events') {
    return page(query, listedEvents, 'evt_new', (n) =>
      EVENT.replace('evt_bench0', `evt_new${n}`).replaceAll('bench0', `new${n % 1000}`),
    );
  }
  if (path === '/v1/payment_records') return page(query, listed, 'pr_in_old', record);
  if (path === '/v1/customers') return '{"object":"list","has_more":false,"data":[]}';
  if (path.startsWith('/v1/customers/'))
    return `{"id":"${path.slice('/v1/customers/'.length)}","object":"customer","name":"Ada"}`;
  if (path === '/v1/credit_notes') return '{"object":"list","has_more":false,"data":[]}';
  const key = /\r\nidempotency-key: ([^\r]+)/i.exec(head)?.[1] ?? '';
  const [, , , id = '', what] = path.split('/');
  if (path === '/v1/payment_records/report_payment') {
    const of = /metadata(?:%5B|\[)invoice_id(?:%5D|\])=(\w+)/.exec(body)?.[1] ?? '';
    effect(reported, of, key);
    return `{"id":"pr_${of}","object":"payment_record","amount_requested":{"currency":"eur","value":2990}}`;
  }
  if (method === 'POST' && what === 'attach_payment') effect(attached, id, key);
  return invoice(id);
}

async function reply(socket: Socket, method: string, target: string, head: string, body: string): Promise<void> {
  if (delayMs > 0 && target !== '/_seen') await pause(delayMs);
  const text = replyTo(method, target, head, body);
  const length = Buffer.byteLength(text);
  socket.write(
    `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nRequest-Id: req_bench\r\nContent-Length: ${length}\r\n\r\n${text}`,
  );
}

const server = createServer((socket) => {
  let waiting = '';
  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    waiting += chunk.toString('latin1');
    for (;;) {
      const end = waiting.indexOf('\r\n\r\n');
      if (end < 0) return;
      const head = waiting.slice(0, end);
      const size = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
      if (waiting.length < end + 4 + size) return;
      const body = waiting.slice(end + 4, end + 4 + size);
      waiting = waiting.slice(end + 4 + size);
      const [method = '', target = ''] = head.slice(0, head.indexOf('\r\n')).split(' ');
      void reply(socket, method, target, head, body);
    }
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.stdout.write(`port ${typeof address === 'object' && address !== null ? address.port : 0}\n`);
});
