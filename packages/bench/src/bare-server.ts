// The upper limit of intake: a bare server with the same HMAC check and the same group commit, and nothing else. Runs
// as a separate process.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import pg from 'pg';
import { poolConfig } from '#src/frames/store/connect.js';
import { SECRET } from './events.js';

const pool = new pg.Pool({ ...poolConfig(process.argv[2] ?? '', { name: 'crossbill-bench', statementMs: 0 }), max: 1 });
pool.on('error', () => undefined);
const SQL = `
  insert into bare_event (event_id, body, received_at)
  select d.id, substring($1::bytea from d.start for d.length), now()
    from unnest($2::text[], $3::int[], $4::int[]) as d(id, start, length) on conflict do nothing`;
const REPLY = '{"received":true}';

const waiting: { id: string; body: Buffer; res: ServerResponse }[] = [];
let busy = false;

async function flush(): Promise<void> {
  busy = true;
  while (waiting.length > 0) {
    const batch = waiting.splice(0, 200);
    let start = 1;
    const starts = batch.map((b) => {
      const at = start;
      start += b.body.length;
      return at;
    });
    const bodies = Buffer.concat(batch.map((b) => b.body));
    await pool.query({
      name: 'bare',
      text: SQL,
      values: [bodies, batch.map((b) => b.id), starts, batch.map((b) => b.body.length)],
    });
    for (const b of batch)
      b.res.writeHead(200, { 'content-type': 'application/json', 'content-length': REPLY.length }).end(REPLY);
  }
  busy = false;
}

const server = createServer((req, res) => {
  const chunks: Buffer[] = [];
  req.on('data', (c: Buffer) => chunks.push(c));
  req.on('end', () => {
    const body = Buffer.concat(chunks);
    const match = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(req.headers['stripe-signature']));
    const want = createHmac('sha256', SECRET)
      .update(`${match?.[1] ?? ''}.`)
      .update(body)
      .digest();
    if (match === null || !timingSafeEqual(want, Buffer.from(match[2] ?? '', 'hex'))) return res.writeHead(400).end();
    const id = /"id":"([^"]+)"/.exec(body.toString('latin1', 0, 80))?.[1] ?? '';
    waiting.push({ id, body, res });
    if (!busy) void flush();
    return undefined;
  });
});
await pool.query(
  'create table if not exists bare_event (event_id text primary key, body bytea, received_at timestamptz)',
);
server.listen(0, '127.0.0.1', () => process.stdout.write(`port ${(server.address() as AddressInfo).port}\n`));
