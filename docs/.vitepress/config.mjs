// The searchable site of these pages: `npm run docs:site`. The pages read the same on a forge: nothing in them is for the site alone.
import { readFileSync } from 'node:fs';

const page = (text, link) => ({ text, link });
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

const sidebar = [
  {
    text: 'Start',
    items: [
      page('Tutorial: ten minutes, one shop', '/tutorial'),
      page('Getting started', '/getting-started'),
      page('Going live', '/going-live'),
      page('Moving customers', '/moving-customers'),
      page('Recipes', '/recipes'),
      page('Other ways to do it', '/comparison'),
      page('Glossary', '/glossary'),
    ],
  },
  {
    text: 'Build on it',
    items: [
      page('Client and notifications', '/build-on-it'),
      page("Your shop's page", '/shop-page'),
      page('Tax', '/tax'),
      page('Failed renewals', '/retries'),
      page('Routes', '/reference/routes'),
    ],
  },
  {
    text: 'Money',
    items: [page('For the accountant', '/accounting'), page('For the finance team', '/finance')],
  },
  {
    text: 'Operate',
    items: [
      page('Install', '/install'),
      page('Operating', '/operating'),
      page('Backups, restore, failover', '/backups'),
      page('How big a machine', '/sizing'),
      page('Troubleshooting', '/troubleshooting'),
      page('Review items about money', '/review-items'),
      page('Late and refused work', '/late-items'),
      page('Verify', '/verify'),
      page('Alerts', '/alerts'),
      page('Security', '/security'),
      page('Settings', '/reference/settings'),
      page('Metrics', '/reference/metrics'),
      page('Command line', '/reference/cli'),
    ],
  },
  {
    text: 'Proof',
    items: [
      page('Guarantees', '/guarantees'),
      page('Limits', '/limits'),
      page('How it works', '/how-it-works'),
      page('Evidence', '/evidence'),
      page('Benchmarks', '/benchmarks'),
      page('Decisions', '/decisions/'),
      page('Dependencies', '/dependencies'),
      page('Releasing', '/releasing'),
    ],
  },
];

export default {
  title: 'Crossbill',
  description: 'The bridge between Stripe Billing and a Merchant of Record',
  lang: 'en',
  outDir: '../site',
  cacheDir: '../node_modules/.cache/docs-site',
  rewrites: { 'decisions/README.md': 'decisions/index.md' },
  // Files of the repository beside the pages: they are on the forge, not on the site.
  ignoreDeadLinks: [/^(\.\/)?(\.\.\/)+/, /\/README$/],
  // A page shows <angle brackets> and {braces} as they are.
  markdown: { attrs: { disable: true }, config: (md) => md.set({ html: false }) },
  themeConfig: {
    nav: [
      page('Start', '/getting-started'),
      page('Routes', '/reference/routes'),
      page('Operating', '/operating'),
      page(`v${version}`, '/guarantees'),
    ],
    sidebar,
    search: { provider: 'local' },
    outline: [2, 3],
  },
};
