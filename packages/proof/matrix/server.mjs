// Runs one PostgreSQL for one pair: with its own data folder, port and socket, and default settings.
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';

/** The server ends when its standard input closes: a killed matrix leaves no server and no folder behind. */
const UNTIL_WE_END = '"$@" </dev/null & server=$!; cat >/dev/null; kill -INT $server; wait $server; cd /; rm -rf "$0"';

// A test's data need not survive a power cut. Everything else keeps the server's defaults, JIT above all.
const FOR_TESTS = ['fsync=off', 'full_page_writes=off'];

/** Runs `work` with the server's URL (a superuser's, database postgres), version, and whether it compiles queries. */
export async function withServer({ initdb, postgres, runAs }, work) {
  const { freePort, SERVER_ENV } = await import('@crossbill/embedded-postgres');
  const folder = mkdtempSync(join(tmpdir(), 'crossbill-matrix-'));
  const [data, log, password] = [join(folder, 'data'), join(folder, 'log'), randomBytes(16).toString('hex')];
  let server = null;
  try {
    writeFileSync(join(folder, 'password'), password, { mode: 0o600 });
    if (runAs !== null) for (const path of [folder, join(folder, 'password')]) chownSync(path, runAs.uid, runAs.gid);
    const asUser = { ...runAs, cwd: folder, env: SERVER_ENV };
    const access = ['--username=postgres', '--pwfile=password', '--auth=scram-sha-256'];
    const made = spawnSync(initdb, ['-D', data, ...access, '--encoding=UTF8', '--locale=C', '--no-sync'], {
      ...asUser,
      encoding: 'utf8',
    });
    if (made.status !== 0)
      throw new Error(`initdb failed: ${(made.stderr ?? made.error?.message ?? '').trim().split('\n').at(-1)}`);
    const port = await freePort();
    const settings = [`port=${port}`, `unix_socket_directories=${folder}`, ...FOR_TESTS];
    const output = openSync(log, 'a');
    server = spawn(
      '/bin/sh',
      ['-c', UNTIL_WE_END, folder, postgres, '-D', data, ...settings.flatMap((s) => ['-c', s])],
      {
        ...asUser,
        detached: true, // Ctrl-C does not reach the server
        stdio: ['pipe', output, output],
      },
    );
    closeSync(output);
    const url = `postgresql://postgres:${password}@127.0.0.1:${port}/postgres`;
    const about = await whenReady(url, server, log);
    return await work({ url, ...about });
  } finally {
    await ended(server);
    rmSync(folder, { recursive: true, force: true });
  }
}

async function whenReady(url, server, log) {
  for (let tries = 0; tries < 300 && server.exitCode === null; tries++) {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    try {
      await client.connect();
      const { rows } = await client.query(
        `select current_setting('server_version') as version, pg_jit_available() and current_setting('jit')::boolean as jit`,
      );
      return { version: rows[0].version.split(' ')[0], jit: rows[0].jit };
    } catch {
      await pause(100);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
  throw new Error(`PostgreSQL did not start: ${readFileSync(log, 'utf8').trim().split('\n').slice(-3).join(' ')}`);
}

async function ended(server) {
  if (server === null || server.exitCode !== null) return;
  const gone = new Promise((resolve) => server.once('exit', resolve));
  server.stdin.end();
  await gone;
}
