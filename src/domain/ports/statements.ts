// Where the MoR's statements are kept, and what of ours their lines may name.
import { type Finding, type FindingKind, type Mapping, type Ours } from '../statement.js';
import { type Page, type PageRequest } from './books.js';

/** By currency: smallest units of each kind of line, and of the fee column. */
export type Totals = Readonly<Record<string, Readonly<Record<string, bigint>>>>;

export type StatementRow = {
  readonly id: string;
  readonly fileName: string;
  readonly sha256: string;
  readonly mapping: Mapping;
  readonly fileBytes: number;
  readonly status: 'reading' | 'done';
  /** Compared up to here. */
  readonly readBytes: number;
  /** The line that comes next, counted from 1. */
  readonly nextLine: number;
  readonly firstAt: Date | null;
  readonly lastAt: Date | null;
  /** The window for what only the ledger has, `until` not included; null: no date is known, and it was not looked for. */
  readonly since: Date | null;
  readonly until: Date | null;
  /** `lines`, `agree`, `ignored`, `other_currencies`, and findings by kind. */
  readonly counts: Readonly<Record<string, number>>;
  readonly totals: Totals;
  readonly by: string;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
};

export type NewStatement = Pick<
  StatementRow,
  'id' | 'fileName' | 'sha256' | 'mapping' | 'fileBytes' | 'by' | 'createdAt'
>;

/** Some lines further: written whole or not at all. */
export type StatementStep = {
  readonly id: string;
  /** Where this step began; another run that came further makes it fail. */
  readonly fromBytes: number;
  readonly readBytes: number;
  readonly nextLine: number;
  readonly firstAt: Date | null;
  readonly lastAt: Date | null;
  readonly counts: StatementRow['counts'];
  readonly totals: Totals;
  readonly lines: readonly { readonly line: number; readonly key: string; readonly subject: string | null }[];
  readonly findings: readonly Finding[];
};

/** Another run reads the same statement at this moment. */
export class StatementBusy extends Error {
  readonly code = 'statement_busy';
}

export type KeptFinding = Finding & { readonly id: string };

export abstract class Statements {
  /** The statement of this file under this mapping; made when it is not known. */
  abstract begin(statement: NewStatement): Promise<{ readonly row: StatementRow; readonly isNew: boolean }>;
  /** Forgets a statement and all that was found in it. */
  abstract drop(id: string): Promise<void>;
  abstract ours(ids: readonly string[]): Promise<Ours>;
  /** Key → the first line of this statement that has it. */
  abstract seen(id: string, keys: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Throws StatementBusy. */
  abstract step(step: StatementStep): Promise<void>;
  /** Adds what only the ledger has within the window, in the statement's currencies, and ends it. */
  abstract finish(
    id: string,
    window: { readonly since: Date; readonly until: Date } | null,
    at: Date,
  ): Promise<StatementRow>;
  abstract find(id: string): Promise<StatementRow | null>;
  /** Newest first. Throws BadCursor. */
  abstract list(page: PageRequest): Promise<Page<StatementRow>>;
  /** In the order of the statement; what only the ledger has comes last. Throws BadCursor. */
  abstract findings(id: string, kind: FindingKind | null, page: PageRequest): Promise<Page<KeptFinding>>;
}
