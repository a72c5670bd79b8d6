// A statement and what was found in it, as the API and the command line show it.
import { ApiProperty } from '@nestjs/swagger';
import { type KeptFinding, type StatementRow } from '../domain/ports/statements.js';
import { AmountOrNull, Count, Text, TextOrNull, Time, TimeOrNull, Word } from '../api/http/docs.js';
import { amountOf, currencyOf, timeOf } from '../api/http/values.js';
import { DIFFERENCE_KINDS, TOLD_KINDS } from '../domain/statement.js';

export const FINDING_KINDS = [...DIFFERENCE_KINDS, ...TOLD_KINDS] as const;
const OUTCOMES = ['reading', 'agrees', 'differences'] as const;

export class StatementView {
  @Text('`stm_…`') id!: string;
  @Text() file_name!: string;
  @Text('SHA-256 of the file, by which it is known again.') sha256!: string;
  @Word(OUTCOMES, '`reading`: a run is under way, or was interrupted.') outcome!: (typeof OUTCOMES)[number];
  @Count('Lines that were read, without the first.') lines!: number;
  @Count('Lines on which both sides agree.') agree!: number;
  @Count('Differences, those that only the ledger has among them.') differences!: number;
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'integer' },
    description:
      'Findings by kind; `ignored` lines; `other_currencies`: movements in the ledger in currencies that the statement does not have.',
  })
  counts!: Readonly<Record<string, number>>;
  @ApiProperty({
    type: 'object',
    additionalProperties: { type: 'object', additionalProperties: { type: 'integer' } },
    description:
      "Sums of the statement by currency and kind of line, with the statement's own signs, in smallest units.",
  })
  totals!: Readonly<Record<string, Readonly<Record<string, number>>>>;
  @TimeOrNull(
    'From when on the ledger was looked through for what the statement lacks; null: no date was known, and it was not.',
  )
  since!: string | null;
  @TimeOrNull('Until when, not included.') until!: string | null;
  @Text() by!: string;
  @Time() created_at!: string;
  @TimeOrNull() finished_at!: string | null;
}

export class FindingView {
  @Text() id!: string;
  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'Line of the file, from 1; null: only the ledger has it.',
  })
  line!: number | null;
  @Word(FINDING_KINDS, '`fee` and `return_booked` are for information and no difference.') kind!: string;
  @TextOrNull() charge!: string | null;
  @TextOrNull() payment!: string | null;
  @TextOrNull() refund!: string | null;
  @TextOrNull() invoice_id!: string | null;
  @AmountOrNull("The statement's, in smallest units.") amount!: number | null;
  @TextOrNull() currency!: string | null;
  @AmountOrNull("The ledger's, in smallest units.") ledger_amount!: number | null;
  @TextOrNull() ledger_currency!: string | null;
  @Text('In words.') detail!: string;
}

export function differencesOf({ counts }: StatementRow): number {
  return DIFFERENCE_KINDS.reduce((sum, kind) => sum + (counts[kind] ?? 0), 0);
}

export function outcomeOf(row: StatementRow): StatementView['outcome'] {
  if (row.status === 'reading') return 'reading';
  return differencesOf(row) === 0 ? 'agrees' : 'differences';
}

export function statementView(row: StatementRow): StatementView {
  const { lines = 0, agree = 0, ...counts } = row.counts;
  const totals = Object.entries(row.totals).map(([currency, sums]) => [
    currencyOf(currency),
    Object.fromEntries(Object.entries(sums).map(([kind, sum]) => [kind, amountOf(sum)])),
  ]);
  return {
    id: row.id,
    file_name: row.fileName,
    sha256: row.sha256,
    outcome: outcomeOf(row),
    lines,
    agree,
    differences: differencesOf(row),
    counts,
    totals: Object.fromEntries(totals) as StatementView['totals'],
    since: timeOf(row.since),
    until: timeOf(row.until),
    by: row.by,
    created_at: timeOf(row.createdAt),
    finished_at: timeOf(row.finishedAt),
  };
}

export function findingView(f: KeptFinding): FindingView {
  return {
    id: f.id,
    line: f.line,
    kind: f.kind,
    charge: f.charge,
    payment: f.payment,
    refund: f.refund,
    invoice_id: f.invoiceId,
    amount: amountOf(f.amount),
    currency: currencyOf(f.currency),
    ledger_amount: amountOf(f.ledgerAmount),
    ledger_currency: currencyOf(f.ledgerCurrency),
    detail: f.detail,
  };
}
