// Keeps the ledger's daily sums up to date, so a trial balance reads days instead of entries.
import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { LedgerSumsRepository } from './sums.repository.js';
import { LOG, type Logger } from '../../shared/observe/index.js';

const EVERY_MS = 5 * 60_000;

@Injectable()
export class FoldLedger {
  constructor(
    private readonly sums: LedgerSumsRepository,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  /** Each replica runs this. While one replica works, the others do nothing. */
  @Interval(EVERY_MS)
  async fold(): Promise<void> {
    try {
      while ((await this.sums.fold()) > 0);
    } catch (err) {
      this.log.error(
        { event: 'ledger.fold_failed', err },
        "Couldn't add up the ledger's newest days: trial balances take longer until the next try succeeds",
      );
    }
  }
}
