// A real identity provider on loopback, in a separate process. `GET /_as/<account>` chooses the person who signs in,
// without a password. It prints its address in the first line.
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

const ACCOUNTS = {
  ada: { email: 'Ada@example.com', email_verified: true, groups: ['staff', 'finance', 'billing-ops'] },
  kei: { email: 'kei@example.com', email_verified: true, groups: ['finance'] },
  silent: { email: 'silent@example.com', email_verified: true },
  many: {
    email: 'many@example.com',
    email_verified: true,
    _claim_names: { groups: 'src1' },
    _claim_sources: { src1: { endpoint: 'https://directory.example.com/users/many/groups' } },
  },
  nobody: { email: 'nobody@example.com', email_verified: true, groups: ['staff'] },
  mallory: { email: 'mallory@example.com.evil.test', email_verified: true, groups: ['billing-ops'] },
  unproven: { email: 'ada@example.com', email_verified: false, groups: ['billing-ops'] },
};

const [secret] = process.argv.slice(2);
let account = 'ada';
let provider = null;
const server = createServer((req, res) => {
  const url = new URL(req.url, 'http://localhost');
  const who = /^\/_as\/(\w+)$/.exec(url.pathname)?.[1];
  if (who !== undefined) {
    account = who;
    res.end();
  } else if (url.pathname.startsWith('/interaction/')) {
    const login = { accountId: account };
    provider.interactionFinished(req, res, { login }).catch((error) => res.writeHead(500).end(String(error)));
  } else provider.callback()(req, res);
});

server.listen(0, '127.0.0.1', () => {
  const issuer = `http://localhost:${server.address().port}`;
  provider = new Provider(issuer, {
    clients: [
      { client_id: 'crossbill', client_secret: secret, redirect_uris: ['http://127.0.0.1/console/sso/callback'] },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups'] },
    scopes: ['openid', 'email', 'groups'],
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, ...ACCOUNTS[id] }) }),
    // The company's own console needs no consent of the person.
    loadExistingGrant: async (ctx) => {
      // One grant for a person's browser: a second tab's grant would undo the first tab's code.
      const known = ctx.oidc.session.grantIdFor(ctx.oidc.client.clientId);
      if (known !== undefined) return ctx.oidc.provider.Grant.find(known);
      const grant = new ctx.oidc.provider.Grant({
        clientId: ctx.oidc.client.clientId,
        accountId: ctx.oidc.session.accountId,
      });
      grant.addOIDCScope('openid email groups');
      await grant.save();
      return grant;
    },
  });
  // The daemons of a test get their ports late, so any port on loopback is allowed.
  const { redirectUriAllowed } = provider.Client.prototype;
  provider.Client.prototype.redirectUriAllowed = function allowed(value) {
    const url = new URL(value);
    if (url.hostname === '127.0.0.1') url.port = '';
    return redirectUriAllowed.call(this, url.href);
  };
  console.log(issuer);
});
process.stdin.resume().once('close', () => process.exit());
