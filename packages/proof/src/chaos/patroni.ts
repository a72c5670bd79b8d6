// Two PostgreSQL servers under Patroni in synchronous mode, etcd for its votes, and one address that always leads to
// the primary.
import { type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { freePort } from '@crossbill/embedded-postgres';
import { chooseRunAs, type RunAs } from '@crossbill/embedded-postgres';
import { asked, DATABASE, findPrograms, killServer, makeFolderFor, untilFollowed } from './postgres.js';
import { spawnServer } from './processes.js';
import { owned } from './stage.js';
import { TcpProxy } from './tcp-proxy.js';

const HOST = '127.0.0.1';
const PLACES = ['/usr/bin', '/usr/local/bin'];
/** The Debian package makes this folder for the user `postgres`. */
const OF_POSTGRES = '/var/lib/postgresql';
const READY_WITHIN_MS = 180_000;
const POLL_MS = 500;
const REPLIES_WITHIN_MS = 3_000;

/** In seconds. Patroni accepts no `ttl` below 20 s. */
const TIMEOUT = { ttl: 20, loop_wait: 2, retry_timeout: 3 };

export type PatroniPrograms = { readonly bin: string; readonly patroni: string; readonly etcd: string };

/** Finds Patroni's programs. Null: this machine lacks one of them. */
export function findPatroni(): PatroniPrograms | null {
  const { bin, whole } = findPrograms(chooseRunAs(OF_POSTGRES));
  const [patroni, etcd] = ['patroni', 'etcd'].map((name) =>
    PLACES.map((p) => join(p, name)).find((p) => existsSync(p)),
  );
  return whole && patroni !== undefined && etcd !== undefined ? { bin, patroni, etcd } : null;
}

type NodeOptions = {
  readonly name: string;
  /** The folder for the data and the settings of this node. The settings contain a password. */
  readonly folder: string;
  readonly logFile: string;
  readonly port: number;
  readonly apiPort: number;
  readonly etcdPort: number;
  readonly password: string;
};

/** Patroni's settings. The caller writes them as JSON, a subset of YAML. Pure. */
export function settingsOf(options: NodeOptions, bin: string): object {
  const access = ['host all all 127.0.0.1/32 scram-sha-256', 'host replication all 127.0.0.1/32 scram-sha-256'];
  const api = `${HOST}:${options.apiPort}`;
  const server = `${HOST}:${options.port}`;
  return {
    scope: 'crossbill',
    name: options.name,
    etcd3: { hosts: `${HOST}:${options.etcdPort}` },
    restapi: { listen: api, connect_address: api },
    bootstrap: {
      dcs: { ...TIMEOUT, synchronous_mode: true, postgresql: { use_pg_rewind: true } },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, { 'wal-segsize': '1' }, 'no-sync'],
    },
    postgresql: {
      listen: server,
      connect_address: server,
      data_dir: join(options.folder, 'data'),
      bin_dir: bin,
      pgpass: join(options.folder, 'pgpass'),
      pg_hba: access,
      authentication: {
        superuser: { username: 'postgres', password: options.password },
        replication: { username: 'replicator', password: options.password },
      },
      // No fsync: this run kills only processes, and the kernel keeps their writes.
      parameters: { fsync: 'off', unix_socket_directories: '' },
    },
  };
}

export class PatroniNode {
  /** How often Patroni has started on this node. */
  starts = 0;
  private child: ChildProcess | null = null;

  constructor(
    readonly options: NodeOptions,
    private readonly programs: PatroniPrograms,
    private readonly runAs: RunAs,
  ) {
    makeFolderFor(runAs, options.folder);
    writeFileSync(this.settings, JSON.stringify(settingsOf(options, programs.bin), null, 1), { mode: 0o600 });
    if (runAs !== null) chownSync(this.settings, runAs.uid, runAs.gid);
  }

  /** The URL of the daemons' database on this node. It contains a password: do not print it. */
  get url(): string {
    return this.urlOf(DATABASE);
  }

  start(): void {
    const { folder, logFile } = this.options;
    this.child = spawnServer(this.programs.patroni, [this.settings], { runAs: this.runAs, cwd: folder, logFile });
    this.starts += 1;
  }

  /** Kills Patroni, PostgreSQL and all their processes at one moment, as if the machine lost power. */
  kill(): void {
    this.child?.kill('SIGKILL');
    const pid = this.serverPid();
    if (pid !== null) killServer(pid);
  }

  query(sql: string, database = DATABASE): Promise<pg.QueryResult<Record<string, unknown>>> {
    return asked(this.urlOf(database), sql);
  }

  private get settings(): string {
    return join(this.options.folder, 'patroni.json');
  }

  /**
   * Reads PostgreSQL's process id from postmaster.pid: PostgreSQL is no child of Patroni. Null: PostgreSQL is dead. Its
   * id may belong to another process by now, so the function also compares the command line.
   */
  private serverPid(): number | null {
    const data = join(this.options.folder, 'data');
    try {
      const pid = Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]);
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(data) ? pid : null;
    } catch {
      return null;
    }
  }

  private urlOf(database: string): string {
    return `postgresql://postgres:${this.options.password}@${HOST}:${this.options.port}/${database}`;
  }
}

export class Patroni {
  private ended = false;

  private constructor(
    readonly nodes: readonly PatroniNode[],
    private readonly etcd: ChildProcess,
    private readonly address: TcpProxy,
  ) {}

  /**
   * Makes both nodes and the daemons' database. One node is the synchronous standby of the other. Logs and data are
   * below `folder`.
   */
  static async make(folder: string, programs: PatroniPrograms): Promise<Patroni> {
    const runAs = chooseRunAs(OF_POSTGRES);
    const password = randomBytes(16).toString('hex');
    const data = join(folder, 'patroni');
    makeFolderFor(runAs, data);
    const [etcdPort, peerPort] = [await freePort(), await freePort()];
    const etcd = spawnServer(programs.etcd, etcdArguments(join(data, 'etcd'), etcdPort, peerPort), {
      ...{ runAs, cwd: data, logFile: join(folder, 'etcd.log') },
    });
    const nodes: PatroniNode[] = [];
    for (const name of ['one', 'two']) {
      const logFile = join(folder, `patroni-${name}.log`);
      const ports = { port: await freePort(), apiPort: await freePort(), etcdPort };
      nodes.push(new PatroniNode({ name, folder: join(data, name), logFile, ...ports, password }, programs, runAs));
    }
    const cluster = new Patroni(nodes, etcd, await TcpProxy.before([]));
    owned.add(() => void cluster.end());
    try {
      for (const node of nodes) node.start();
      const primary = await cluster.primary();
      await untilFollowed(primary, 'synchronously');
      await primary.query(`create database ${DATABASE}`, 'postgres');
    } catch (error) {
      await cluster.end();
      throw error;
    }
    void followPrimary(
      cluster.address,
      nodes.map((n) => n.options),
      () => cluster.ended,
    );
    return cluster;
  }

  /** The URL that leads to the current primary. It contains a password: do not print it. */
  get url(): string {
    return this.address.through(this.nodes[0]?.url ?? '');
  }

  get starts(): number {
    return this.nodes.reduce((sum, n) => sum + n.starts, 0);
  }

  /** Waits until one node is the primary. */
  async primary(): Promise<PatroniNode> {
    const deadline = performance.now() + READY_WITHIN_MS;
    for (;;) {
      for (const node of this.nodes) if (await saysPrimary(node.options.apiPort)) return node;
      if (performance.now() > deadline) throw new Error('Patroni makes no node the primary; see its logs');
      await sleep(POLL_MS);
    }
  }

  /** Ends both nodes, etcd and the proxy for good. The run removes their data with its folder. */
  async end(): Promise<void> {
    this.ended = true;
    for (const node of this.nodes) node.kill();
    this.etcd.kill('SIGKILL');
    await this.address.close();
  }
}

/** Leads connections to the primary node, like a load balancer. Refuses them while no node is the primary. */
export async function followPrimary(
  address: TcpProxy,
  nodes: readonly { readonly port: number; readonly apiPort: number }[],
  ended: () => boolean,
): Promise<void> {
  let led = 0;
  for (; !ended(); await sleep(POLL_MS)) {
    const says = await Promise.all(nodes.map((node) => saysPrimary(node.apiPort)));
    const port = nodes.find((_, i) => says[i])?.port ?? 0;
    if (port !== led) address.lead(port === 0 ? [] : [{ host: HOST, port }]);
    led = port;
  }
}

async function saysPrimary(apiPort: number): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(REPLIES_WITHIN_MS);
    const reply = await fetch(`http://${HOST}:${apiPort}/primary`, { signal });
    await reply.arrayBuffer();
    return reply.status === 200;
  } catch {
    return false;
  }
}

function etcdArguments(data: string, port: number, peerPort: number): readonly string[] {
  const [clients, peers] = [`http://${HOST}:${port}`, `http://${HOST}:${peerPort}`];
  return [
    ...['--name=only', `--data-dir=${data}`],
    ...[`--listen-client-urls=${clients}`, `--advertise-client-urls=${clients}`],
    ...[`--listen-peer-urls=${peers}`, `--initial-advertise-peer-urls=${peers}`, `--initial-cluster=only=${peers}`],
  ];
}
