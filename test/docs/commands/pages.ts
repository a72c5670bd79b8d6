// Each page's suppositions, the values of its placeholders, and the output of its commands. A command without an entry
// here and without an output on the page fails the test.
import { type PageShell } from './page-shell.js';
import { MONTH, type Rig } from './rig.js';
import { emptyDatabase } from '../../support/rigs/database.js';
import { stranger } from '../../e2e/support/stranger.js';
import { textOf } from '../support.js';

/** A placeholder's value; `said`: the output of the page's commands so far. */
type Stand = string | ((said: string) => string | Promise<string>);

export type Says = {
  /** A part of the command. The longest match counts. */
  readonly command: string;
  /** In its output, or in its file. */
  readonly prints: RegExp;
  readonly code?: number;
  readonly file?: string;
  /** Runs before it. */
  readonly first?: (shell: PageShell, rig: Rig) => Promise<void> | void;
};

export type Page = {
  readonly says: readonly Says[];
  readonly stands?: (rig: Rig) => Readonly<Record<string, Stand>> | Promise<Readonly<Record<string, Stand>>>;
  readonly files?: (rig: Rig) => Readonly<Record<string, string>>;
  /** Where a file of the page has the settings, and not the environment. */
  readonly bare?: true;
  /** At the end. */
  readonly close?: () => Promise<void>;
};

const last = (ids: RegExp) => (said: string) => {
  const found = [...said.matchAll(ids)].at(-1)?.[1];
  if (found === undefined) throw new Error(`nothing like ${ids.source} was printed`);
  return found;
};

const CLOCK = { command: 'curl -s $MOR/_sandbox/clock', prints: /"now":/ };
/** The open invoice the recipes list, and then try again. */
let listed: string | null = null;
let secondDatabase: Awaited<ReturnType<typeof emptyDatabase>> | null = null;

/** In the order of their runs: those moving the clock far come last. */
export const PAGES: Readonly<Record<string, Page>> = {
  'README.md': {
    stands: async (rig) => {
      const { customerId, invoiceId } = await rig.unpaid();
      let paymentId = '';
      return {
        cus_123: customerId,
        'in_…': invoiceId,
        'sup_…': last(/"id":"(sup_\w+)"/g),
        'ch_…': async (said) => {
          const intent = last(/"payment_intent_id":"(pi_\w+)"/g)(said);
          const { body } = await rig.world.control('POST', `/intents/${intent}/confirm`, {});
          paymentId = String(body['payment_id']);
          return String(body['charge_id']);
        },
        'pay_…': () => paymentId, // stands behind the charge, so the shopper has confirmed
      };
    },
    says: [
      { command: '"kind":"payment"', prints: /"id":"sup_\w+".*"amount_total":2990.*"client_secret":/ },
      {
        command: '"charge_id":"ch_…"',
        prints: /"invoice_id":"in_\w+".*"charge_id":"ch_\w+".*"payment_id":"pay_\w+".*"missing":\[\]/,
      },
    ],
  },
  'docs/getting-started.md': {
    bare: true,
    files: (rig) => ({ 'sandbox.env': rig.settingsFile() }),
    says: [
      { command: 'ours signups/$(', prints: /"charge_id":"ch_.*"missing":\[\]/ },
      { command: 'ours invoices', prints: /in_\w+ paid'[^]*in_\w+ paid'/ },
    ],
  },
  'docs/tax.md': {
    stands: async (rig) => {
      const { customerId, invoiceId } = await rig.unpaid();
      return { cus_123: customerId, 'in_…': invoiceId };
    },
    says: [],
  },
  'docs/shop-page.md': {
    stands: async (rig) => ({ cus_123: (await rig.world.stripe.customers.create({ email: 'ada@example.com' })).id }),
    says: [{ command: '/payment-method/confirmed', prints: /"payment_method_id":"met_/ }],
  },
  'docs/troubleshooting.md': { says: [{ command: 'crossbill ask-mor', prints: /open question/i }] },
  'docs/accounting.md': {
    stands: () => ({ '2026-11': MONTH }),
    says: [
      { command: 'crossbill export ledger', file: 'ledger.csv', prints: /^id,[^]*mor_receivable/ },
      { command: 'crossbill export payments', file: 'payments.csv', prints: /^id,invoice_number,[^]*,29\.90,/ },
      { command: 'crossbill export refunds', file: 'refunds.csv', prints: /succeeded_at/ },
      { command: 'crossbill trial-balance', prints: /mor_receivable/ },
    ],
  },
  'docs/moving-customers.md': {
    stands: () => ({}),
    says: [
      {
        command: 'crossbill import customers',
        prints: /\b2\b.*linked|linked.*\b2\b/i,
        first: async (shell, { world }) => {
          const csv = /```csv\n([\s\S]*?)```/.exec(textOf('docs/moving-customers.md'))?.[1] ?? '';
          const ids = await Promise.all([1, 2].map(async () => (await stranger(world, { card: true })).customerId));
          shell.write(
            'batch-1.csv',
            csv.replace(/^ +/gm, '').replace(/\bcus_\w+/g, () => ids.pop() ?? ''),
          );
        },
      },
      { command: 'crossbill move --reference "batch 1" --dry-run', prints: /2 would move\. Nothing was changed/ },
      { command: 'crossbill move --reference "batch 1" --yes', prints: /2 moved\./ },
    ],
  },
  'docs/recipes.md': {
    bare: true,
    files: (rig) => ({ '.env': rig.settingsFile() }),
    stands: (rig) => ({
      '2026-11': MONTH,
      'pay_…': async () => (await rig.paid()).paymentId,
      'in_…': async () => {
        const id = listed ?? (await rig.openInvoice());
        listed = null;
        return id;
      },
      'cus_…': async () => (await rig.world.stripe.customers.create({ email: 'ada@example.com' })).id,
    }),
    says: [
      { command: 'crossbill refund $PAYMENT', prints: /succeeded/ },
      { command: 'crossbill refund $PAYMENT --amount', prints: /12\.50/ },
      { command: 'crossbill returned $PAYMENT', prints: /pay_\w+/ },
      { command: 'crossbill reviews list --kind debit_returned', prints: /debit_returned/ },
      { command: 'REVIEW=$(crossbill reviews list --kind debit_returned', prints: /^/ },
      { command: 'crossbill reviews resolve', prints: /: credit by / },
      { command: 'crossbill explain', prints: /^Invoice in_|^Payment pay_/ },
      {
        command: 'crossbill invoices --status open',
        prints: /in_\w+/,
        first: async (_, rig) => void (listed = await rig.openInvoice()),
      },
      { command: 'crossbill retry', prints: /in_\w+/ },
      { command: '/payment-method -H', prints: /"id":"met_\w+.*"client_secret":/ },
      { command: '/payment-method/confirmed', prints: /"payment_method_id":"met_/ },
      { command: '/v1/customers/$CUSTOMER -H', prints: /"payment_methods":\[\{"id":"met_/ },
      { command: '/proforma -H "Authorization: Bearer $OPS_KEY" -H', prints: /"number":"PF-GB-/ },
      { command: '/proforma/document', prints: /"url":"http/ },
      { command: '/settle', prints: /./ },
      { command: '"type":"dispute.outcome"', prints: /"endpoints":/ },
      { command: '/payment-link', prints: /"url":"http/ },
      { command: '"kind":"trial"', prints: /"id":"sup_\w+".*"client_secret":/ },
      { command: 'crossbill payments --currency eur', prints: /29\.90 EUR/ },
      {
        command: 'crossbill payments --currency jpy',
        prints: / 4800 JPY/,
        first: async (_, { world }) => {
          const { firstInvoiceId } = await world.subscriber({ amount: 4_800, currency: 'jpy' });
          await world.invoice(firstInvoiceId, 'paid');
        },
      },
      { command: 'crossbill trial-balance', prints: /mor_receivable/ },
      { command: 'crossbill init', prints: /^Wrote .*merchant-b\.env/ },
      { command: 'crossbill migrate --env-file', prints: /^Done: schema/ },
      {
        command: 'crossbill setup --env-file',
        prints: /^Setup would do:\n {2}- Stripe: make a webhook endpoint for https:\/\/b\.example\.com\//m,
        first: async (shell, rig) => {
          secondDatabase = await emptyDatabase();
          shell.write('merchant-b.env', `${rig.settingsFile()}DATABASE_URL=${secondDatabase.url}\n`);
        },
      },
      { command: 'crossbill doctor', prints: /^ok +schema/m, code: 1 }, // no event has come to this database yet, and doctor says so
      { command: 'crossbill status', prints: /Invoices/i },
      { command: 'crossbill migrate --status', prints: /^The schema is current\.$/m },
      { command: 'crossbill verify', prints: /Compared/ },
      { command: 'crossbill reviews list', prints: /./ },
    ],
    close: async () => secondDatabase?.drop(),
  },
  'docs/operating.md': {
    says: [
      { command: 'crossbill status', prints: /Invoices/i },
      { command: 'crossbill reviews list', prints: /./ },
    ],
  },
  'docs/backups.md': {
    says: [
      { command: 'crossbill migrate --status', prints: /^The schema is current\.$/m },
      { command: 'crossbill verify', prints: /Compared/ },
      { command: 'crossbill reviews list', prints: /./ },
    ],
  },
  'docs/build-on-it.md': {
    stands: (rig) => ({
      msg_0123456789abcdef0123456789abcdef: async () => {
        const { body } = await rig.world.api<{ data: { id: string }[] }>('GET', '/v1/notifications?status=delivered');
        return body.data[0]?.id ?? '';
      },
    }),
    says: [
      { command: 'crossbill trigger', prints: /^Delivered msg_\w+: the receiver answered 204/ },
      { command: 'crossbill notifications list', prints: /./ },
      { command: 'crossbill notifications replay msg_', prints: /msg_\w+/ },
      { command: 'crossbill notifications replay --all-dead', prints: /./ },
    ],
  },
  'docs/retries.md': {
    stands: (rig) => ({ 'in_…': () => rig.openInvoice() }),
    says: [
      { command: 'crossbill retry', prints: /in_\w+/ },
      { command: 'curl -X POST', prints: /"retries":\{/ },
    ],
  },
  'docs/finance.md': {
    stands: (rig) => ({
      pay_123: async () => (await rig.paid()).paymentId,
      '2026-11': MONTH,
    }),
    says: [
      {
        command: 'crossbill payments',
        prints: /29\.90 EUR/,
        first: async (_, rig) => void (await rig.paid()),
      },
      { command: 'crossbill explain', prints: /^Payment pay_/m },
      { command: 'crossbill verify', prints: /Compared/ },
      { command: 'crossbill reviews list', prints: /./ },
      { command: 'crossbill trial-balance', prints: /mor_receivable/ },
      { command: 'crossbill export ledger', file: 'ledger.csv', prints: /^id,[^]*mor_receivable/ },
      { command: 'crossbill returned', prints: /pay_\w+/ },
    ],
  },
  'docs/tutorial.md': {
    bare: true,
    files: (rig) => ({ '.crossbill/example/daemon.env': rig.settingsFile() }),
    says: [
      { command: 'node dist/cli.js status', prints: /Invoices/i },
      { command: 'node dist/cli.js invoices', prints: /in_\w+ .* paid / },
      { command: 'node dist/cli.js verify', prints: /Clean|Compared/ },
      CLOCK,
      { command: 'curl -s $MOR/_sandbox/cards', prints: /"outcome":"decline"/ },
    ],
  },
};
