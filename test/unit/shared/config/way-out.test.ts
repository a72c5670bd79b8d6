// Through a real proxy: Stripe, the MoR, notifications, the clock check and the sign-in, for names that only the proxy knows.
import { lineOut } from '../../../../src/frames/mor/options.js';
import { createServer, type Server } from 'node:http';
import { type LookupAddress } from 'node:dns';
import { type AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { SILENT_LOG } from '../../../support/fakes/silent-log.js';
import { clockCheck } from '../../../../src/frames/cli/doctor/network-checks.js';
import { NO_PROXIES, type Proxies, proxiesOf, Secret } from '../../../../src/shared/config/index.js';
import { IdentityProvider } from '../../../../src/frames/console/sso/identity-provider.js';
import { HttpReceiver } from '../../../../src/features/notifications/receiver.js';
import { sampleOf, putDown } from '../../../../src/features/notifications/rules/all.js';
import { NoHttpReply, StripeHttpClient } from '../../../../src/frames/stripe/http-client.js';
import { SystemClock } from '../../../../src/engine/system-ports.js';
import { aSignIn } from '../../../support/fakes/claims-provider.js';
import { ConnectProxy } from '../../../support/fakes/connect-proxy.js';
import { STANDARD } from '../../../support/builders/notify-as.js';

let peer: Server;
let heard: string[];
let proxy: ConnectProxy;
let proxies: Proxies;
const portOf = (server: Server): number => (server.address() as AddressInfo).port;
const behind = (url: string, noProxy = ''): Proxies =>
  proxiesOf({ HTTP_PROXY: url, HTTPS_PROXY: url, NO_PROXY: noProxy }).proxies;

beforeAll(async () => {
  peer = createServer((req, res) => {
    heard.push(`${req.method ?? ''} ${req.headers.host ?? ''}${req.url ?? ''}`);
    req.resume();
    res.setHeader('content-type', 'application/json').end('{"object":"account"}');
  });
  await new Promise<void>((resolve) => peer.listen(0, '127.0.0.1', resolve));
});
beforeEach(async () => {
  heard = [];
  proxy = await new ConnectProxy(portOf(peer)).listen();
  proxies = behind(proxy.url);
});
afterEach(() => proxy.close());
afterAll(async () => {
  peer.closeAllConnections();
  await new Promise((resolve) => peer.close(resolve));
});

async function askMor(base: string, by: Proxies) {
  const line = lineOut(by, 2);
  try {
    const request = { method: 'GET', base, path: '/api/x', headers: {}, body: null } as const;
    return await line.exchange(request, AbortSignal.timeout(10_000));
  } finally {
    await line.close();
  }
}

async function askStripe(host: string, port: string, by: Proxies): Promise<number | string> {
  const client = new StripeHttpClient(2, by);
  try {
    return (await client.makeRequest(host, port, '/v1/account', 'GET', {}, '', 'http', 10_000)).getStatusCode();
  } catch (e) {
    if (e instanceof NoHttpReply) return e.sent ? 'sent' : 'not sent';
    throw e;
  } finally {
    client.close();
  }
}

const delivery = () => putDown(sampleOf('invoice.paid', 'x'), STANDARD, new Date());

it('Crossbill reaches the MoR through the proxy, and the proxy resolves the MoR’s host name', async () => {
  expect(await askMor('http://mor.internal', proxies)).toMatchObject({ answered: true, status: 200 });
  expect([proxy.asked, heard]).toEqual([['mor.internal:80'], ['GET mor.internal/api/x']]);
});

it('Crossbill reaches Stripe through the proxy', async () => {
  expect(await askStripe('stripe.internal', '80', proxies)).toBe(200);
  expect([proxy.asked, heard]).toEqual([['stripe.internal:80'], ['GET stripe.internal/v1/account']]);
});

it('Crossbill sends notifications through the proxy, even to a host name only the proxy can resolve', async () => {
  const secrets = [new Secret(`whsec_${Buffer.alloc(32, 7).toString('base64')}`)];
  const receiver = new HttpReceiver(new Secret('http://shop.internal/hooks'), secrets, { proxies });
  expect(await receiver.send(delivery(), new Date())).toMatchObject({ outcome: 'delivered', status: 200 });
  await receiver.close();
  expect([proxy.asked, heard]).toEqual([['shop.internal:80'], ['POST shop.internal/hooks']]);
});

it.each([['169.254.169.254'], ['fe80::1']])(
  'Crossbill sends no notification to a host name with the forbidden address %s, not even through the proxy',
  async (address) => {
    const resolver = (_: string, done: (error: null, found: readonly LookupAddress[]) => void): void =>
      done(null, [{ address, family: address.includes(':') ? 6 : 4 }]);
    const receiver = new HttpReceiver(new Secret('http://shop.internal/hooks'), [], { proxies, resolver });
    expect(await receiver.send(delivery(), new Date())).toMatchObject({ outcome: 'failed', status: null });
    await receiver.close();
    expect([proxy.asked, heard]).toEqual([[], []]);
  },
);

it("the command `crossbill doctor` compares the machine's clock with Stripe's through the proxy", async () => {
  expect(await clockCheck('Stripe', 'http://stripe.internal', 300, proxies)).toMatchObject({ state: 'ok' });
  expect(proxy.asked).toEqual(['stripe.internal:80']);
});

it('Crossbill reaches the identity provider through the proxy', async () => {
  const settings = {
    oidcIssuer: 'https://idp.internal',
    oidcClientId: 'c',
    oidcClientSecret: new Secret('client-secret'),
  };
  const provider = new IdentityProvider({ ...settings, proxies }, new SystemClock(), SILENT_LOG);
  proxy.refuses = 503;
  await expect(provider.signInUrl(aSignIn(), 'http://127.0.0.1:1/console/sso/callback')).rejects.toMatchObject({
    status: 503,
  });
  expect(proxy.asked).toEqual(['idp.internal:443']);
});

it('Crossbill reaches its own machine and the hosts in NO_PROXY without the proxy', async () => {
  const here = `http://127.0.0.1:${portOf(peer)}`;
  expect(await askMor(here, proxies)).toMatchObject({ status: 200 });
  expect(await askStripe('127.0.0.1', String(portOf(peer)), proxies)).toBe(200);
  expect(await askMor('http://mor.invalid', behind(proxy.url, 'invalid'))).toMatchObject({
    answered: false,
    sent: 'no',
  });
  expect(await askMor(here, NO_PROXIES)).toMatchObject({ status: 200 });
  expect(proxy.asked).toEqual([]);
});

it('Crossbill sends the proxy’s password to the proxy only', async () => {
  const url = proxy.url.replace('//', '//ada:pass%20word@');
  expect(await askMor('http://mor.internal', behind(url))).toMatchObject({ status: 200 });
  expect(proxy.authorizations).toEqual([`Basic ${Buffer.from('ada:pass word').toString('base64')}`]);
});

it.each([403, 407, 502])(
  'if the proxy refuses a connection with status %s, Crossbill sends nothing to Stripe or the MoR',
  async (status) => {
    proxy.refuses = status;
    expect(await askMor('http://mor.internal', proxies)).toMatchObject({ answered: false, sent: 'no' });
    expect(await askStripe('stripe.internal', '80', proxies)).toBe('not sent');
    expect(heard).toEqual([]);
  },
);

it('if the proxy is down, Crossbill sends nothing to Stripe or the MoR', async () => {
  const gone = behind('http://127.0.0.1:9');
  expect(await askMor('http://mor.internal', gone)).toMatchObject({ answered: false, sent: 'no' });
  expect(await askStripe('stripe.internal', '80', gone)).toBe('not sent');
  expect(await clockCheck('Stripe', 'http://stripe.internal', 300, gone)).toMatchObject({
    ...{ state: 'fail', detail: expect.stringContaining('127.0.0.1:9 (HTTP_PROXY)') },
  });
});
