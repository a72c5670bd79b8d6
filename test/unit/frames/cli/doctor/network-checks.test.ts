// Doctor's look at the way to a peer.
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clockCheck } from '../../../../../src/frames/cli/doctor/network-checks.js';

const NO_PROXY = { http: null, https: null, except: [] };
let folder: string;
let server: Server;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'crossbill-ca-'));
  const [key, pem] = [join(folder, 'key'), join(folder, 'pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', pem, '-days', '2', ...subject];
  execFileSync('openssl', made, { stdio: 'pipe' });
  server = createServer({ key: readFileSync(key), cert: readFileSync(pem) }, (_, res) => res.end());
  await new Promise<void>((resolve) => server.listen(0, resolve));
});
afterEach(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

it("a certificate of a company's own authority is named, with the setting for its file", async () => {
  const { port } = server.address() as AddressInfo;
  expect(await clockCheck('Stripe', `https://localhost:${port}`, 300, NO_PROXY)).toMatchObject({
    state: 'fail',
    detail: expect.stringContaining('certificate'),
    todo: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
  });
});

it('a peer that does not answer is not taken for one with a wrong certificate', async () => {
  const found = await clockCheck('Stripe', 'https://localhost:1', 300, NO_PROXY);
  expect(found).toMatchObject({ state: 'fail', todo: expect.not.stringContaining('NODE_EXTRA_CA_CERTS') });
});
