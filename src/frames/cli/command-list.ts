// The commands of the core, by task. Those of the features follow.
import { type CommandRows } from './slots.js';

export const OF_CORE: Required<CommandRows> = {
  setup: [
    {
      name: 'start',
      about: 'run the daemon, with the settings of the environment or of .env; Ctrl-C ends it',
      load: async () => (await import('./programs.js')).addStart,
    },
    {
      name: 'init',
      about:
        'write a commented .env with a generated API key and database password, and a compose file; overwrites nothing',
      load: async () => (await import('./init.js')).addInit,
    },
    { name: 'config', about: 'the settings', load: async () => (await import('./init.js')).addConfig },
    {
      name: 'setup',
      about:
        'make the webhook endpoints at Stripe and the MoR, write their secrets into .env, list your steps, and run doctor',
      load: async () => (await import('./setup.js')).addSetup,
    },
    {
      name: 'migrate',
      about: 'bring the database schema up to date; replicas share a lock',
      load: async () => (await import('./migrate.js')).addMigrate,
    },
    {
      name: 'doctor',
      about: 'check settings, database, clock, Stripe, the MoR and traffic; exit code 1 when something fails',
      load: async () => (await import('./doctor.js')).addDoctor,
    },
    {
      name: 'rehearse',
      about:
        "rehearse signup, renewal, refund, decline and retry on your own test accounts (Stripe's test mode and the MoR's staging), and record the answers missing in the MoR's documents; run it again to continue",
      load: async () => (await import('./rehearse.js')).addRehearse,
    },
    {
      name: 'webhooks',
      about: "the MoR's webhook endpoints",
      load: async () => (await import('./webhooks.js')).addWebhooks,
    },
    {
      name: 'import',
      about: 'import links between Stripe and the MoR from a file',
      load: async () => (await import('./import.js')).addImport,
    },
  ],
  look: [
    {
      name: 'status',
      about: 'the state of invoices, queues, events, reviews and the last verify',
      load: async () => (await import('./status.js')).addStatus,
    },
    {
      name: 'explain',
      about:
        "show the history of an invoice in order: events, decisions, calls, people; takes an invoice's number, a customer's e-mail address or name, an amount such as '49,50 GBP', the id of an invoice, payment, refund, customer, signup, charge, event or review item, or the MoR's id of a proforma invoice, link or dispute",
      load: async () => (await import('./explain.js')).addExplain,
    },
    { name: 'invoices', about: 'invoices, newest first', load: async () => (await import('./lists.js')).addInvoices },
    { name: 'payments', about: 'payments, newest first', load: async () => (await import('./lists.js')).addPayments },
    {
      name: 'events',
      about: 'the inbox: every authentic delivery, and the quarantine',
      load: async () => (await import('./events.js')).addEvents,
    },
    {
      name: 'reviews',
      about: 'review items: work for a person',
      load: async () => (await import('./reviews.js')).addReviews,
    },
    {
      name: 'trial-balance',
      about: 'the trial balance of a month, for each currency',
      load: async () => (await import('./trial-balance.js')).addTrialBalance,
    },
    {
      name: 'export',
      about: 'write records as CSV or JSON lines, to standard output or a file',
      load: async () => (await import('./export.js')).addExport,
    },
  ],
  act: [
    {
      name: 'refund',
      about:
        "refund a payment at the MoR and mirror the refund on Stripe; takes the MoR's `pay_…`, Crossbill's id, or the processor's `ch_…` or `pi_…`",
      load: async () => (await import('./refund.js')).addRefund,
    },
    {
      name: 'ask-mor',
      about:
        "print Crossbill's open questions to the MoR's support as a text: ids and times, no personal data; changes nothing",
      load: async () => (await import('./ask-mor.js')).addAskMor,
    },
    {
      name: 'rebuild',
      about: "compare every invoice's read rows with its log, and correct wrong rows",
      load: async () => (await import('./rebuild.js')).addRebuild,
    },
    {
      name: 'erase',
      about: "erase a customer's names, e-mails and addresses; amounts, ids and hashes stay",
      load: async () => (await import('./erase.js')).addErase,
    },
    {
      name: 'purge',
      about: 'delete raw bodies of old events and calls; ids and hashes stay, so Crossbill recognises repeats',
      load: async () => (await import('./erase.js')).addPurge,
    },
  ],
  try: [
    {
      name: 'demo',
      about: 'start PostgreSQL, the sandbox and a daemon, drive months of subscriptions, and compare all sides',
      load: async () => (await import('./programs.js')).addDemo,
    },
    {
      name: 'sandbox',
      about: 'play Stripe and the MoR on two ports, for tests; made-up money only',
      load: async () => (await import('./programs.js')).addSandbox,
    },
    {
      name: 'completion',
      about: 'print completion for bash, zsh or fish',
      load: async () => (await import('./completion.js')).addCompletion,
    },
  ],
};
