// Encrypted connections to a real server with certificates of our own making; each fault ends the start with a
// sentence.
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@crossbill/embedded-postgres';
import { connectAlone } from '../../src/frames/store/connect.js';
import { cli } from '../cli/rig.js';
import { asAdmin, opening, settingsFor } from '../support/rigs/any-server.js';

const log = { info: () => undefined, warn: () => undefined };
const HAS_OPENSSL = ['/usr/bin/openssl', '/usr/local/bin/openssl', '/opt/homebrew/bin/openssl'].some((p) =>
  existsSync(p),
);
if (!HAS_OPENSSL) console.warn('the tests of TLS are skipped: there is no openssl to make certificates with');

let folder: string;
let server: EmbeddedPostgres;
/**
 * Certificates by name: `ca` signed `server`, valid for the name localhost only; `other` is a CA without a signature
 * here.
 */
const file = (name: string): string => join(folder, name);

function openssl(...args: string[]): void {
  execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
}

function newCa(name: string): void {
  openssl(
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-days',
    '2',
    '-subj',
    `/CN=${name}`,
    '-keyout',
    `${name}.key`,
    '-out',
    `${name}.pem`,
  );
}

/** Puts a certificate of the CA into force on the server. */
async function serve(days: string): Promise<void> {
  openssl(
    'req',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-subj',
    '/CN=localhost',
    '-keyout',
    'server.key',
    '-out',
    'server.csr',
  );
  writeFileSync(file('names'), 'subjectAltName=DNS:localhost');
  openssl(
    'x509',
    '-req',
    '-in',
    'server.csr',
    '-CA',
    'ca.pem',
    '-CAkey',
    'ca.key',
    '-CAcreateserial',
    '-extfile',
    'names',
    '-days',
    days,
    '-out',
    'server.pem',
  );
  const { uid, gid } = statSync(join(folder, 'data', 'postgres', 'data'));
  for (const name of ['server.key', 'server.pem']) {
    chmodSync(file(name), 0o600);
    chownSync(file(name), uid, gid);
  }
  for (const change of [
    `ssl_cert_file = '${file('server.pem')}'`,
    `ssl_key_file = '${file('server.key')}'`,
    'ssl = on',
  ])
    await asAdmin(`alter system set ${change}`, server.adminUrl);
  await asAdmin('select pg_reload_conf()', server.adminUrl);
}

/** The server's URL with these parameters, by its certificate's name or by its number. */
function url(parameters: string, host = 'localhost'): string {
  const to = new URL(server.url);
  to.hostname = host;
  return `${to.toString()}?${parameters}`;
}

async function isEncrypted(at: string): Promise<boolean> {
  const client = await connectAlone(at, { name: 'test', statementMs: 0 });
  try {
    const found = await client.query<{ ssl: boolean }>('select ssl from pg_stat_ssl where pid = pg_backend_pid()');
    return found.rows[0]?.ssl === true;
  } finally {
    await client.end();
  }
}

/** The server reads its settings again a moment after the signal. */
async function until(so: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    if (await so().catch(() => false)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('the server does not take its new settings');
}

/** A start and a command end at once with this sentence, and no password is in it. */
async function refused(at: string, sentence: RegExp): Promise<void> {
  const daemon = opening(at);
  await expect(daemon.atOnce()).rejects.toMatchObject({ code: 'store.tls', message: expect.stringMatching(sentence) });
  expect(daemon.lines).toEqual([]);
  const { code, err } = await cli(['migrate'], settingsFor(at));
  expect(code).toBe(1);
  expect(err).toMatch(sentence);
  expect(err.trim().split('\n')).toHaveLength(1);
  expect(err).not.toContain(new URL(server.url).password);
}

(HAS_OPENSSL ? describe : describe.skip)('a server with TLS', () => {
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'crossbill-tls-'));
    chmodSync(folder, 0o755);
    server = await startEmbeddedPostgres({
      dataDir: join(folder, 'data'),
      log,
      settings: { fsync: 'off', unix_socket_directories: '/tmp' },
    });
    newCa('ca');
    newCa('other');
    writeFileSync(file('empty.pem'), 'not a certificate');
    await serve('2');
    await until(() => isEncrypted(url('sslmode=require')));
  }, 120_000);
  afterAll(async () => {
    await server?.stop();
    if (folder) rmSync(folder, { recursive: true, force: true });
  });

  it("the daemon encrypts its database connection as sslmode asks, with the same meaning as in PostgreSQL's libpq", async () => {
    const ca = `sslrootcert=${file('ca.pem')}`;
    expect(await isEncrypted(url('sslmode=disable'))).toBe(false);
    expect(await isEncrypted(url('sslmode=require'))).toBe(true); // any server
    expect(await isEncrypted(url(`sslmode=require&${ca}`, '127.0.0.1'))).toBe(true); // as verify-ca
    expect(await isEncrypted(url(`sslmode=verify-ca&${ca}`, '127.0.0.1'))).toBe(true);
    expect(await isEncrypted(url(`sslmode=verify-full&${ca}`))).toBe(true);
    expect(await isEncrypted(url(ca))).toBe(true);
  });

  it('the daemon refuses a database server whose certificate no trusted CA signed', async () => {
    const sentence =
      /^No authority trusted by Crossbill signed the server's certificate: .*\. Give the provider's CA file in DATABASE_URL \(sslmode=verify-full&sslrootcert=/;
    await refused(url('sslmode=verify-full'), sentence);
    await refused(url('sslmode=verify-full&sslrootcert=system'), sentence);
    await refused(url('ssl=true'), sentence);
    await refused(url(`sslmode=verify-ca&sslrootcert=${file('other.pem')}`), sentence);
    await refused(url(`sslmode=require&sslrootcert=${file('other.pem')}`), sentence);
  });

  it("with sslmode=verify-full the daemon refuses a database server under another name than in the server's certificate", async () => {
    await refused(
      url(`sslmode=verify-full&sslrootcert=${file('ca.pem')}`, '127.0.0.1'),
      /^The server's certificate is for another host name: .*127\.0\.0\.1.*\. Use a host name of the certificate/,
    );
  });

  it('the daemon refuses a DATABASE_URL with a missing CA file, an unusable CA file or an unknown sslmode', async () => {
    await refused(
      url('sslmode=verify-full&sslrootcert=/no/such/ca.pem'),
      /^sslrootcert=\/no\/such\/ca\.pem cannot be read \(ENOENT\)\. Give the path/,
    );
    await refused(
      url(`sslmode=verify-full&sslrootcert=${file('empty.pem')}`),
      /empty\.pem holds no certificate\. Give a file in PEM/,
    );
    await refused(
      url('sslmode=require&sslrootcert=system'),
      /^sslrootcert=system with sslmode=require would trust any server/,
    );
    await refused(url('sslmode=verify-ca'), /^sslmode=verify-ca needs a CA, and DATABASE_URL names none\. Add sslroot/);
    await refused(url('sslmode=prefer'), /^sslmode=prefer does not always encrypt\. Use disable, require,/);
    await refused(url('sslmode=on'), /^DATABASE_URL has an unknown sslmode\. Use disable/);
  });

  it('the daemon refuses a database server with an expired certificate', async () => {
    await serve('-1');
    const at = url(`sslmode=verify-full&sslrootcert=${file('ca.pem')}`);
    await until(async () => !(await isEncrypted(at).catch(() => false)));
    await refused(at, /^The server's certificate is not valid today: .*\. Renew it on the server/);
  });

  it('the daemon refuses a database server without TLS if sslmode requires TLS', async () => {
    await asAdmin('alter system set ssl = off', server.adminUrl);
    await asAdmin('select pg_reload_conf()', server.adminUrl);
    await until(async () => !(await isEncrypted(url('sslmode=require')).catch(() => false)));
    await refused(
      url('sslmode=require'),
      /^The server offers no encrypted connection: .*\. Switch TLS on there \(ssl = on\)/,
    );
  });

  it('the daemon and the command line reach the database through a socket folder in the URL', async () => {
    const { pathname, port, username, password } = new URL(server.url);
    for (const at of [
      `postgresql://${pathname}?host=/tmp&port=${port}&user=${username}&password=${password}`,
      `postgresql://${username}:${password}@${pathname}?host=/tmp&port=${port}&sslmode=require`,
      `postgresql://${username}:${password}@%2Ftmp:${port}${pathname}`,
    ]) {
      const daemon = opening(at);
      await daemon.opened;
      const { code, err } = await cli(['migrate'], settingsFor(at));
      expect({ code, err }).toEqual({ code: 0, err: '' });
      const shown = await cli(['config', 'print'], settingsFor(at));
      expect(shown.out).not.toContain(password);
      await daemon.stop();
    }
  });
});
