// `crossbill export ledger`: every entry, as CSV that a spreadsheet opens safely, or as JSON lines.
import { type Command } from 'commander';
import { decimalFromMinor } from '../domain/money.js';
import { type LedgerRow } from '../domain/ports/books.js';
import { countLedger, ledgerEntries } from '../store/ledger-export.js';
import { EXIT } from './exit-codes.js';
import { Progress } from './progress.js';
import { type Cli, oneOf, parseSince, type Session } from './session.js';
import { json } from './table.js';

const COLUMNS = {
  id: (r: LedgerRow) => r.id,
  recorded_at: (r: LedgerRow) => r.recordedAt.toISOString(),
  moved_at: (r: LedgerRow) => r.movedAt.toISOString(),
  debit_account: (r: LedgerRow) => r.debitAccount,
  credit_account: (r: LedgerRow) => r.creditAccount,
  amount_minor: (r: LedgerRow) => r.amount.toString(),
  amount: (r: LedgerRow) => decimalFromMinor(r.amount, r.currency),
  currency: (r: LedgerRow) => r.currency,
  reason: (r: LedgerRow) => r.reason,
  customer_id: (r: LedgerRow) => r.customerId ?? '',
  mor_customer_id: (r: LedgerRow) => r.morCustomerId ?? '',
  invoice_id: (r: LedgerRow) => r.invoiceId,
  invoice_number: (r: LedgerRow) => r.invoiceNumber ?? '',
  payment_id: (r: LedgerRow) => r.paymentId,
  processor_charge_id: (r: LedgerRow) => r.processorChargeId ?? '',
  payment_record_id: (r: LedgerRow) => r.paymentRecordId ?? '',
  refund_id: (r: LedgerRow) => r.refundId ?? '',
  mor_refund_id: (r: LedgerRow) => r.morRefundId ?? '',
  processor_refund_id: (r: LedgerRow) => r.processorRefundId ?? '',
  credit_note_id: (r: LedgerRow) => r.creditNoteId ?? '',
  event_id: (r: LedgerRow) => r.eventId ?? '',
} as const;

export function addExport(program: Command, session: Session): void {
  const group = program.command('export').description('write records to standard output');
  session
    .leaf(group, 'ledger', 'every ledger entry, oldest first', ledger)
    .option('--format <format>', 'csv or jsonl', oneOf(['csv', 'jsonl']), 'csv')
    .option('--since <when>', 'recorded since: 2026-01-01, 30d, 12h', parseSince);
}

/**
 * One cell. A text that a spreadsheet would take for a formula (it begins with =, +, -, @, a tab or a line break) gets an
 * apostrophe in front; quotes, commas and line breaks are quoted (RFC 4180).
 */
export function cell(text: string): string {
  const safe = /^[=+\-@\t\r\n]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

async function ledger(cli: Cli): Promise<number> {
  const format: unknown = cli.json ? 'jsonl' : cli.options['format'];
  const world = await cli.open();
  const since = (cli.options['since'] as Date | undefined) ?? null;
  const columns = Object.entries(COLUMNS);
  if (format === 'csv') await cli.io.out(`${columns.map(([name]) => name).join(',')}\r\n`);
  const total = await countLedger(world.db, since);
  const progress = new Progress(cli.io);
  let written = 0;
  for await (const page of ledgerEntries(world.db, since)) {
    if (cli.io.signal.aborted) return EXIT.failed;
    progress.bar('written', (written += page.length), total);
    const lines = page.map((r) =>
      format === 'csv'
        ? `${columns.map(([, of]) => cell(of(r))).join(',')}\r\n`
        : json({
            ...Object.fromEntries(columns.map(([name, of]) => [name, of(r)])),
            amount_minor: r.amount,
            refund_id: r.refundId,
            event_id: r.eventId,
          }),
    );
    await cli.io.out(lines.join(''));
  }
  progress.end();
  return EXIT.ok;
}
