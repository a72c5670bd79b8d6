// Reads on a streaming standby: what was committed is seen, a standby that is behind, gone or somebody else's is not read.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Secret } from '../../src/config/secret.js';
import { createLogger } from '../../src/observe/index.js';
import { openDatabase } from '../../src/open-database.js';
import { ServerTime } from '../../src/store/database-time.js';
import { Database } from '../../src/store/database.js';
import { migrate, OWN_MIGRATIONS } from '../../src/store/migrations.js';
import { PgMarkLookups } from '../../src/store/pg-mark-lookups.js';
import { PgReadSide } from '../../src/store/read-side.js';
import { type StandbyNews } from '../../src/store/standby.js';
import { VerifyBooksBeside } from '../../src/store/verify-books-beside.js';
import { type DebianServer, DebianServers, NO_DEBIAN_POSTGRES } from '../../tools/restore/debian.js';
import { cli } from '../cli/rig.js';
import { Visitor } from '../console/visitor.js';
import { adminUrl } from '../support/database.js';
import { OPS_KEY, startWorld } from '../support/world.js';

const title = 'a standby that READ_DATABASE_URL names';
const here = NO_DEBIAN_POSTGRES === null;

(here ? describe : describe.skip)(here ? title : `${title} (${NO_DEBIAN_POSTGRES ?? ''})`, () => {
  const news: StandbyNews[] = [];
  let servers: DebianServers;
  let primary: DebianServer;
  let standby: DebianServer;
  let db: Database;
  let side: PgReadSide;
  let verify: VerifyBooksBeside;
  /** A port that says where it reads, and how many rows it sees. */
  let port: { seen(): Promise<{ there: boolean; n: number }> };
  const url = (server: DebianServer): string => server.url('crossbill', 'crossbill');

  beforeAll(async () => {
    servers = new DebianServers();
    primary = await servers.primary();
    await primary.makeDatabase('crossbill');
    await migrate(url(primary), { folder: OWN_MIGRATIONS, signal: new AbortController().signal });
    standby = await servers.standbyOf(primary);
    db = await Database.open({
      url: url(primary),
      poolSize: 4,
      onError: () => undefined,
      standby: { url: url(standby), onNews: (n) => void news.push(n) },
    });
    side = new PgReadSide(db);
    const time = new ServerTime();
    verify = new VerifyBooksBeside(db, time, new PgMarkLookups(db), side);
    port = side.routed(({ pool }) => ({
      async seen() {
        const { rows } = await pool.query<{ there: boolean; n: number }>(
          'select pg_is_in_recovery() as there, (select count(*)::int from inbox_event) as n',
        );
        return rows[0] ?? { there: false, n: -1 };
      },
    }));
  });
  afterAll(async () => {
    await db?.close();
    await servers?.close();
  });

  const replay = (how: 'pause' | 'resume'): Promise<string> => standby.ask(`select pg_wal_replay_${how}()`);
  const store = async (id: string): Promise<void> => {
    await db.pool.query(
      `insert into inbox_event (source, event_id, type, lane, status, body_sha256, received_at, next_try_at)
         values ('stripe', $1::text, 'invoice.paid', $1::text, 'done', sha256(convert_to($1::text, 'UTF8')), now(), now())`,
      [id],
    );
  };

  it('is read for such work alone, and each read sees what was committed a moment before', async () => {
    const there = new Set<boolean>();
    for (let n = 1; n <= 20; n++) {
      await store(`evt_${n}`);
      const seen = await side.read(() => port.seen());
      expect(seen.n).toBe(n);
      there.add(seen.there);
    }
    await used();
    expect(there).toContain(true);
    expect(await port.seen()).toEqual({ there: false, n: 20 });
    news.splice(0);
  });

  it('that is behind is not waited for: the primary is read, and verify takes no event for missing', async () => {
    await replay('pause');
    await store('evt_young');
    expect(await verify.unknownEvents(['evt_young', 'evt_never'])).toEqual(new Set(['evt_never']));
    expect(await side.read(() => port.seen())).toEqual({ there: false, n: 21 });
    expect(await side.standing()).toEqual({ used: false, detail: 'it is behind the primary' });
    await replay('resume');
    await used();
    expect(await side.read(() => port.seen())).toMatchObject({ n: 21 });
    news.splice(0);
  });

  it('that refuses in the middle of a read has it done again on the primary, unless half of it was sent', async () => {
    const tried: boolean[] = [];
    await used();
    const write = async (): Promise<void> => {
      tried.push((await port.seen()).there);
      if (tried.at(-1) === true)
        throw Object.assign(new Error('canceling statement due to conflict'), { code: '40001' });
    };
    await side.read(write);
    expect(tried).toEqual([true, false]);
    await used();
    await expect(side.read(write, () => false)).rejects.toThrow('conflict');
  });

  it('serves the console: the list of a daemon comes from it, and shows what its session did a moment before', async () => {
    const world = await startWorld({ DATABASE_URL: url(primary), READ_DATABASE_URL: url(standby) });
    try {
      const daemon = await world.startDaemon();
      const visitor = await new Visitor(daemon.url).login(OPS_KEY);
      const audit = await visitor.get('/console/audit');
      expect(audit.text).toContain('console.login'); // written by the request before
      await world.until(
        'a list is read there',
        async () => {
          // Its last question: whose payments the entries are.
          expect((await visitor.get('/console/ledger')).status).toBe(200);
          return standby.ask(
            `select count(*) from pg_stat_activity where application_name = 'crossbill-reading' and query like '%PaymentEntity%'`,
          );
        },
        (n) => Number(n) > 0,
      );
      // While a record is half written the standby cannot have all of it, and the primary is read.
      await world.until(
        'status says that it is read',
        async () => (await cli(['status'], world.env)).out,
        (out) => out.includes('from the standby: it has all that was committed'),
      );
    } finally {
      await world.close();
    }
  });

  it('that does not answer is left alone with one line, at a start too, and read again when it is back', async () => {
    await used();
    news.splice(0);
    await standby.stop('immediate');
    for (let i = 0; i < 3; i++) expect((await side.read(() => port.seen())).there).toBe(false);
    expect(news.splice(0)).toMatchObject([{ state: 'gone' }]);
    const lines = await opened(url(standby));
    expect(lines).toMatchObject([{ msg: 'the standby of READ_DATABASE_URL is not used: reads go to the primary' }]);
    await standby.start();
    await used();
    // Its line is left out where the same was said a moment ago: what counts is where the read goes.
    await expect(side.standing()).resolves.toMatchObject({ used: true });
  });

  it('that is none of this database ends a start with one sentence; the primary itself is not read as one', async () => {
    await expect(opened(adminUrl())).rejects.toMatchObject({
      code: 'store.standby',
      message: expect.stringMatching(
        /^READ_DATABASE_URL leads to a server that is no standby of the one of DATABASE_URL\. Name /,
      ),
    });
    await expect(opened(standby.url('postgres', 'crossbill'))).rejects.toMatchObject({
      message: expect.stringMatching(/^READ_DATABASE_URL leads to another database or schema/),
    });
    await expect(opened(url(standby).replace(servers.password, 'wrong'))).rejects.toMatchObject({
      code: 'store.login',
      message: expect.stringContaining('Put the right user and password into READ_DATABASE_URL'),
    });
    await standby.promote();
    expect(await side.standing()).toMatchObject({
      used: false,
      detail: expect.stringContaining('takes writes itself'),
    });
    expect((await side.read(() => port.seen())).there).toBe(false);
  });

  /** On a busy machine it may be behind for a moment, and then nobody reads there. */
  async function used(): Promise<void> {
    for (let tries = 0; tries < 200; tries++) {
      if ((await side.standing())?.used === true) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error('the standby is not used');
  }

  /** What a daemon does at its start; the lines of its log at `warn` and worse. */
  async function opened(readUrl: string): Promise<readonly unknown[]> {
    const lines: string[] = [];
    const destination = { write: (line: string) => void lines.push(line) };
    const log = createLogger({ level: 'warn', secrets: [], pretty: false, destination });
    const found = await openDatabase(
      {
        database: { kind: 'url', url: new Secret(url(primary)) },
        databasePoolSize: 3,
        readDatabaseUrl: new Secret(readUrl),
      },
      log,
      new AbortController().signal,
    );
    await found.db.close();
    await found.close();
    return lines.map((line) => JSON.parse(line) as unknown);
  }
});
