// The variables of a host behind a proxy: which peers are reached through it, and which wrong one stops the start.
import { expect, it } from '@jest/globals';
import { proxiesOf, proxyFor, secretValues, shownProxy } from '../../../../src/shared/config/index.js';
import { load, problemsOf } from '../../../support/builders/minimal-settings.js';

const PROXY = 'http://proxy.internal:3128';
const way = (env: Record<string, string>, url: string): string | null => {
  const proxy = proxyFor(proxiesOf(env).proxies, new URL(url));
  return proxy === null ? null : shownProxy(proxy);
};

it('Crossbill uses the proxy variable of the URL’s scheme, and prefers the lower-case name', () => {
  expect(way({}, 'https://api.stripe.com')).toBeNull();
  expect(way({ HTTPS_PROXY: PROXY }, 'https://api.stripe.com')).toBe(`${PROXY} (HTTPS_PROXY)`);
  expect(way({ HTTPS_PROXY: PROXY }, 'http://mor.internal')).toBeNull();
  expect(way({ HTTP_PROXY: PROXY }, 'http://mor.internal')).toBe(`${PROXY} (HTTP_PROXY)`);
  expect(way({ https_proxy: 'small.internal:8080', HTTPS_PROXY: PROXY }, 'https://a.example')).toBe(
    'http://small.internal:8080 (https_proxy)',
  );
  expect(way({ HTTPS_PROXY: '' }, 'https://a.example')).toBeNull();
});

it.each([
  'http://localhost:4010',
  'http://127.0.0.1:4010',
  'http://127.8.9.1',
  'http://[::1]:4020',
  'http://a.localhost',
  'http://localhost.:4010',
])('Crossbill never uses the proxy for an address of its own machine: %s', (url) => {
  expect(way({ HTTP_PROXY: PROXY, HTTPS_PROXY: PROXY }, url)).toBeNull();
});

it.each([
  ['mor.internal.', 'https://mor.internal', true],
  ['.mor.internal.:443', 'https://api.mor.internal', true],
  ['mor.internal', 'https://mor.internal.', true],
  ['2001:0DB8::0001', 'https://[2001:db8::1]', true],
  ['[2001:db8::1]:8443', 'https://[2001:db8::1]:8443', true],
  ['münchen.example', 'https://api.xn--mnchen-3ya.example', true],
  ['mor.internal.', 'https://notmor.internal', false],
  ['*', 'https://api.stripe.com', true],
  ['api.stripe.com', 'https://api.stripe.com', true],
  ['stripe.com', 'https://api.stripe.com', true],
  ['.stripe.com', 'https://api.stripe.com', true],
  ['*.stripe.com', 'https://API.Stripe.com', true],
  ['stripe.com', 'https://notstripe.com', false],
  ['mor.internal:8443', 'https://mor.internal:8443', true],
  ['mor.internal:8443', 'https://mor.internal', false],
  ['mor.internal:443', 'https://mor.internal', true],
  ['10.1.2.3', 'https://10.1.2.3', true],
  ['10.0.0.0/8', 'https://10.1.2.3', true],
  ['10.0.0.0/8', 'https://11.1.2.3', false],
  ['2001:db8::1', 'https://[2001:db8::1]:8443', true],
  ['2001:db8::/32', 'https://[2001:db8::7]', true],
  ['a.example, mor.internal b.example', 'https://mor.internal', true],
  ['10.0.0.0/99, x/y, :, ,', 'https://mor.internal', false],
])('with NO_PROXY=%s, Crossbill reaches %s without the proxy: %p', (entries, url, straight) => {
  expect(way({ HTTPS_PROXY: PROXY, NO_PROXY: entries }, url) === null).toBe(straight);
});

it.each([
  'socks5://proxy.internal:1080',
  'ftp://proxy.internal',
  `"${PROXY}"`,
  'http://',
  `${PROXY}/path`,
  'a b',
  'http://ada:%zz@proxy.internal',
])('the daemon refuses the proxy %s and names the environment variable', (value) => {
  for (const name of ['HTTP_PROXY', 'https_proxy'])
    expect(problemsOf({ [name]: value }).map((p) => p.name)).toEqual([name]);
});

it('Crossbill never shows the password of a proxy', () => {
  const config = load({ HTTPS_PROXY: 'http://ada:canary-proxy@proxy.internal:3128' });
  expect(secretValues(config)).toContain('canary-proxy');
  expect(JSON.stringify(config.proxies)).not.toContain('canary-proxy');
  expect(config.proxies.https === null ? '' : shownProxy(config.proxies.https)).toBe(`${PROXY} (HTTPS_PROXY)`);
});
