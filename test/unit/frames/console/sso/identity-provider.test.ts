// What identity providers send: email_verified as a word or as a text, in the ID token or at userinfo, or not at all; and clocks that differ.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { SILENT_LOG } from '../../../../support/fakes/silent-log.js';
import { Secret } from '../../../../../src/shared/config/index.js';
import { IdentityProvider, SignInFailed } from '../../../../../src/frames/console/sso/identity-provider.js';
import { type Person } from '../../../../../src/frames/console/sso/people.js';
import { SystemClock } from '../../../../../src/engine/system-ports.js';
import { aSignIn, ClaimsProvider, type Said } from '../../../../support/fakes/claims-provider.js';

let provider: ClaimsProvider;
beforeAll(async () => {
  provider = await ClaimsProvider.start();
});
afterAll(() => provider.close());

/** Somebody comes back from the provider, which says this of them. */
async function comesBack(said: Said): Promise<Person> {
  provider.said = said;
  const settings = {
    oidcIssuer: provider.issuer,
    oidcClientId: 'crossbill',
    oidcClientSecret: new Secret('client-secret'),
  };
  const console_ = new IdentityProvider(settings, new SystemClock(), SILENT_LOG);
  const signIn = aSignIn();
  provider.nonce = signIn.nonce;
  const redirect = 'http://127.0.0.1:1/console/sso/callback';
  await console_.signInUrl(signIn, redirect);
  return console_.personOf(new URL(`${redirect}?code=c&state=${signIn.state}`), signIn);
}

async function refusal(said: Said): Promise<SignInFailed> {
  const outcome = await comesBack(said).catch((e: unknown) => e);
  if (outcome instanceof SignInFailed) return outcome;
  throw new Error('somebody was signed in', { cause: outcome });
}

const ada = { email: 'ada@example.com', groups: ['finance'] };
const now = (): number => Math.floor(Date.now() / 1000);

it('single sign-on accepts email_verified as the text "true" in the ID token', async () => {
  expect(await comesBack({ idToken: { ...ada, email_verified: 'true' }, userinfo: null })).toEqual({
    ...ada,
    verified: true,
    groupsSent: 'yes',
  });
});

it('single sign-on accepts email_verified as the text "true" from userinfo', async () => {
  const userinfo = { sub: 'u1', ...ada, email_verified: 'true' };
  expect(await comesBack({ idToken: {}, userinfo })).toMatchObject({ ...ada, verified: true });
});

it.each([undefined, null, false, 'false', '', 'TRUE', 'yes', ' true', 1, ['true']])(
  'single sign-on lets nobody in with email_verified as %p',
  async (word) => {
    for (const userinfo of [null, { sub: 'u1', ...ada, email_verified: word }])
      expect(await comesBack({ idToken: { ...ada, email_verified: word }, userinfo })).toMatchObject({
        verified: false,
      });
  },
);

it.each([
  ['only an address', { email: 'ada@example.com' }, { email_verified: true }, 'ada@example.com', false],
  ['only a verification', { email_verified: true }, { email: 'bob@example.com' }, 'bob@example.com', false],
  [
    'only an address, and userinfo has both',
    { email: 'ada@example.com' },
    { email: 'bob@example.com', email_verified: true },
    'bob@example.com',
    true,
  ],
  [
    'an unverified address',
    { email: 'ada@example.com', email_verified: false },
    { email: 'bob@example.com', email_verified: true },
    'ada@example.com',
    false,
  ],
  [
    'a verified address, and userinfo another',
    { email: 'ada@example.com', email_verified: true },
    { email: 'bob@example.com', email_verified: false },
    'ada@example.com',
    true,
  ],
])(
  'single sign-on takes an address and its verification from one source: the ID token has %s',
  async (_, idToken, info, email, verified) => {
    const userinfo = { sub: 'u1', groups: ['finance'], ...info };
    expect(await comesBack({ idToken, userinfo })).toMatchObject({ email, verified, groups: ['finance'] });
  },
);

it.each([
  ['no', 'neither groups nor a pointer', {}],
  ['no', 'null', { groups: null }],
  ['elsewhere', 'a pointer', { _claim_names: { groups: 'src1' }, _claim_sources: { src1: { endpoint: 'https://x' } } }],
  ['elsewhere', 'a flag, as text', { hasgroups: 'true' }],
  ['elsewhere', 'a flag', { hasgroups: true }],
  ['no', 'a pointer to another claim', { _claim_names: { address: 'src1' } }],
  ['yes', 'an empty list', { groups: [] }],
  ['yes', 'groups and a pointer', { groups: ['finance'], hasgroups: true }],
])('single sign-on tells absent groups from none: "%s" for %s', async (groupsSent, _, claims) => {
  const idToken = { email: 'ada@example.com', email_verified: true, ...claims };
  expect(await comesBack({ idToken, userinfo: null })).toMatchObject({ groupsSent });
  const userinfo = { sub: 'u1', ...claims };
  expect(await comesBack({ idToken: { ...idToken, ...claims }, userinfo })).toMatchObject({ groupsSent });
});

it('single sign-on accepts a token from a clock a few seconds ahead', async () => {
  const idToken = { ...ada, email_verified: true, iat: now() + 20, nbf: now() + 20, exp: now() + 320 };
  expect(await comesBack({ idToken, userinfo: null })).toMatchObject({ verified: true });
});

it.each([
  ['a provider 90 s ahead', 90, { nbf: 90, exp: 390 }],
  ['a provider 90 s ahead that says only when the token was issued', 90, { exp: 390 }],
  ['a provider ten minutes behind', -600, { nbf: -600, exp: -300 }],
])(
  'single sign-on refuses an identity token whose times come from a wrong clock, and the error names the clock: %s',
  async (_, iat, remaining) => {
    const at = Object.fromEntries(Object.entries({ iat, ...remaining }).map(([name, s]) => [name, now() + s]));
    const failed = await refusal({ idToken: { ...ada, email_verified: true, ...at }, userinfo: null });
    expect([failed.status, failed.message]).toEqual([400, expect.stringContaining('clock')]);
  },
);

it('single sign-on refuses a token issued to another client, and does not blame the clock', async () => {
  const failed = await refusal({ idToken: { ...ada, email_verified: true, aud: 'another' }, userinfo: null });
  expect([failed.status, failed.message]).toEqual([400, expect.not.stringContaining('clock')]);
});
