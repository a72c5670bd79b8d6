// Each command's input, and its output after success; test/cli/terminal.test.ts runs them.
import { join } from 'node:path';

export type Way = 'terminal' | 'pipe';
export type Case = {
  /** Its arguments after its name. Consumable things exist once for each way. */
  readonly args?: (way: Way) => readonly string[];
  /** A person's text after success; no error has it. */
  readonly text: RegExp;
  /** Members of its JSON. */
  readonly json: readonly string[];
  /** The exit code of its work done; left out: 0. */
  readonly code?: number;
  /** Its words besides the result, on stderr through a pipe; left out: none. */
  readonly beside?: RegExp;
};

export const facts = {
  invoiceId: '',
  paymentId: '',
  customers: { terminal: '', pipe: '' },
  debits: { terminal: '', pipe: '' },
  eventId: '',
  parked: { terminal: '', pipe: '' },
  merchants: '',
  notificationId: '',
};
export const endpoints: Record<Way, string> = { terminal: '', pipe: '' };
const event = ['id', 'source', 'event_id', 'type', 'lane', 'status', 'attempts', 'received_at'];
const merchant = ['reference', 'merchant_id', 'status', 'due', 'errors', 'next'];

/** Every command, in a safe order: none removes a later one's needs. */
export const CASES: Readonly<Record<string, Case>> = {
  init: { text: /^Wrote .*\.env \(only you can read it\)/, json: ['file', 'compose_file'] },
  setup: {
    args: (way) => ['--url', `https://${way}.example.com`, '--dry-run'],
    text: /^Setup would do:\n {2}- Stripe: make a webhook endpoint for https:\/\/terminal\.example\.com\/webhooks\/stripe/m,
    json: ['file', 'url', 'dry_run', 'steps', 'by_hand'],
  },
  'config print': { text: /^STRIPE_MAX_RPS +500$/m, json: ['PORT', 'DATABASE_URL', 'API_KEYS'] },
  migrate: { text: /^The schema is already current\.$/m, json: ['migrations'] },
  doctor: { text: /^\d+ ok, \d+ to look at, 0 failed$/m, json: ['checks', 'summary'] },
  status: {
    text: /^Invoices\nstatus +count\n[^]*\nLast verify\n {2}never$/m,
    json: ['invoices', 'queue', 'stuck', 'senders', 'open_reviews', 'verify'],
  },
  'events list': {
    text: /^id +received_at +source +type +status +event_id +reason +note\n-[^]*invoice\.created/,
    json: ['data'],
  },
  invoices: {
    args: () => ['--status', 'paid'],
    text: /^id +number +customer_id +amount_due +status .*\n-[^]*\nin_\S+ +\S+ +cus_\S+ +29\.90 EUR +paid /,
    json: ['data'],
  },
  payments: {
    args: () => ['--since', '30d', '--currency', 'eur'],
    text: /^id +invoice_number +customer_id +amount +amount_refunded +status .*\n-[^]*\npay_\S+ +\S+ +cus_\S+ +29\.90 EUR +0\.00 EUR +succeeded /,
    json: ['data'],
  },
  'events show': {
    args: () => [facts.eventId],
    text: /^type +invoice\.created\n[^]*"object": "event"/m,
    json: [...event, 'body'],
  },
  'events retry': {
    args: () => [facts.eventId],
    text: /^Queued for another decision: ie_/,
    json: ['retried', 'refused'],
  },
  'events dismiss': {
    args: (way) => [facts.parked[way], '--note', 'of another system'],
    text: /^Dismissed ie_\d+\.$/m,
    json: ['id', 'status', 'reason'],
  },
  retry: { args: () => [facts.eventId], text: /^Queued for another decision: ie_/, json: ['retried', 'refused'] },
  'reviews list': { text: /^id +due_at +created_at +kind +status[^]*rev_terminal[^]*dispute/, json: ['data'] },
  'reviews show': {
    args: (way) => [`rev_${way}`],
    text: /^rev_terminal: dispute, open\n[^]*What to do[^]*crossbill reviews resolve rev_terminal dismiss/,
    json: ['id', 'kind', 'status', 'summary', 'proposal', 'actions'],
  },
  'reviews resolve': {
    args: (way) => [`rev_${way}`, 'dismiss', '--note', 'agreed', '--yes'],
    text: /^rev_terminal: dismiss(ed)? by cli:/,
    json: ['id', 'kind', 'status', 'resolved_by', 'note'],
  },
  explain: {
    args: () => [facts.invoiceId],
    text: /^Invoice in_\S+ of customer cus_\S+: paid\.[^]*Payment succeeded/,
    json: ['id', 'invoices', 'signups', 'not_shown'],
  },
  refund: {
    args: (way) => [facts.paymentId, '--amount', '1.00', '--key', `for-${way}`, '--yes'],
    text: /^Refund \S+ of 1\.00 EUR: succeeded, and shown on Stripe by credit note cn_/m,
    json: ['id', 'mor_refund_id', 'payment_id', 'amount', 'currency', 'status', 'mirror', 'credit_note_id'],
  },
  verify: {
    text: /^Compared \d+ [^]*\nClean: ledger, Stripe and the MoR agree\.$/m,
    json: ['id', 'outcome', 'compared', 'differences'],
    beside: /^(compared [^\n]*\n)*$/,
  },
  backfill: {
    args: () => ['--since', '30d', '--yes'],
    text: /^Nothing was missing\.$/m,
    json: ['compared', 'repaired', 'not_repaired', 'problem'],
    beside: /^(compared [^\n]*\n)*$/,
  },
  shadow: {
    text: /^Shadow mode is off\.\n[^]*\nDifferences\nnone$/m,
    json: ['shadow', 'marks_agreed', 'differences'],
    beside: /^(compared [^\n]*\n)*$/,
  },
  'export ledger': {
    text: /^id,moved_at,reason,debit_account,[^]*,29\.90,[^]*,EUR,/,
    json: ['id', 'recorded_at', 'amount', 'currency', 'processor_charge_id', 'credit_note_id'],
    beside: /^(written [^\n]*\n)*$/,
  },
  'export payments': {
    text: /^id,invoice_number,customer_id,amount,[^]*,29\.90,EUR,/,
    json: ['id', 'succeeded_at', 'amount', 'currency', 'processor_charge_id'],
    beside: /^(written [^\n]*\n)*$/,
  },
  'export refunds': {
    args: (way) => ['--out', `refunds-${way}.csv`],
    text: /^(written [^]*)?Wrote \d+ rows to \S+refunds-terminal\.csv\.$/m,
    json: ['export', 'file', 'rows'],
    beside: /^(written [^\n]*\n)*$/,
  },
  'trial-balance': {
    args: () => ['--month', new Date().toISOString().slice(0, 7)],
    text: /^Trial balance of \d{4}-\d\d, [^]*\nEUR\naccount +opening +debit +credit +closing\n-[^]*\ntotal +0\.00 +(\S+) +\1 +0\.00\n/,
    json: ['month', 'since', 'until', 'currencies'],
  },
  'webhooks list': { text: /^id +status +url +events\n-[^]*for-terminal/m, json: ['data'] },
  'webhooks register': {
    args: (way) => ['--url', `https://bridge.example.com/new-${way}/webhooks/mor/events`],
    text: /^Registered \S+ for https:\/\/bridge\.example\.com\/new-terminal[^]*shown only now:\n\n {2}\S{8,}\n/,
    json: ['id', 'url', 'events', 'status', 'secret'],
  },
  'webhooks delete': { args: (way) => [endpoints[way], '--yes'], text: /^Deleted \S+\.$/m, json: ['id', 'deleted'] },
  'onboard apply': {
    args: () => ['--file', facts.merchants, '--yes'],
    text: /^reference +merchant +status +next\n-[^]*larch +\S+ +submitted/,
    json: ['data'],
  },
  'onboard status': { text: /^reference +merchant +status +next\n-[^]*larch +\S+ +submitted/, json: ['data'] },
  'onboard watch': {
    args: () => ['larch', '--wait', '1', '--every', '1'],
    text: /\nlarch +\S+ +submitted/,
    json: merchant,
    code: 5, // it waits for the MoR's reviewer still
    beside: /^larch {2}.*\n$/,
  },
  'notifications list': {
    text: /^id +type +status +invoice_id +attempts +last_error +created_at\n-[^]*invoice\.paid +delivered/,
    json: ['data'],
  },
  'notifications show': {
    args: () => [facts.notificationId],
    text: /^invoice\.paid \S+, delivered, [^]*"type": "invoice\.paid"/,
    json: ['id', 'type', 'status', 'tries', 'body'],
  },
  'notifications replay': {
    args: () => [facts.notificationId],
    text: /^Queued for another delivery: msg_\S+\. A running daemon sends it within a second\.$/m,
    json: ['replayed'],
  },
  trigger: {
    args: () => ['invoice.paid'],
    text: /^Delivered msg_\S+: the receiver answered 200 in \d+ ms\.$/m,
    json: ['id', 'type', 'outcome', 'body'],
  },
  'import customers': {
    args: (way) => [join(facts.merchants, `../import-${way}.csv`)],
    text: /^Read 1 line: 1 customer linked, 0 linked before\.$/m,
    json: ['lines', 'accepted', 'linked', 'known', 'problems'],
    beside: /^([\w ]+ \[[^\n]*\n)*$/,
  },
  returned: {
    args: (way) => [facts.debits[way], '--reference', `file of ${way}`, '--yes'],
    text: /^Return ret_\S+: the ledger shows 29\.90 EUR as lost\. /,
    json: ['id', 'payment_id', 'invoice_id', 'amount', 'currency', 'status', 'reference'],
  },
  erase: {
    args: (way) => [facts.customers[way], '--yes'],
    text: /^Erased for customer cus_\S+, on \d+ invoices: [1-9]/,
    json: ['customer_id', 'events', 'waiting'],
  },
  purge: {
    args: () => ['--older-than', '90d', '--yes'],
    text: /^Dropped 0 event bodies/m,
    json: ['before', 'events'],
    beside: /^(dropped [^\n]*\n)*$/,
  },
  rebuild: {
    args: () => ['--check'],
    text: /^The read rows of all \d+ invoices match their logs\.$/m,
    json: ['lanes', 'differed'],
    beside: /^(invoices [^\n]*\n)*$/,
  },
  completion: {
    args: () => ['bash'],
    text: /^complete -o default -F _crossbill crossbill$/m,
    json: ['shell', 'script'],
  },
};
